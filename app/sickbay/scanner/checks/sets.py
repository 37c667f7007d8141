"""What can only be said of a sample by looking at the whole set."""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from sickbay.contract.finding import Finding, SampleRecord
from sickbay.scanner.formats import PLAIN_MODES

_SHOWN = 10  # other copies named in a finding
_ROOM = 3000  # characters of JSON; twice that and a little fit into a detail
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


@dataclass(slots=True)
class Group:
    """Samples of one content in one split: how many, which labels, and the first few paths."""

    copies: int = 0
    labels: set[str] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)

    def add(self, path: str, label: str) -> None:
        """Take up one sample; a set may hold one placeholder a million times."""
        self.copies += 1
        self.labels.add(label)
        if len(self.paths) <= _SHOWN:
            self.paths.append(path)

    def others(self, path: str) -> list[str]:
        """The first few paths but this one."""
        return [other for other in self.paths if other != path][:_SHOWN]


def _fitting(texts: Sequence[str]) -> list[str]:
    """As many of the texts as a finding's detail has room for; paths may be very long."""
    sizes = accumulate(len(json.dumps(text)) for text in texts)
    return [text for text, size in zip(texts, sizes, strict=True) if size <= _ROOM]


class WholeSet:
    """Knows every content and name that occurs more than once, and the usual colour mode."""

    def __init__(self, first: FirstPass) -> None:
        self._contents = _repeated(first.contents)
        self._names = _repeated(first.names)
        self._copies: dict[str, dict[str, Group]] = {}
        self._alike: dict[str, Group] = {}
        ranked = sorted(first.modes, key=lambda mode: (-first.modes[mode], mode != "RGB", mode))
        self.usual_mode = ranked[0] if ranked else None

    @property
    def needs_second_look(self) -> bool:
        """Whether any content or name may occur twice."""
        return bool(self._contents or self._names)

    def gather(self, record: SampleRecord) -> None:
        """Take up a sample that may have a twin."""
        text, sha256 = record.path.text, record.sha256
        if sha256 is not None and record.size and _content_key(sha256) in self._contents:
            splits = self._copies.setdefault(sha256, {})
            splits.setdefault(record.split, Group()).add(text, record.label)
        if _name_key(text) in self._names:
            self._alike.setdefault(text.casefold(), Group()).add(text, record.label)

    def copies(self, record: SampleRecord) -> dict[str, Group]:
        """The samples with this content by split, itself included."""
        return self._copies.get(record.sha256 or "", {}) if self._copies else {}

    def alike(self, text: str) -> list[str]:
        """Other names that differ from this one in case only."""
        group = self._alike.get(text.casefold()) if self._alike else None
        return group.others(text) if group else []


def _repeated(keys: "array[int]") -> set[int]:
    return {one for one, other in pairwise(sorted(keys)) if one == other}


def duplicate(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """The same content again in the same split; worse where its labels differ."""
    group = whole.copies(record).get(record.split)
    if group is None or group.copies == 1:
        return None
    others = group.others(record.path.text)
    message = f"The same content as {others[0]!r}"
    if group.copies > 2:  # noqa: PLR2004 (itself and the named one)
        message += f" and {group.copies - 2} more"
    if len(group.labels) > 1:
        message += f", under {len(group.labels)} labels"
    labels = _fitting(sorted(group.labels)[:_SHOWN])
    detail = {"copies": group.copies, "others": _fitting(others), "labels": labels}
    return Finding.of("image.duplicate", record.path.text, message + ".", None, **detail)


def split_leak(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """The same content in more than one split; every copy is held, as one group."""
    groups = whole.copies(record)
    if len(groups) < 2:  # noqa: PLR2004 (splits)
        return None
    elsewhere = [
        path for split in sorted(groups) if split != record.split for path in groups[split].paths
    ]
    detail = {
        "group": record.sha256,
        "splits": sorted(groups),
        "copies": sum(group.copies for group in groups.values()),
        "others": _fitting(elsewhere[:_SHOWN]),
    }
    message = (
        f"The same content stands in {', '.join(name or 'no split' for name in sorted(groups))}."
    )
    return Finding.of("set.split-leak", record.path.text, message, None, **detail)


def name_collision(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """Another name that differs in upper and lower case only."""
    others = whole.alike(record.path.text)
    if not others:
        return None
    message = f"Only upper and lower case tell it from {others[0]!r}."
    return Finding.of("file.name-collision", record.path.text, message, others=_fitting(others))


def odd_one_out(record: SampleRecord, whole: WholeSet) -> Finding | None:
    """A colour mode that is plain by itself but not the set's usual one."""
    if record.mode not in PLAIN_MODES or record.mode == whole.usual_mode:
        return None
    message = f"Its colour mode is {record.mode}; most of the set is {whole.usual_mode}."
    return Finding.of("image.odd-mode", record.path.text, message, mode=record.mode)


SetCheck = Callable[[SampleRecord, WholeSet], Finding | None]
SET_CHECKS: tuple[SetCheck, ...] = (duplicate, split_leak, name_collision, odd_one_out)
