"""Arrays: each file of them is a sample, in folders as pictures are."""

from collections.abc import Iterator

from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.arrays.readers import SUFFIXES
from sickbay.scanner.sources import Found, Item
from sickbay.scanner.sources.folders import Folders
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees import Skipped, Tree

NAME = "arrays"
SUMMARY = "files of arrays (.npy, .npz, .pt, .pth, .safetensors), with or without folders as above"
NO_ARRAY = "not a file of arrays by name"


class Arrays:
    """Every file below the root that is named as one of arrays."""

    def __init__(self, tree: Tree) -> None:
        self.classes: tuple[str, ...] = ()
        self._tree = tree

    def items(self) -> Iterator[Item]:
        """Yield the files in order of raw path, and what is none as skipped."""
        folders = Folders(self._tree)
        labels = set()
        for entry in self._tree.entries():
            if isinstance(entry, Skipped):
                yield entry
            elif SamplePath(entry.raw).suffix not in SUFFIXES:
                yield Skipped(entry.raw, NO_ARRAY)
            else:
                split, label = folders.place(entry.raw)
                labels.add(label)
                yield Found(entry.raw, split, label, "array")
        self.classes = tuple(sorted(labels - {""}))


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of arrays: most of its files are named so."""
    files = glimpse.files()
    suffixes = sorted({suffix for raw in files if (suffix := SamplePath(raw).suffix) in SUFFIXES})
    count = sum(SamplePath(raw).suffix in SUFFIXES for raw in files)
    return (
        f"most of its files are arrays ({', '.join(suffixes)})" if 2 * count > len(files) else None
    )


def read(tree: Tree, _policy: Policy) -> Arrays:
    """Read the arrays below a root."""
    return Arrays(tree)
