"""The layout of a folder, by a first look at it: ``--layout auto``."""

from dataclasses import dataclass

from sickbay.scanner.sources import imagefolder
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.layouts import LAYOUTS
from sickbay.scanner.trees import Tree

AUTO = "auto"
ORDER = ("coco", "voc", "yolo", "masks", "csv", "jsonl", "arrays", "text", imagefolder.NAME)
"""The most telling signs first: an annotation file says more than a folder's name, a list of
files more than the files it names, and pictures in folders are what every layout has."""
_NONE = "no other layout fits"


@dataclass(frozen=True, slots=True)
class Choice:
    """A layout, why it fits (empty where there is nothing), and names of others that fit too."""

    name: str
    why: str
    others: tuple[str, ...] = ()


def choose(tree: Tree) -> Choice:
    """Choose the layout that fits a tree best; where none does, pictures in folders.

    Raises:
        BadInput: the root cannot be read.
    """
    glimpse = Glimpse(tree)
    fits = {name: why for name in ORDER if (why := LAYOUTS[name].recognise(glimpse)) is not None}
    others = [name for name in fits if name != imagefolder.NAME]
    if not others:
        none = _NONE if glimpse.names() else ""
        return Choice(imagefolder.NAME, fits.get(imagefolder.NAME, none))
    return Choice(others[0], fits[others[0]], tuple(others[1:]))
