"""What a person looks at: a filter that lives wholly in the URL."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sickbay.contract.defects import DEFECTS
from sickbay.contract.errors import BadInput
from sickbay.quarantine.tables import Status

MAX_TEXT = 255
MAX_PATH = 200
_UNFIT = re.compile("[\x00-\x1f\ud800-\udfff]")
SORTS = ("failures", "path", "newest")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which samples, in which order. Nothing means any; an empty split or label is a value."""

    status: tuple[Status, ...] = (Status.HELD,)
    code: str | None = None
    split: str | None = None
    label: str | None = None
    path: str = ""
    """A part of the path; letters of either case."""
    sort: str = "failures"

    @property
    def narrow(self) -> int:
        """By how many facets besides the status it narrows."""
        return sum(one is not None for one in (self.code, self.split, self.label))


def from_pairs(pairs: Iterable[tuple[str, str]]) -> Filter:
    """Return the filter that a URL's query names; the status may be given several times.

    Raises:
        BadInput: a key or value is unknown, too long, or given twice.
    """
    statuses: set[Status] = set()
    given: dict[str, Any] = {}
    for key, value in pairs:
        if key == "status":
            statuses.add(_status(value))
        elif key not in _READERS or key in given:
            raise BadInput("The filter has a key that is unknown or given twice; start again.")
        else:
            given[key] = _READERS[key](value)
    if statuses:
        given["status"] = tuple(one for one in Status if one in statuses)
    return Filter(**given)


def to_pairs(chosen: Filter) -> list[tuple[str, str]]:
    """Return the filter as pairs of a URL's query, without what is the default."""
    default = Filter()
    pairs = [] if chosen.status == default.status else [("status", str(s)) for s in chosen.status]
    pairs += [
        (key, value)
        for key in ("code", "split", "label")
        if (value := getattr(chosen, key)) is not None
    ]
    if chosen.path:
        pairs.append(("path", chosen.path))
    if chosen.sort != default.sort:
        pairs.append(("sort", chosen.sort))
    return pairs


def _status(value: str) -> Status:
    try:
        return Status(value)
    except ValueError:
        raise BadInput(f"A status is one of {', '.join(Status)}.") from None


def _code(value: str) -> str:
    if value not in DEFECTS:
        raise BadInput("There is no such finding code; `sickbay codes` lists them.")
    return value


def _sort(value: str) -> str:
    if value not in SORTS:
        raise BadInput(f"Samples are sorted by one of {', '.join(SORTS)}.")
    return value


def _text(limit: int) -> Callable[[str], str]:
    def read(value: str) -> str:
        if len(value) > limit or _UNFIT.search(value):
            raise BadInput(f"A text to filter by has at most {limit} characters, none a control.")
        return value

    return read


_READERS: dict[str, Callable[[str], str]] = {
    "code": _code,
    "split": _text(MAX_TEXT),
    "label": _text(MAX_TEXT),
    "path": _text(MAX_PATH),
    "sort": _sort,
}
