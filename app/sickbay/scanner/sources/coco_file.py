"""One COCO file, read into tables; what is wrong with its entries by themselves is noted."""

from dataclasses import dataclass
from typing import Any, BinaryIO

from sickbay.contract.finding import Finding
from sickbay.scanner.checks.most import MOST
from sickbay.scanner.sources.coco_tables import Key, Tables, item_of, key_of, shown
from sickbay.scanner.sources.folders import shown_label
from sickbay.scanner.sources.streamed import Malformed, Part, Streamed

MAX_CATEGORIES = 100_000
_STRAYS = 10_000
"""Entries in a row that are no objects, at which the file is given up: millions take minutes."""
_KEPT = MOST - 3  # so that how many more, where it stopped and what is no UTF-8 are seen too
_MAX_SIDE = 1 << 31
_TWICE = "The same name stands twice in it; readers take one of the two values."
_NO_SIZE = "The stated width and height are not two whole numbers above 0."
_NO_ID = "Its id is missing, or neither a number nor text."


@dataclass(frozen=True, slots=True)
class Category:
    """A class, and how many keypoints it has, where the file says so."""

    name: str
    points: int | None = None


class CocoFile:
    """Reads one file.

    Args:
        tables: where its entries go.
        number: of the file among all.
        text: its path as findings have it.

    Attributes:
        categories: its classes by id.
        names: names at its top.
        broken: whether it ended where it could not be read any further.
    """

    def __init__(self, tables: Tables, number: int, text: str) -> None:
        self.categories: dict[Key, Category] = {}
        self.names: set[str] = set()
        self.broken = False
        self._full = False
        self._faults = 0
        self._strays = 0
        self._tables = tables
        self._number = number
        self._text = text
        self._readers = {
            "images": self._image,
            "annotations": self._annotation,
            "categories": self._category,
        }

    @property
    def is_one(self) -> bool:
        """Whether it has what a COCO file has."""
        return bool(self.names & {"images", "annotations"})

    def read(self, file: BinaryIO) -> None:
        """Read to the end, or to where it cannot be read any further."""
        stream = Streamed(file)
        self.names = stream.names
        try:
            for part in stream.parts():
                if part.key in self._readers:
                    self._part(part)
                if self._strays > _STRAYS:
                    raise stream.malformed(f"{_STRAYS:,} entries in a row are no objects")
        except Malformed as error:
            self.broken = True
            self._stopped(error)
        except OSError as error:  # a disk or a network that gives out no more of it
            self.unreadable(error)
        self._say_rest()
        if stream.bad_byte is not None:
            self._stopped(Malformed("it is not UTF-8", *stream.bad_byte))

    def unreadable(self, error: Exception) -> None:
        """Note that the file, or the rest of it, cannot be read."""
        self.broken = True
        said = f"The file cannot be read: {str(error).rstrip('.')}."
        self._tables.add_fault(self._number, Finding.of("file.unreadable", self._text, said))

    def _part(self, part: Part) -> None:
        if not part.listed:
            self._malformed(f"Its {part.key} are no list.")
        elif not isinstance(part.value, dict):
            self._strays += 1
            self._malformed(f"Entry {part.number:,} of its {part.key} is no object.")
        else:
            self._strays = 0
            self._readers[part.key](part, part.value)

    def _image(self, part: Part, value: dict[str, Any]) -> None:
        identity = key_of(value.get("id"))
        item = item_of("image", identity, part.number)
        faults = self._own_faults(part, identity, item)
        sides = value.get("width"), value.get("height")
        width, height = map(_side, sides)
        size = [width, height] if width and height else None
        if size is None and sides != (None, None):
            faults.append(Finding.of("annotation.malformed", self._text, _NO_SIZE, item))
        name = _name(value)
        if name is not None:
            self._tables.add_image(
                self._number, identity, name, item=item, size=size, faults=faults
            )
        else:
            said = "It has no file_name that is text, so that its picture cannot be found."
            self._note("annotation.schema-mismatch", said, item)

    def _annotation(self, part: Part, value: dict[str, Any]) -> None:
        identity, image = key_of(value.get("id")), key_of(value.get("image_id"))
        category = key_of(value.get("category_id"))
        faults: list[Finding] = []
        if identity is None or image is None or category is None or part.repeated:
            item = item_of("annotation", identity, part.number)
            faults = self._lacking(part, value, item)
        if image is not None:
            self._tables.add_annotation(
                self._number,
                image,
                place=part.number,
                identity=identity,
                category=category,
                faults=faults,
                text=part.text,
            )
            return
        for fault in faults:
            self._add(fault)

    def _lacking(self, part: Part, value: dict[str, Any], item: str) -> list[Finding]:
        """Say which ids an annotation lacks; panoptic ones have none, captions no class."""
        panoptic, category = "segments_info" in value, value.get("category_id")
        faults = self._own_faults(part, 0 if panoptic else key_of(value.get("id")), item)
        if key_of(value.get("image_id")) is None:
            said = "Its image_id is missing, or neither a number nor text."
            faults.append(Finding.of("annotation.schema-mismatch", self._text, said, item))
        if category is not None and key_of(category) is None:
            said = "Its category_id is neither a number nor text."
            faults.append(Finding.of("label.wrong-type", self._text, said, item))
        elif category is None and not panoptic and "caption" not in value:
            faults.append(Finding.of("label.missing", self._text, "It has no category_id.", item))
        return faults

    def _category(self, part: Part, value: dict[str, Any]) -> None:
        identity = key_of(value.get("id"))
        item = item_of("category", identity, part.number)
        for fault in self._own_faults(part, identity, item):
            self._add(fault)
        name = value.get("name")
        if not isinstance(name, str):
            self._note("label.wrong-type", "The category has no name that is text.", item)
            name = str(identity)
        if identity is None:
            return
        if len(self.categories) >= MAX_CATEGORIES:
            self._too_many(item)
            return
        if identity in self.categories:
            said = f"Its id is already that of {shown(self.categories[identity].name)!r}."
            self._note("annotation.malformed", said, item)
            return
        points = value.get("keypoints")
        label = shown_label(name.encode("utf-8", errors="backslashreplace"))
        self.categories[identity] = Category(
            label, len(points) if isinstance(points, list) else None
        )

    def _too_many(self, item: str) -> None:
        if not self._full:
            self._full = True
            said = f"From this one on, over {MAX_CATEGORIES:,}, its categories are not read."
            self._note("annotation.malformed", said, item)

    def _stopped(self, error: Malformed) -> None:
        """Note where reading stopped; this is kept however much was noted before."""
        said = f"Line {error.line:,}, byte {error.byte:,}: {error.reason}."
        fault = Finding.of(
            "annotation.malformed", self._text, said, line=error.line, byte=error.byte
        )
        self._tables.add_fault(self._number, fault)

    def _malformed(self, message: str) -> None:
        self._note("annotation.malformed", message, None)

    def _note(self, code: str, message: str, item: str | None) -> None:
        self._add(Finding.of(code, self._text, message, item))

    def _add(self, fault: Finding) -> None:
        self._faults += 1
        if self._faults <= _KEPT:
            self._tables.add_fault(self._number, fault)

    def _say_rest(self) -> None:
        """Say how many faults were too many to be kept: a hostile file has millions."""
        left, self._faults = self._faults - _KEPT, 0
        if left > 0:
            said = f"{left:,} more of its entries cannot be used."
            self._malformed(said)

    def _own_faults(self, part: Part, identity: Key | None, item: str) -> list[Finding]:
        faults = []
        if identity is None:
            faults.append(Finding.of("annotation.schema-mismatch", self._text, _NO_ID, item))
        if part.repeated:
            faults.append(Finding.of("annotation.malformed", self._text, _TWICE, item))
        return faults


def _name(value: dict[str, Any]) -> str | None:
    """Return what an image says of its file; LVIS has an address alone, whose end is the path."""
    name, address = value.get("file_name"), value.get("coco_url")
    if isinstance(name, str):
        return name
    if name is None and isinstance(address, str):
        return "/".join(address.split("/")[-2:])
    return None


def _side(value: Any) -> int | None:
    """Return a number of pixels, nothing where it can be none; some writers put 640.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value < _MAX_SIDE and value == int(value) else None
