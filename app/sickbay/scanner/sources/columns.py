"""What the columns of a table or the keys of JSON lines are for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sickbay.contract.errors import BadInput
from sickbay.contract.paths import SamplePath
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.table_options import TableOptions

PATHS = {
    *("path", "paths", "file", "files", "filename", "filenames", "filepath", "image"),
    *("images", "imagename", "imagepath", "imagefile", "imagefilename", "img", "imgs"),
    *("imgname", "imgpath", "imgfile", "imagefiles", "picture", "photo", "imageid"),
    *("relpath", "relativepath"),
}
LABELS = (
    *("label", "labels", "class", "classid", "classname", "classlabel", "classindex"),
    *("labelid", "labelname", "category", "categoryid", "categoryname", "target", "y", "tag"),
    *("sentiment", "intent"),
)
SPLITS = ("split", "subset", "partition", "phase", "set", "dataset")
MAIN_TEXTS = {
    *("text", "sentence", "sentence1", "sentence2", "sentencea", "sentenceb", "content"),
    *("body", "review", "document", "question", "prompt", "instruction", "premise"),
    *("hypothesis", "query", "passage", "message", "comment", "tweet", "utterance"),
    *("article", "completion", "response", "output", "chosen", "rejected", "caption"),
}
"""A row without these is nothing."""
OTHER_TEXTS = {
    *("input", "context", "system", "title", "summary", "abstract", "description", "answer"),
    *("answers", "headline", "explanation"),
}
"""Texts that may be blank."""
_LONGEST_PATH = 1024
_MOSTLY, _NEARLY_ALL = 0.5, 0.8
_WORDS = 3  # a column whose values have as many, on average, holds texts


@dataclass(frozen=True, slots=True)
class Column:
    """A column's name and some of its values."""

    name: str
    values: Sequence[str]

    @property
    def key(self) -> str:
        """Its name without case and without what stands between words."""
        return "".join(char for char in self.name.lower() if char.isalnum())

    def share(self, count: int) -> float:
        """Which share of the filled values that many are."""
        filled = sum(bool(value.strip()) for value in self.values)
        return count / filled if filled else 0.0


@dataclass(frozen=True, slots=True)
class Roles:
    """Numbers of the columns by what they are for; texts with whether they are main."""

    path: int | None = None
    label: int | None = None
    split: int | None = None
    texts: tuple[tuple[int, bool], ...] = ()


def looks_like_picture(value: str) -> bool:
    """Whether a value may be the path of a picture."""
    if len(value) > _LONGEST_PATH or "://" in value or "\n" in value:
        return False
    raw = value.strip().encode("utf-8", errors="surrogateescape")
    return SamplePath(raw).suffix in PICTURE_SUFFIXES


def looks_like_number(value: str) -> bool:
    """Whether a value is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return True


def roles(
    columns: Sequence[Column],
    options: TableOptions,
    where: str,
    ids: Callable[[Sequence[Column]], int | None] | None = None,
) -> Roles:
    """Say what the columns of a table are for.

    Args:
        columns: all of them, with values of the first rows.
        options: what a person said.
        where: the file, for errors.
        ids: finds a column that names pictures by their ids, asked where none holds paths.

    Raises:
        BadInput: there is no column that a person named.
    """
    path = _asked(columns, options.path, where)
    if path is None:
        path = _path(columns)
    if path is None and ids is not None:
        path = ids(columns)
    label = _asked(columns, options.label, where)
    if label is None:
        others = {at for at, column in enumerate(columns) if _is_wordy(column)}
        label = _named(columns, LABELS, {path, *others, _beside_x(columns)})
    split = _named(columns, SPLITS, {path, label})
    text = _asked(columns, options.text, where)
    taken = {path, label, split}
    texts = ((text, True),) if text is not None else _texts(columns, taken)
    return Roles(path, label, split, texts)


def _asked(columns: Sequence[Column], name: str | None, where: str) -> int | None:
    if name is None:
        return None
    for number, column in enumerate(columns):
        if column.name == name:
            return number
    there = ", ".join(repr(excerpt(column.name)) for column in columns[:20])
    raise BadInput(f"{where} has no column {name!r}; it has: {there}.")


def _path(columns: Sequence[Column]) -> int | None:
    """Find the column of pictures: by its name and most values, or by nearly all values."""
    shares = [column.share(sum(map(looks_like_picture, column.values))) for column in columns]
    named = [
        number
        for number, column in enumerate(columns)
        if column.key in PATHS and shares[number] >= _MOSTLY
    ]
    certain = [number for number, share in enumerate(shares) if share >= _NEARLY_ALL]
    return next(iter([*named, *certain]), None)


def _named(columns: Sequence[Column], names: Sequence[str], taken: set[int | None]) -> int | None:
    keys = [None if number in taken else column.key for number, column in enumerate(columns)]
    return next((keys.index(name) for name in names if name in keys), None)


def _beside_x(columns: Sequence[Column]) -> int | None:
    """Find the y that stands beside an x of numbers: both are places, and neither is a label."""
    keys = [column.key for column in columns]
    if not {"x", "y"} <= set(keys):
        return None
    values = [value for value in columns[keys.index("x")].values if value.strip()]
    return keys.index("y") if all(map(looks_like_number, values)) else None


def _texts(columns: Sequence[Column], taken: set[int | None]) -> tuple[tuple[int, bool], ...]:
    """Find the columns of texts by their names, else by how many words they hold."""
    free = [(at, column) for at, column in enumerate(columns) if at not in taken]
    known = MAIN_TEXTS | OTHER_TEXTS
    named = tuple((at, column.key in MAIN_TEXTS) for at, column in free if column.key in known)
    if any(main for _, main in named):
        return named
    wordy = tuple((at, True) for at, column in free if _is_wordy(column))
    return wordy or named


def _is_wordy(column: Column) -> bool:
    return column.share(sum(len(value.split()) for value in column.values)) >= _WORDS
