"""What COCO files say, in tables: whatever order they said it in, each picture gets its own."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sickbay.contract.finding import Finding
from sickbay.scanner import wire
from sickbay.scanner.sources.joined import Joined, Rows, storing

Key: TypeAlias = int | float | str
"""An id: numbers are equal as in Python, text is never a number."""
MOST_MARKS = 10_000
"""Annotations of one picture that are checked; COCO's fullest has 93, aerial sets some thousand."""
MOST_BYTES = 3 << 20
"""Characters of them, as the file has them: they travel in one piece to where they are checked."""
_INT64 = 1 << 63
_TABLES = """
CREATE TABLE fault (file, finding);
CREATE TABLE image (number INTEGER PRIMARY KEY, file, id, name, item, size, faults);
CREATE TABLE annotation
    (number INTEGER PRIMARY KEY, file, image, place, id, category, faults, value);
"""
_INDEXES = """
CREATE INDEX image_of_id ON image (file, id);
CREATE INDEX annotation_of_image ON annotation (file, image, number);
CREATE INDEX annotation_of_id ON annotation (file, id);
CREATE TABLE again (number INTEGER PRIMARY KEY);
INSERT INTO again SELECT number FROM
    (SELECT number, row_number() OVER (PARTITION BY file, id ORDER BY number) AS nth
     FROM annotation WHERE id IS NOT NULL) WHERE nth > 1;
CREATE TABLE same (number INTEGER PRIMARY KEY);
INSERT INTO same SELECT number FROM
    (SELECT number, row_number() OVER (PARTITION BY file, id ORDER BY number) AS nth
     FROM image WHERE id IS NOT NULL) WHERE nth > 1;
"""


@dataclass(frozen=True, slots=True)
class Image:
    """An entry of ``images``; ``again`` where an earlier one has its id."""

    number: int
    file: int
    id: Key | None
    name: str
    item: str
    size: list[int] | None
    faults: Sequence[Finding]
    again: bool


class Annotation(NamedTuple):
    """An entry of ``annotations``: its text, and what is known of it without its geometry."""

    item: str
    category: Key | None
    faults: Sequence[Finding]
    text: str
    again: bool


class Tables:
    """Tables beside a walk of the tree."""

    def __init__(self, joined: Joined) -> None:
        self._joined = joined
        with storing():
            joined.database.executescript(_TABLES)
        self._faults = Rows(joined, "fault", 2)
        self._images = Rows(joined, "image (file, id, name, item, size, faults)", 6)
        self._annotations = Rows(
            joined, "annotation (file, image, place, id, category, faults, value)", 7
        )

    def add_fault(self, file: int, fault: Finding) -> None:
        """Note what is wrong with a file as such, or with an entry that has no picture."""
        self._faults.add(file, _packed([fault]))

    def add_image(
        self,
        file: int,
        identity: Key | None,
        name: str,
        *,
        item: str,
        size: list[int] | None,
        faults: Sequence[Finding],
    ) -> None:
        """Note an entry of ``images``."""
        self._images.add(
            file, identity, _bytes(name), item, size and json.dumps(size), _packed(faults)
        )

    def add_annotation(
        self,
        file: int,
        image: Key,
        *,
        place: int,
        identity: Key | None,
        category: Key | None,
        faults: Sequence[Finding],
        text: str,
    ) -> None:
        """Note an entry of ``annotations``, which is the n-th (``place``) of its file."""
        row = (file, image, place, identity, category, _packed(faults), _bytes(text))
        self._annotations.add(*row)

    def whole(self) -> None:
        """Make ready for questions: all files are read."""
        for rows in (self._faults, self._images, self._annotations):
            rows.flush()
        with storing():
            self._joined.database.executescript(_INDEXES)

    def images(self) -> Iterator[tuple[int, int, str, str]]:
        """Yield number, file, name and item of every image, in the order they were told in."""
        rows = self._rows("SELECT number, file, name, item FROM image ORDER BY number")
        return ((number, file, _text(name), item) for number, file, name, item in rows)

    def image(self, number: int) -> Image:
        """Return one image."""
        (row,) = self._rows(
            "SELECT file, id, name, item, size, faults, number IN same FROM image WHERE number = ?",
            number,
        )
        file, identity, name, item, size, faults, again = row
        return Image(
            number,
            file,
            identity,
            _text(name),
            item,
            json.loads(size) if size else None,
            _unpacked(faults),
            bool(again),
        )

    def annotations(self, image: Image) -> Iterator[Annotation]:
        """Yield an image's annotations in the order of their file; none where its id is taken."""
        if image.id is None or image.again:
            return
        rows = self._rows(
            "SELECT place, id, category, faults, value, number IN again FROM annotation "
            "WHERE file = ? AND image = ? ORDER BY number",
            image.file,
            image.id,
        )
        for nth, identity, category, faults, value, again in rows:
            item = item_of("annotation", identity, nth)
            yield Annotation(item, category, _unpacked(faults), _text(value), bool(again))

    def count(self, image: Image) -> int:
        """Return how many annotations an image has."""
        ((count,),) = self._rows(
            "SELECT count(*) FROM annotation WHERE file = ? AND image = ?", image.file, image.id
        )
        return int(count)

    def faults(self, file: int, text: str, *, broken: bool = False) -> Iterator[Finding]:
        """Yield what is wrong with a file or with entries of it that have no picture.

        Args:
            file: its number.
            text: its path as findings have it.
            broken: whether its images may be in the rest of it, that cannot be read.
        """
        self._faults.flush()
        for (fault,) in self._rows("SELECT finding FROM fault WHERE file = ? ORDER BY rowid", file):
            yield from _unpacked(fault)
        for item, image in () if broken else self._orphans(file):
            said = f"Its image_id is {shown(image)}, which no image of the file has."
            yield Finding.of("annotation.orphan", text, said, item)

    def _orphans(self, file: int) -> Iterator[tuple[str, Key]]:
        rows = self._rows(
            "SELECT place, id, image FROM annotation WHERE file = ? AND image NOT IN "
            "(SELECT id FROM image WHERE file = ? AND id IS NOT NULL) ORDER BY number",
            file,
            file,
        )
        return (
            (item_of("annotation", identity, number), image) for number, identity, image in rows
        )

    def _rows(self, command: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        with storing():
            yield from self._joined.database.execute(command, values)


def key_of(value: Any) -> Key | None:
    """Return an id as tables hold it; nothing where it can be none."""
    if type(value) is int and -_INT64 <= value < _INT64:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return shown(value) if "\0" in value or not _is_text(value) else value
    return None if isinstance(value, int) or math.isnan(value) else value


def item_of(kind: str, identity: Key | None, number: int) -> str:
    """Name an entry by its id; by its place among all entries where it has none."""
    return f"object {number}" if identity is None else f"{kind} {shown(identity)}"


def shown(value: Any) -> str:
    r"""Write what a file holds as it can stand in a sentence: short, controls as ``\xNN``."""
    if type(value) is int:
        return str(value)
    text = str(value)[:80].encode("utf-8", errors="backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _bytes(text: str) -> bytes:
    """Half surrogate pairs stand for bytes that are not UTF-8, and for what a file escaped so."""
    return text.encode("utf-8", errors="surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogatepass")


def _packed(faults: Sequence[Finding]) -> str:
    return json.dumps(wire.from_findings(faults)) if faults else ""


def _unpacked(text: str) -> Sequence[Finding]:
    return wire.to_findings(json.loads(text)) if text else ()
