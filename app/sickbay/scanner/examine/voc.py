"""Pascal VOC: an XML file a picture, an ``object`` a thing in it.

VOC counts pixels from 1 and includes the last, others who write it count from 0: both fit into 0
to the picture's width. Corners are taken as they stand, so that a box from 10 to 10 has no width;
most loaders take them so.

Parsed with the standard library's expat, which resolves nothing by itself. Declarations of
entities, which bombs and reads of other files need, are refused where they stand; defusedxml does
the same around a parser that keeps the whole tree, and has had no release since 2021.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from xml.parsers.expat import ExpatError, ParserCreate, errors

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner.checks import labels
from sickbay.scanner.examine import sidecar
from sickbay.scanner.examine.sidecar import Malformed, Said, Side, refuse_size
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.marks import Box, Mark

_DEPTH = 64
_TEXT = 4096  # characters of one element
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


@dataclass(slots=True)
class _Object:
    name: str | None = None
    boxes: int = 0
    corners: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Keeps what is wanted of a document, at the places where VOC has it."""

    def __init__(self) -> None:
        self.root = ""
        self.filename: str | None = None
        self.size: dict[str, str] = {}
        self.objects: list[_Object] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._length = 0
        self._parser = ParserCreate()

    def read(self, data: bytes) -> None:
        """Parse a whole document.

        Raises:
            Malformed: it is no XML, declares entities, or is too deep.
        """
        parser = self._parser
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._declared
        parser.SkippedEntityHandler = self._skipped
        try:
            parser.Parse(data, True)  # noqa: FBT003 (this is all of it)
        except ExpatError as error:
            message = f"It is not XML at line {error.lineno}: {errors.messages[error.code]}."
            raise Malformed(message, error.lineno, parser.ErrorByteIndex) from None
        except (ValueError, LookupError):
            raise self._refused("Its encoding is not one that XML parsers read") from None

    def _refused(self, why: str) -> Malformed:
        line, byte = self._parser.CurrentLineNumber, self._parser.CurrentByteIndex
        return Malformed(f"{why}: line {line}, byte {byte:,}.", line, byte)

    def _declared(self, *_entity: object) -> None:
        raise self._refused("It declares an entity, which no annotation needs")

    def _skipped(self, *_entity: object) -> None:
        raise self._refused("It refers to an entity that it does not declare")

    def _start(self, name: str, _attributes: object) -> None:
        self._path.append(name)
        if len(self._path) > _DEPTH:
            raise self._refused(f"Its elements are nested more than {_DEPTH} deep")
        if len(self._path) == 1:
            self.root = name
        elif self._path[1:] == ["object"]:
            self.objects.append(_Object())
        elif self._path[1:] == ["object", "bndbox"]:
            self.objects[-1].boxes += 1
        self._text.clear()
        self._length = 0

    def _characters(self, text: str) -> None:
        if self._length < _TEXT:
            self._text.append(text[:_TEXT])
            self._length += len(text)

    def _end(self, name: str) -> None:
        text, above = "".join(self._text).strip(), self._path[1:-1]
        self._path.pop()
        self._text.clear()
        self._length = 0
        if above == ["object"] and name == "name":
            self.objects[-1].name = text
        elif above == ["object", "bndbox"] and name in _CORNERS:
            self.objects[-1].corners.setdefault(name, text)
        elif above == ["size"]:
            self.size.setdefault(name, text)
        elif not above and name == "filename":
            self.filename = text


def parse(side: Side, said: Said) -> None:
    """Read an annotation; each object that is none is a finding of its own."""
    refuse_size(side.data)
    if not side.data.strip():
        raise Malformed("The file is empty.", 1, 0)
    reader = _Reader()
    reader.read(side.data)
    if reader.root != "annotation":
        message = f"Its root is <{excerpt(reader.root)}>, not <annotation>."
        said.findings.append(Finding.of("annotation.schema-mismatch", side.file, message))
        return
    said.findings.extend(_of_file(reader, side))
    said.size = _size(reader)
    for number, one in enumerate(reader.objects, 1):
        _add(one, f"object {number}", side, said)


def _of_file(reader: _Reader, side: Side) -> list[Finding]:
    """Check the name and the size of the picture that the document states."""
    found = []
    stated = (reader.filename or "").replace("\\", "/").rpartition("/")[2]
    name = SamplePath(side.task.raw).text.rpartition("/")[2]
    if stated and _stem(stated) != _stem(name):
        message = f"It names the picture {excerpt(stated)!r}, but lies with {name!r}."
        finding = Finding.of("annotation.schema-mismatch", side.file, message)
        found.append(replace(finding, severity=Severity.WARN))  # most loaders go by the file's name
    if _numbers(reader.size, ("width", "height")) == [0.0, 0.0]:
        message = "Its size is written as 0 x 0; loaders that trust it fail."
        finding = Finding.of("annotation.size-mismatch", side.file, message)
        found.append(replace(finding, severity=Severity.NOTE))  # tools that do not look write this
    return found


def _stem(name: str) -> str:
    """Return a file's name without a picture's extension, by which loaders pair."""
    return name.rpartition(".")[0].lower() or name.lower()


def _size(reader: _Reader) -> tuple[int, int] | None:
    """Return the stated size where it is one."""
    values = _numbers(reader.size, ("width", "height"))
    if values is None or not all(0 < value < 1e9 for value in values):  # noqa: PLR2004 (also no NaN)
        return None
    return round(values[0]), round(values[1])


def _add(one: _Object, item: str, side: Side, said: Said) -> None:
    """Check an object's class and fields, and add it to what the file says."""
    finding = labels.missing(one.name, side.file, item)
    if finding is None and one.name is not None:
        finding = labels.unknown(one.name, side.classes, side.file, item)
    if finding is not None:
        said.findings.append(finding)
    elif one.name is not None:
        said.labels.append(excerpt(one.name))
    values = _numbers(one.corners, _CORNERS)
    if values is None:
        message = _lacking(one)
        said.findings.append(Finding.of("annotation.schema-mismatch", side.file, message, item))
    else:
        said.add(Mark(item, side.file, one.name, _box(values)))


def _box(values: list[float]) -> Box:
    left, top, right, bottom = values
    return left, top, right - left, bottom - top


def _lacking(one: _Object) -> str:
    if not one.boxes:
        return "It has no <bndbox>."
    missing = [name for name in _CORNERS if name not in one.corners]
    if missing:
        return f"Its <bndbox> has no <{missing[0]}>."
    wrong = next(name for name in _CORNERS if _numbers(one.corners, (name,)) is None)
    return f"Its <{wrong}> is {excerpt(one.corners[wrong][:40])!r}, which is no number."


def _numbers(texts: dict[str, str], names: tuple[str, ...]) -> list[float] | None:
    try:
        return [float(texts[name]) for name in names]
    except (KeyError, ValueError):
        return None


examine = partial(sidecar.examine, parse=parse)
"""Checks a picture and its annotation."""
