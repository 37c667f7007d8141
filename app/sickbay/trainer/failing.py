"""Exceptions and batches as the fields of a failure."""

import itertools
import re
import traceback
from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sickbay.contract.blame import Sample
from sickbay.contract.event import (
    MAX_DETAIL,
    MAX_MESSAGE,
    MAX_NAME,
    MAX_SAMPLES,
    MAX_TRACEBACK,
    MAX_WINDOW,
    Failure,
    FailureKind,
)
from sickbay.contract.taxonomy import kind_of
from sickbay.trainer.columns import whole_step
from sickbay.trainer.places import below
from sickbay.trainer.plain import plain, text

_WORKER = re.compile(r"in DataLoader worker process (\d{1,6})")
_REF = re.compile(r"[0-9a-f]{16}")
_NUMBERS = ("value", "baseline", "score", "learning_rate", "gradient_norm")
_NAMELESS = ("builtins", "__main__", "sickbay")
"""Where exceptions live whose names say enough."""
_MOST_PATH = 4096
_MOST_OF_SAMPLES = 100_000
_MOST_OF_WINDOW = 1_000_000


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception in words."""

    type: str
    message: str
    traceback: str


def raised(error: BaseException) -> Raised:
    """Put an exception into words; whatever its own methods do, this returns."""
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__.partition(".")[0] not in _NAMELESS:
        name = f"{kind.__module__}.{name}"
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 (a broken exception is still a failure)
        message = "(this exception cannot be shown as text)"
    try:
        lines = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 (as above)
        lines = ""
    return Raised(text(name, MAX_NAME), text(message, MAX_MESSAGE), text(lines, MAX_TRACEBACK))


def failure(
    what: str | None, error: BaseException | None, fields: Mapping[str, Any], root: str | None
) -> Failure:
    """Return the failure that a training script tells of.

    Args:
        what: its kind; where nothing is said, what the exception looks like.
        error: the exception, if there is one.
        fields: fields of ``Failure``; unknown ones go into ``detail``.
        root: the data set's root, below which the samples' paths are.
    """
    words = raised(error) if error is not None else Raised("", "", "")
    try:
        return _whole_failure(what, words, dict(fields), root)
    except Exception as reason:  # noqa: BLE001 (a field that makes no sense must not cost the rest)
        left_out = {"left out": repr(reason)[:MAX_NAME]}
        kind = _kind(what, words)
        return Failure(
            kind,
            exception_type=words.type,
            message=words.message,
            traceback=words.traceback,
            detail=left_out,
        )


def _whole_failure(
    what: str | None, words: Raised, given: dict[str, Any], root: str | None
) -> Failure:
    words = Raised(
        text(str(given.pop("exception_type", None) or words.type), MAX_NAME),
        text(str(given.pop("message", None) or words.message), MAX_MESSAGE),
        text(str(given.pop("traceback", None) or words.traceback), MAX_TRACEBACK),
    )
    return Failure(
        what=_kind(what, words),
        ref=_ref(given.pop("ref", "")),
        exception_type=words.type,
        message=words.message,
        traceback=words.traceback,
        worker=_whole(given.pop("worker", None), _worker(words.message)),
        step=_whole(given.pop("step", None)),
        epoch=_whole(given.pop("epoch", None)),
        host=text(str(given.pop("host", "")), MAX_NAME),
        local_rank=_whole(given.pop("local_rank", None)),
        samples=samples(given.pop("samples", ()), root),
        window=_window(given.pop("window", ())),
        checkpoint=text(str(given.pop("checkpoint", "")), _MOST_PATH),
        rule=plain(given.pop("rule", {}), MAX_DETAIL),
        seeds=plain(given.pop("seeds", {}), MAX_DETAIL),
        **{name: _float(given.pop(name, None)) for name in _NUMBERS},
        detail=plain({**plain(given.pop("detail", {}), MAX_DETAIL), **given}, MAX_DETAIL),
    )


def _ref(said: Any) -> str:
    return said if isinstance(said, str) and _REF.fullmatch(said) else ""


def _kind(what: str | None, words: Raised) -> FailureKind:
    with suppress(ValueError, AttributeError):
        if what is not None:
            return FailureKind(what.removeprefix("training.").replace("_", "-"))
    return kind_of(words.type, words.message, words.traceback)


def samples(given: Iterable[Any], root: str | None) -> tuple[Sample, ...]:
    """Return a batch's samples: paths, mappings with the fields of ``Sample``, or such."""
    found = []
    left = _MOST_OF_SAMPLES
    for item in itertools.islice(given, MAX_SAMPLES):
        sample = _sample(item, root)
        left -= len(sample.path) + len(sample.path_bytes or "") + 150
        if left < 0:
            break
        found.append(sample)
    return tuple(found)


def _sample(item: Any, root: str | None) -> Sample:
    if isinstance(item, Sample):
        return item
    fields = item if isinstance(item, Mapping) else {"path": item}
    path = below(fields["path"], root)
    digest = fields.get("sha256")
    return Sample(
        path.text,
        path.base64,
        _whole(fields.get("index")),
        digest if isinstance(digest, str) else None,
        _float(fields.get("loss")),
    )


def _worker(message: str) -> int | None:
    found = _WORKER.search(message)
    return int(found[1]) if found else None


def _whole(value: Any, default: int | None = None) -> int | None:
    with suppress(Exception):
        if value is not None:
            return whole_step(value)
    return default


def _float(value: Any) -> float | None:
    with suppress(Exception):
        if value is not None:
            return float(value)
    return None


def _window(values: Iterable[Any]) -> "array[float]":
    """Return the last numbers of what may be long, or never end."""
    last = deque(itertools.islice(values, _MOST_OF_WINDOW), MAX_WINDOW)
    return array("d", (number for value in last if (number := _float(value)) is not None))
