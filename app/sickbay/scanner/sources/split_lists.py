"""Lists of pictures, one a line, that say which split each is in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import BinaryIO

from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner.checks.files import fault
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.sources.folders import split_named
from sickbay.scanner.sources.joined import Joined, Place
from sickbay.scanner.sources.named import Named, Names
from sickbay.scanner.trees import Tree

MAX_LINE = 8192  # bytes: twice the longest path


@dataclass(frozen=True, slots=True)
class SplitList:
    """A list file and the split of what it lists."""

    raw: bytes
    split: str


Find = Callable[[Names, str, bytes], Named]
"""Finds the picture that a line of the list at a raw path means."""


@dataclass(slots=True)
class Lists:
    """Pictures of a tree, with the splits that list files put them in.

    ``findings`` holds what is wrong with a list file itself, by raw path, once ``places`` has
    begun.
    """

    tree: Tree
    lists: Sequence[SplitList]
    find: Find
    findings: dict[bytes, tuple[Finding, ...]] = field(default_factory=dict)

    def places(self) -> Iterator[Place]:
        """Yield every path that lies there or is listed, in order."""
        if not self.lists:
            yield from (Place(entry.raw, entry) for entry in self.tree.entries())
            return
        with closing(Joined(self.tree)) as joined:
            names = Names(joined, self.tree.where)
            for one in self.lists:
                self._read(one, joined, names)
            yield from joined.places()

    def _read(self, one: SplitList, joined: Joined, names: Names) -> None:
        found = tuple(bounded(self._told(one, joined, names)))
        self.findings[one.raw] = (*self.findings.get(one.raw, ()), *found)

    def _told(self, one: SplitList, joined: Joined, names: Names) -> Iterator[Finding]:
        """Say of each picture listed where it is; yield what cannot be one."""
        shown, first, count = SamplePath(one.raw).text, 0, 0
        try:
            with self.tree.open(one.raw) as file:
                for number, line in numbered_lines(file):
                    named = self.find(names, _text(line), one.raw)
                    first, count = first or number * named.moved, count + named.moved
                    if named.unsafe is None:
                        joined.say(named.raw, [one.split, one.raw.decode("latin-1"), number])
                    else:
                        item = f"line {number}"
                        yield Finding.of("file.unsafe-path", shown, named.unsafe, item)
                yield from _moved(shown, first, count)
        except (SickbayError, OSError) as error:
            code, message = refusal(error)
            yield Finding.of(code, shown, message)


def _moved(file: str, first: int, count: int) -> Iterator[Finding]:
    """Say once of a list that it was made on another machine."""
    if count:
        lines = f"Line {first} gives a path" if count == 1 else f"{count:,} lines give paths"
        message = f"{lines} of another machine; the last parts were looked for below the root."
        yield Finding.of("file.unsafe-path", file, message, line=first, lines=count)


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their numbers; too long ones are cut."""
    number, begins = 0, True
    while line := file.readline(MAX_LINE):
        number += begins
        if begins and (
            kept := (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
        ):
            yield number, kept
        begins = line.endswith(b"\n")


def splits_of(place: Place) -> tuple[str, ...]:
    """Return the splits that a place is listed for, each once, in order of listing."""
    return tuple(dict.fromkeys(split for split, _, _ in place.said))


def listed_at(place: Place) -> tuple[bytes, str] | None:
    """Return raw path and item of the first list that names a place."""
    for _, raw, number in place.said:
        return raw.encode("latin-1"), f"line {number}"
    return None


def listed_twice(place: Place) -> tuple[Finding, ...]:
    """Tell a picture that is listed for several splits."""
    splits = splits_of(place)
    if len(splits) <= 1:
        return ()
    message = f"It is listed for {' and '.join(splits)}."
    return (Finding.of("set.split-leak", SamplePath(place.raw).text, message, splits=list(splits)),)


def split_above(raw: bytes) -> str:
    """Return the split that the topmost such folder above a file is named for (``val2017``)."""
    for part in raw.split(b"/")[:-1]:
        if split := split_named(part.rstrip(b"0123456789_-")):
            return split
    return ""


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="surrogateescape")


def refusal(error: SickbayError | OSError) -> tuple[str, str]:
    """Return code and sentence for a list or description that cannot be read."""
    if isinstance(error, OSError):
        return "file.unreadable", f"The file cannot be read: {error.strerror}."
    finding = fault(error).findings[0]
    return finding.code, finding.message
