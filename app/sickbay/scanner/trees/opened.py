"""The tree at a root, whatever it is."""

import os

from sickbay.scanner.trees import Tree
from sickbay.scanner.trees.local import LocalTree
from sickbay.scanner.trees.remote import RemoteTree

_HERE = "file://"


def is_remote(root: str | os.PathLike[str]) -> bool:
    """Whether a root is a URL of something that is not a folder here."""
    text = os.fspath(root)
    return "://" in text and not text.startswith(_HERE)


def opened(root: str | os.PathLike[str]) -> Tree:
    """Return the tree at a folder of this machine, or behind a URL.

    Raises:
        BadInput: there is none, or it cannot be read.
    """
    text = os.fspath(root)
    return RemoteTree(text) if is_remote(text) else LocalTree(text.removeprefix(_HERE))
