"""Finds the files that annotation files name, wherever those who wrote them stood."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sickbay.contract.paths import MAX_PATH_BYTES
from sickbay.scanner.sources.joined import Joined

ABSOLUTE = "The path is absolute and not below the data set's root."
LEAVES = "The path leads out of the data set."
NO_TEXT = "The path is empty, too long, or holds what no path can hold."
_IMAGES = b"images"
_TELLING = 2  # parts of a path of another machine that are enough to know a file by


@dataclass(frozen=True, slots=True)
class Named:
    """The file that a text names.

    Attributes:
        raw: its path below the root; where nothing lies, the path where it should be.
        lies: whether something lies there.
        unsafe: why the text names no path below the root; ``raw`` is empty then.
        moved: whether it was written for another machine, and its last parts are meant.
    """

    raw: bytes
    lies: bool = False
    unsafe: str | None = None
    moved: bool = False


class Names:
    """Looks names up in a walk of the tree.

    A name may be meant from the root, from the annotation file's folder, from a folder the caller
    knows of, or from ``images/``; the first place where something lies holds. Else it may be meant
    from above the root, and begin with its name; else the only file of that last part is meant,
    wherever it lies.

    Args:
        joined: the walk.
        root: the root as a person wrote it; absolute paths below it are paths, too.
    """

    def __init__(self, joined: Joined, root: str) -> None:
        self._joined = joined
        self._roots = tuple({_slashed(root), _slashed(os.path.realpath(root))})
        self._known: dict[tuple[bytes, tuple[bytes, ...]], tuple[bytes, ...]] = {}
        self._usual: dict[tuple[bytes, ...], bytes] = {}
        self._dropped: int | None = None

    def find(self, text: str, beside: bytes, folders: Sequence[bytes] = ()) -> Named:
        """Find what a text names.

        Args:
            text: a path as an annotation file has it.
            beside: raw path of that annotation file.
            folders: other folders below the root to look in, after the file's own.
        """
        raw = _encoded(text)
        if raw is None:
            return Named(b"", unsafe=NO_TEXT)
        absolute = raw[:1] == b"/" or b"://" in raw or raw[1:3] in {b":\\", b":/"}
        if absolute:
            return self._absolute(raw)
        if normal(raw) is None:  # `../images/a.jpg` can only be meant from where it is written
            return self._relative(raw, (beside.rpartition(b"/")[0],))
        return self._relative(raw, self._places(beside, tuple(folders)))

    def find_moved(self, text: str, beside: bytes) -> Named:
        """Find what a text names where lists are made on one machine and read on another.

        Of an absolute path the last parts are meant, as far as they lie below the root, and
        backslashes are slashes.
        """
        named = self.find(text, beside)
        if named.lies or named.unsafe not in {None, ABSOLUTE}:
            return named
        slashed = text.replace("\\", "/")
        if named.unsafe is None:
            other = self.find(slashed, beside) if slashed != text else named
            return replace(other, moved=True) if other.lies else named
        parts = list(_parts(_encoded(slashed) or b""))
        return self._by_last_parts(parts) or named

    def _by_last_parts(self, parts: list[bytes]) -> Named | None:
        """Try fewer and fewer parts; where nothing lies, as many as others took, or from images."""
        for at in range(len(parts) - _TELLING + 1):
            below = normal(b"/".join(parts[at:]))
            if below is not None and self._joined.lies(below):
                self._dropped = at
                return Named(below, lies=True, moved=True)
        last = [at for at, part in enumerate(parts[:-1]) if part == _IMAGES]
        begins = max(last, default=None) if self._dropped is None else self._dropped
        below = None if begins is None else normal(b"/".join(parts[begins:]))
        return None if below is None else Named(below, moved=True)

    def _places(self, beside: bytes, folders: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Folders to look in; those that do not exist are asked for once."""
        if (beside, folders) not in self._known:
            wanted = dict.fromkeys((b"", beside.rpartition(b"/")[0], *folders, _IMAGES))
            self._known[beside, folders] = tuple(
                place for place in wanted if not place or self._joined.holds(place)
            )
        return self._known[beside, folders]

    def _absolute(self, raw: bytes) -> Named:
        for root in self._roots:
            if raw.startswith(root) and (below := normal(raw[len(root) :])):
                return Named(below, self._joined.lies(below))
        return Named(b"", unsafe=ABSOLUTE)

    def _relative(self, raw: bytes, places: tuple[bytes, ...]) -> Named:
        below = [(place, path) for place in places if (path := normal(place + b"/" + raw))]
        for place, path in below:
            if self._joined.lies(path):
                self._usual[places] = place
                return Named(path, lies=True)
        if not below:
            return Named(b"", unsafe=LEAVES)
        if (inner := self._below_itself(raw)) is not None:
            return Named(inner, lies=True)
        if (found := self._joined.called(raw.rpartition(b"/")[2])) is not None:
            return Named(found, lies=True)
        return Named(self._expected(raw, places) or below[0][1])

    def _below_itself(self, raw: bytes) -> bytes | None:
        """Find a path that begins with the root's own name: it was written from above the root."""
        path = normal(raw) or b""
        for root in self._roots:
            inner = path.removeprefix(root[:-1].rpartition(b"/")[2] + b"/")
            if inner != path and self._joined.lies(inner):
                return inner
        return None

    def _expected(self, raw: bytes, places: tuple[bytes, ...]) -> bytes | None:
        """Where it would lie beside those found before it."""
        return normal(self._usual.get(places, b"") + b"/" + raw)


def normal(raw: bytes) -> bytes | None:
    """Return a path below the root without ``.`` and ``..``; nothing where it leaves the root."""
    parts: list[bytes] = []
    for part in _parts(raw):
        if part != b"..":
            parts.append(part)
        elif parts:
            parts.pop()
        else:
            return None
    return b"/".join(parts) or None


def _parts(raw: bytes) -> Iterator[bytes]:
    return (part for part in raw.split(b"/") if part not in {b"", b"."})


def _encoded(text: str) -> bytes | None:
    try:
        raw = text.encode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        return None
    return raw if raw.strip(b"/.") and len(raw) <= MAX_PATH_BYTES and b"\0" not in raw else None


def _slashed(root: str) -> bytes:
    where = root if "://" in root else os.path.abspath(root)  # noqa: PTH100 (links stay as they are)
    return os.fsencode(where).rstrip(b"/") + b"/"
