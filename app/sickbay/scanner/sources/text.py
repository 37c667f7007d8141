"""Plain texts: each file a sample, and each line of JSON-lines files beside them."""

from collections.abc import Iterator

from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.sources import Found, Item, table_rows
from sickbay.scanner.sources.folders import Folders
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.jsonl import SUFFIXES, JsonLines
from sickbay.scanner.sources.listed import Listed
from sickbay.scanner.table_options import TableOptions
from sickbay.scanner.trees import Entry, Skipped, Tree

NAME = "text"
SUMMARY = "text files in folders, as image folders are; lines of .jsonl files are samples, too"
NO_TEXT = "not a text by name"
_TEXTS = {".txt", ".md"}


class Texts:
    """Every text below the root."""

    def __init__(self, tree: Tree, policy: Policy, options: TableOptions) -> None:
        self._folders = Folders(tree)
        self._labels: set[str] = set()
        found = table_rows.find(tree, SUFFIXES)
        tables = [JsonLines(tree, raw, policy, options, pictures=False) for raw in found]
        self._listed = Listed(tree, tables, self._item)
        self.classes = self._listed.classes

    def items(self) -> Iterator[Item]:
        """Yield the texts in order of raw path, and what is none as skipped."""
        yield from self._listed.items()
        self.classes = tuple(sorted({*self._labels, *self.classes} - {""}))

    def _item(self, entry: Entry | Skipped) -> Item:
        if isinstance(entry, Skipped):
            return entry
        if SamplePath(entry.raw).suffix not in _TEXTS:
            return Skipped(entry.raw, NO_TEXT)
        split, label = self._folders.place(entry.raw)
        self._labels.add(label)
        return Found(entry.raw, split, label, kind="text")


def read(tree: Tree, policy: Policy, options: TableOptions | None = None) -> Texts:
    """Read the texts below a root."""
    return Texts(tree, policy, options or TableOptions())


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of texts: most of its files are, and none is a picture."""
    files = glimpse.files()
    texts = [raw for raw in files if SamplePath(raw).suffix in _TEXTS and not _about(raw)]
    if not texts or any(SamplePath(raw).suffix in PICTURE_SUFFIXES for raw in files):
        return None
    if len(texts) * 2 < len(files):
        return None
    return f"{len(texts):,} of the first {len(files):,} files are texts"


def _about(raw: bytes) -> bool:
    """Whether a text is about the data set."""
    stem = raw.rpartition(b"/")[2].partition(b".")[0]
    return stem.upper() in {b"README", b"LICENSE", b"LICENCE", b"CHANGELOG"}
