"""Files that belong together by their names: a picture and the label file, XML or mask of it."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.trees import Tree

_FOLDERS = 8  # remembered at once: those that a walk in order comes back to
_LOW = (1 << 64) - 1


class Partners:
    """Knows which files lie in a tree, at eight bytes a name of the folders last asked for.

    A walk in order asks folder by folder, so each folder is listed once or twice, never once
    a file.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen: dict[bytes, array[int]] = {}

    def has(self, raw: bytes) -> bool:
        """Whether a file lies at a raw path."""
        folder, _, name = raw.rpartition(b"/")
        return _in(self._folder(folder), name)

    def first(self, candidates: Iterable[bytes]) -> bytes | None:
        """Return the first of some raw paths at which a file lies."""
        return next((raw for raw in candidates if self.has(raw)), None)

    def has_picture(self, stem: bytes) -> bool:
        """Whether a picture lies at a raw path that lacks its extension."""
        folder, _, name = stem.rpartition(b"/")
        return _in(self._folder(folder), name + b"/")

    def has_files(self, folder: bytes) -> bool:
        """Whether a folder is there and holds any file."""
        return bool(self._folder(folder))

    def _folder(self, folder: bytes) -> "array[int]":
        if folder not in self._seen:
            while len(self._seen) >= _FOLDERS:
                self._seen.pop(next(iter(self._seen)))
            self._seen[folder] = _listed(self._tree, folder)
        return self._seen[folder]


def _listed(tree: Tree, folder: bytes) -> "array[int]":
    """Hash the names in a folder; a picture's also without its extension, with a slash."""
    names = (_marks(name) for name, is_folder in tree.listing(folder) if not is_folder)
    hashes = np.fromiter(chain.from_iterable(names), dtype=np.uint64)
    hashes.sort()
    return array("Q", hashes.tobytes())


def _marks(name: bytes) -> Iterable[int]:
    yield hash(name) & _LOW
    if SamplePath(name).suffix in PICTURE_SUFFIXES:
        yield hash(stem(name) + b"/") & _LOW


def _in(hashes: "array[int]", name: bytes) -> bool:
    wanted = hash(name) & _LOW
    at = bisect_left(hashes, wanted)
    return at < len(hashes) and hashes[at] == wanted


def stem(raw: bytes) -> bytes:
    """Return a raw path without the extension of its name."""
    folder, slash, name = raw.rpartition(b"/")
    return folder + slash + (name.rpartition(b".")[0] or name)


def moved(raw: bytes, folders: Sequence[tuple[bytes, bytes]]) -> bytes | None:
    """Put the other name in place of the last folder that is one of these, or return nothing.

    Loaders find a label as ``labels/a.txt`` beside ``images/a.jpg`` in this way.
    """
    parts = raw.split(b"/")
    names = dict(folders)
    for at in range(len(parts) - 2, -1, -1):
        if parts[at] in names:
            return b"/".join([*parts[:at], names[parts[at]], *parts[at + 1 :]])
    return None


def orphan(raw: bytes) -> Finding:
    """An annotation file whose picture is not there."""
    message = "There is no picture that it belongs to."
    return Finding.of("annotation.orphan", SamplePath(raw).text, message)
