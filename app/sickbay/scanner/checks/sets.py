"""What can only be said of a sample by looking at the whole set."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from sickbay.contract.finding import Finding, SampleRecord
from sickbay.scanner.checks.pictures import PLAIN_MODES

_SHOWN = 10  # other copies named in a finding
_MASK = (1 << 63) - 1


def _name_key(text: str) -> int:
    return hash(text.casefold()) & _MASK


def _content_key(sha256: str) -> int:
    return int(sha256[:15], 16)


@dataclass(slots=True)
class FirstPass:
    """Eight bytes a sample: which contents and names may occur twice, and how often each mode."""

    contents: "array[int]" = field(default_factory=lambda: array("q"))
    names: "array[int]" = field(default_factory=lambda: array("q"))
    modes: Counter[str] = field(default_factory=Counter)

    def note(self, text: str, sha256: str | None, size: int | None, mode: str | None) -> None:
        """Take one sample into account."""
        self.names.append(_name_key(text))
        if sha256 is not None and size:
            self.contents.append(_content_key(sha256))
        if mode in PLAIN_MODES:
            self.modes[mode] += 1


@dataclass(frozen=True, slots=True)
class _Copy:
    path: str
    split: str
    label: str


class WholeSet:
    """Knows every content and name that occurs more than once, and the usual colour mode."""

    def __init__(self, first: FirstPass) -> None:
        self._contents = _repeated(first.contents)
        self._names = _repeated(first.names)
        self._copies: dict[str, list[_Copy]] = {}
        self._alike: dict[str, list[str]] = {}
        ranked = sorted(first.modes, key=lambda mode: (-first.modes[mode], mode != "RGB", mode))
        self.usual_mode = ranked[0] if ranked else None

    @property
    def needs_second_look(self) -> bool:
        """Whether any content or name may occur twice."""
        return bool(self._contents or self._names)

    def gather(self, record: SampleRecord) -> None:
        """Take up a sample that may have a twin."""
        text = record.path.text
        if (
            record.sha256 is not None
            and record.size
            and _content_key(record.sha256) in self._contents
        ):
            self._copies.setdefault(record.sha256, []).append(
                _Copy(text, record.split, record.label)
            )
        if _name_key(text) in self._names:
            self._alike.setdefault(text.casefold(), []).append(text)

    def copies(self, record: SampleRecord) -> list[_Copy]:
        """All samples with this content, itself included."""
        return self._copies.get(record.sha256 or "", []) if self._copies else []

    def alike(self, text: str) -> list[str]:
        """All names that differ from this one in case at most, itself included."""
        return self._alike.get(text.casefold(), []) if self._alike else []


def _repeated(keys: "array[int]") -> set[int]:
    return {one for one, other in pairwise(sorted(keys)) if one == other}


def duplicate(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """The same content again in the same split; worse where its labels differ."""
    copies = [copy for copy in whole.copies(record) if copy.split == record.split]
    if len(copies) < 2:  # noqa: PLR2004 (itself and another)
        return None
    others = _others(record, copies)
    labels = sorted({copy.label for copy in copies})
    message = f"The same content as {others[0]!r}" + _more(len(copies) - 2)
    if len(labels) > 1:
        message += f" and under {len(labels)} labels"
    detail = {"copies": len(copies), "others": others} | (
        {"labels": labels} if len(labels) > 1 else {}
    )
    return Finding.of("image.duplicate", record.path.text, message + ".", **detail)


def split_leak(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """The same content in more than one split; every copy is held, as one group."""
    copies = whole.copies(record)
    splits = sorted({copy.split for copy in copies})
    if len(splits) < 2:  # noqa: PLR2004 (splits)
        return None
    elsewhere = _others(record, [copy for copy in copies if copy.split != record.split])
    message = f"The same content stands in {', '.join(name or 'no split' for name in splits)}."
    detail = {"group": record.sha256, "splits": splits, "copies": len(copies), "others": elsewhere}
    return Finding.of("set.split-leak", record.path.text, message, **detail)


def name_collision(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """Another name that differs in upper and lower case only."""
    names = whole.alike(record.path.text)
    if len(names) < 2:  # noqa: PLR2004 (itself and another)
        return None
    others = [name for name in names if name != record.path.text][:_SHOWN]
    message = f"Only upper and lower case tell it from {others[0]!r}."
    return Finding.of("file.name-collision", record.path.text, message, others=others)


def odd_one_out(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """A colour mode that is plain by itself but not the set's usual one."""
    if record.mode not in PLAIN_MODES or record.mode == whole.usual_mode:
        return None
    message = f"Its colour mode is {record.mode}; most of the set is {whole.usual_mode}."
    return Finding.of("image.odd-mode", record.path.text, message, mode=record.mode)


def _others(record: SampleRecord, copies: Iterable[_Copy]) -> list[str]:
    return [copy.path for copy in copies if copy.path != record.path.text][:_SHOWN]


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


SetCheck = Callable[[SampleRecord, WholeSet], Finding | None]
SET_CHECKS: tuple[SetCheck, ...] = (duplicate, split_leak, name_collision, odd_one_out)
