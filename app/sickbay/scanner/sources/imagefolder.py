"""Image folders: plain, or one folder a class, with or without train, val and test above."""

from collections.abc import Iterator

from sickbay.contract.errors import SickbayError
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import HEAD_BYTES, PICTURE_SUFFIXES, sniff
from sickbay.scanner.sources import Found, Item
from sickbay.scanner.sources.folders import Folders
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees import UNREADABLE, Entry, Skipped, Tree, What

NAME = "imagefolder"
SUMMARY = "pictures in folders, one folder a class, with or without train, val and test above"
NO_PICTURE = "not a picture by name or content"


class ImageFolder:
    """Every picture below the root, by name or by content."""

    def __init__(self, tree: Tree) -> None:
        self.classes: tuple[str, ...] = ()
        self._tree = tree

    def items(self) -> Iterator[Item]:
        """Yield the pictures in order of raw path, and what is none as skipped."""
        folders = Folders(self._tree)
        labels = set()
        for entry in self._tree.entries():
            if isinstance(entry, Skipped):
                yield entry
            elif (reason := self._no_picture(entry)) is not None:
                yield Skipped(entry.raw, reason)
            else:
                split, label = folders.place(entry.raw)
                labels.add(label)
                yield Found(entry.raw, split, label)
        self.classes = tuple(sorted(labels - {""}))

    def _no_picture(self, entry: Entry) -> str | None:
        """Say why it is no picture; what is named like one is one, whatever lies there."""
        if SamplePath(entry.raw).suffix in PICTURE_SUFFIXES:
            return None
        if entry.what is not What.FILE:
            return str(entry.what.value)
        try:
            with self._tree.open(entry.raw) as file:
                head = file.read(HEAD_BYTES)
        except (SickbayError, OSError):
            return UNREADABLE
        return None if sniff(head) else NO_PICTURE


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of pictures."""
    pictures = any(SamplePath(raw).suffix in PICTURE_SUFFIXES for raw in glimpse.files())
    return "it holds pictures and no annotations" if pictures else None


def read(tree: Tree, _policy: Policy) -> ImageFolder:
    """Read the pictures below a root."""
    return ImageFolder(tree)
