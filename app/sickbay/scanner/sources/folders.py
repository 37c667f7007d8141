"""Splits and labels by folder names, as loaders of folders read them.

The label is the name of the topmost folder below the root, or below the split.
"""

from collections.abc import Callable, Iterator

from sickbay.contract.paths import SamplePath
from sickbay.scanner.sources import Found, Item
from sickbay.scanner.trees import Entry, Skipped, Tree

MAX_NAME = 255  # characters of a label, as records allow
SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
}
"""Split by the name of a folder or list file, in lower case."""


def split_named(name: bytes) -> str:
    """Return the split that a folder or the stem of a file is named for, or nothing."""
    return SPLITS.get(name.decode("latin-1").lower(), "")


class Folders:
    """Knows which folders at the top of a tree are splits.

    A class may be called `train` too (a vehicle), so that names count as splits only where all
    folders or at least two of them are, or where the only one has folders of its own.
    """

    def __init__(self, tree: Tree) -> None:
        folders = [name for name, is_folder in tree.listing() if is_folder]
        named = {name: split for name in folders if (split := split_named(name))}
        certain = len(named) == len(folders) or len(set(named.values())) > 1
        if not certain and not all(_has_folders(tree, name) for name in named):
            named = {}
        self._splits = named

    def place(self, raw: bytes) -> tuple[str, str]:
        """Return split and label of a file below the root."""
        parts = raw.split(b"/")[:-1]
        split = self._splits.get(parts[0], "") if parts else ""
        below = parts[1:] if split else parts
        return split, shown_label(below[0]) if below else ""


class InFolders:
    """Every file below the root that a layout takes, with split and label by its folders.

    Args:
        tree: where the files lie.
        kind: which of ``scanner.examine`` checks them.
        refusal: says why an entry is no sample, or nothing where it is one.
    """

    def __init__(self, tree: Tree, kind: str, refusal: Callable[[Entry], str | None]) -> None:
        self.classes: tuple[str, ...] = ()
        self._tree = tree
        self._kind = kind
        self._refusal = refusal

    def items(self) -> Iterator[Item]:
        """Yield the samples in order of raw path, and what is none as skipped."""
        folders = Folders(self._tree)
        labels = set()
        for entry in self._tree.entries():
            if isinstance(entry, Skipped):
                yield entry
            elif (reason := self._refusal(entry)) is not None:
                yield Skipped(entry.raw, reason)
            else:
                split, label = folders.place(entry.raw)
                labels.add(label)
                yield Found(entry.raw, split, label, self._kind)
        self.classes = tuple(sorted(labels - {""}))


def _has_folders(tree: Tree, folder: bytes) -> bool:
    return any(is_folder for _, is_folder in tree.listing(folder))


def shown_label(name: bytes) -> str:
    r"""Write a class as records allow: control characters as ``\xNN``, at most 255 characters."""
    text = SamplePath(name).text
    shown = "".join(char if ord(char) >= 0x20 else f"\\x{ord(char):02x}" for char in text)  # noqa: PLR2004 (space)
    return shown[:MAX_NAME]
