"""A first look at a tree, of bounded cost however large it is, to recognise its layout by."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest

from sickbay.contract.errors import SickbayError
from sickbay.scanner.trees import Tree

_NAMES = 200  # of one kind in one folder
_FOLDERS = 64
_DEPTH = 4
_TELLING = {
    *(b".json", b".jsonl", b".ndjson", b".csv", b".tsv", b".txt", b".md", b".xml"),
    *(b".yaml", b".yml", b".npy", b".npz", b".pt", b".pth", b".safetensors"),
    *(b".jpg", b".jpeg", b".png"),
}
"""Suffixes that are a kind each; all others are one."""
_PENDING = 1000  # names gathered before the smallest are picked


class Glimpse:
    """Names of folders and files near the top of a tree, and first bytes of files.

    The same tree always gives the same: the first names in order are kept of each kind, so that
    the one list in a folder of a million pictures is seen.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen: dict[bytes, list[tuple[bytes, bool]]] = {}

    def names(self, folder: bytes = b"", limit: int = _NAMES) -> list[tuple[bytes, bool]]:
        """Return names in one folder, and whether each is a folder; hidden ones are left out.

        Args:
            folder: its raw path below the root, without a slash at its end.
            limit: names at most of each kind, where folders and each suffix are a kind.
        """
        if folder not in self._seen:
            self._seen[folder] = _first_of_each_kind(self._tree.listing(folder))
        kinds: dict[bytes, int] = {}
        kept = []
        for name, is_folder in self._seen[folder]:
            kind = _kind(name, is_folder=is_folder)
            kinds[kind] = kinds.get(kind, 0) + 1
            if kinds[kind] <= limit:
                kept.append((name, is_folder))
        return kept

    def files(self, limit: int = 2000) -> list[bytes]:
        """Return raw paths of files, nearest to the top first, at most four folders deep."""
        found: list[bytes] = []
        waiting, looked = deque([(b"", 0)]), 0
        while waiting and looked < _FOLDERS and len(found) < limit:
            folder, depth = waiting.popleft()
            looked += 1
            for name, is_folder in self.names(folder):
                raw = folder + b"/" + name if folder else name
                if not is_folder:
                    found.append(raw)
                elif depth < _DEPTH:
                    waiting.append((raw, depth + 1))
        return found[:limit]

    def head(self, raw: bytes, size: int = 65_536) -> bytes:
        """Return a file's first bytes, none where it cannot be read."""
        try:
            with self._tree.open(raw) as file:
                return file.read(size)
        except (SickbayError, OSError):
            return b""


def _kind(name: bytes, *, is_folder: bool) -> bytes:
    if is_folder:
        return b"/"
    suffix = name[name.rfind(b".") :].lower()
    return suffix if suffix in _TELLING else b""


def _first_of_each_kind(listing: Iterator[tuple[bytes, bool]]) -> list[tuple[bytes, bool]]:
    """Pick the first names of each kind in constant memory."""
    kinds: dict[bytes, _First] = {}
    for name, is_folder in listing:
        kind = _kind(name, is_folder=is_folder)
        first = kinds.get(kind)
        if first is None:
            first = kinds[kind] = _First()
        if first.last is None or name < first.last:
            first.add((name, is_folder))
    return sorted(one for first in kinds.values() for one in nsmallest(_NAMES, first.kept))


@dataclass(slots=True)
class _First:
    """The first names of one kind, and which is the last that still counts."""

    kept: list[tuple[bytes, bool]] = field(default_factory=list)
    last: bytes | None = None

    def add(self, one: tuple[bytes, bool]) -> None:
        """Keep a name; now and then those beyond the last that counts go."""
        self.kept.append(one)
        if len(self.kept) >= _PENDING:
            self.kept = nsmallest(_NAMES, self.kept)
            self.last = self.kept[-1][0]
