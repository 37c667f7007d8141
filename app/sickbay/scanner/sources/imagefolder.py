"""Image folders: plain, or one folder a class, with or without train, val and test above."""

from functools import partial

from sickbay.contract.errors import SickbayError
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import HEAD_BYTES, PICTURE_SUFFIXES, sniff
from sickbay.scanner.sources.folders import InFolders
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees import UNREADABLE, Entry, Tree, What

NAME = "imagefolder"
SUMMARY = "pictures in folders, one folder a class, with or without train, val and test above"
NO_PICTURE = "not a picture by name or content"


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of pictures."""
    pictures = any(SamplePath(raw).suffix in PICTURE_SUFFIXES for raw in glimpse.files())
    return "it holds pictures and no annotations" if pictures else None


def read(tree: Tree, _policy: Policy) -> InFolders:
    """Read the pictures below a root, by name or by content."""
    return InFolders(tree, "picture", partial(_refusal, tree))


def _refusal(tree: Tree, entry: Entry) -> str | None:
    """Say why it is no picture; what is named like one is one, whatever lies there."""
    if SamplePath(entry.raw).suffix in PICTURE_SUFFIXES:
        return None
    if entry.what is not What.FILE:
        return str(entry.what.value)
    try:
        with tree.open(entry.raw) as file:
            head = file.read(HEAD_BYTES)
    except (SickbayError, OSError):
        return UNREADABLE
    return None if sniff(head) else NO_PICTURE
