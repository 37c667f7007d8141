"""The layout of a folder, by a first look at it: ``--layout auto``."""

import io
import re
from dataclasses import dataclass
from itertools import islice

from sickbay.contract.paths import SamplePath
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import coco, csv_dialect, imagefolder, jsonl, table
from sickbay.scanner.sources.csv_rows import CsvRows
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.ids import Ids
from sickbay.scanner.sources.layouts import LAYOUTS
from sickbay.scanner.sources.table_rows import is_list
from sickbay.scanner.trees import Tree

AUTO = "auto"
ORDER = ("coco", "voc", "yolo", "masks", "csv", "jsonl", "arrays", "text", imagefolder.NAME)
"""The most telling signs first: an annotation file says more than a folder's name, a list of
files more than the files it names, and pictures in folders are what every layout has."""
_NONE = "no other layout fits"
_BESIDE = "most of its files are pictures, and no list names them by file"
_LISTS = {table.NAME, jsonl.NAME}
_ROWS = 50  # of a table that are looked at
_LIST_SUFFIXES = table.SUFFIXES | jsonl.SUFFIXES
_PICTURE = re.compile("|".join(map(re.escape, sorted(PICTURE_SUFFIXES))).encode(), re.IGNORECASE)


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
    if not others and (broken := coco.recognise_broken(glimpse)) is not None:
        return Choice(coco.NAME, broken)
    if not others:
        none = _NONE if glimpse.names() else ""
        return Choice(imagefolder.NAME, fits.get(imagefolder.NAME, none))
    if others[0] in _LISTS and _beside_pictures(tree, glimpse):
        return Choice(imagefolder.NAME, _BESIDE, tuple(others))
    return Choice(others[0], fits[others[0]], tuple(others[1:]))


def _beside_pictures(tree: Tree, glimpse: Glimpse) -> bool:
    """Whether lists lie among pictures that they do not name: rows would hide the pictures."""
    files = glimpse.files()
    pictures = sum(SamplePath(raw).suffix in PICTURE_SUFFIXES for raw in files)
    if pictures <= len(files) / 2:
        return False
    lists = [raw for raw in files if is_list(raw, _LIST_SUFFIXES)]
    if any(_PICTURE.search(glimpse.head(raw)) for raw in lists):
        return False
    ids = Ids(tree, glimpse)
    return not any(ids.column(_columns(raw, glimpse.head(raw))) is not None for raw in lists)


def _columns(raw: bytes, head: bytes) -> list[list[str]]:
    """Return the first values of the columns of a table, without a header; none of other lists."""
    suffix = SamplePath(raw).suffix
    if suffix not in table.SUFFIXES:
        return []
    read = CsvRows(io.BytesIO(head), csv_dialect.sniff(head, suffix))
    rows = [row.cells for row in islice(read.rows(None), 1, _ROWS)]
    return (
        [[row[at] for row in rows if at < len(row)] for at in range(len(rows[0]))] if rows else []
    )
