"""A picture whose annotations are in a file of its own, parsed here, in the child."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.inside import Missing
from sickbay.contract.paths import SamplePath
from sickbay.scanner.checks.files import fault
from sickbay.scanner.checks.labels import Classes
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.examine import Files, picture
from sickbay.scanner.examine.marks import judged
from sickbay.scanner.marks import Mark
from sickbay.scanner.task import HASH_ONLY, Setup, Task

MAX_BYTES = 16 << 20
"""Of an annotation file of one picture: some 400,000 boxes, more than a child reads in its time."""
MAX_MARKS = 100_000
"""Objects of one picture that are read; their checks take about two seconds."""
_MAX_LABELS = 10_000
"""Labels of one picture that are counted with those of its set."""


class Malformed(Exception):
    """An annotation file that cannot be parsed, from this place on."""

    def __init__(self, message: str, line: int | None = None, byte: int | None = None) -> None:
        super().__init__(message)
        self._message = message
        self._place = {} if line is None else {"line": line, "byte": byte}

    def finding(self, file: str) -> Finding:
        """Return it as what is wrong with a file."""
        return Finding.of("annotation.malformed", file, self._message, None, **self._place)


@dataclass(frozen=True, slots=True)
class Side:
    """An annotation file, and what is known of its picture.

    Attributes:
        file: its path, as findings name it.
        data: its bytes.
        size: width and height of the picture as it is seen upright; nothing where unknown.
        classes: the classes of the data set.
        given: what the layout said of the picture.
    """

    file: str
    data: bytes
    size: tuple[int, int] | None
    classes: Classes
    task: Task


@dataclass(slots=True)
class Said:
    """What an annotation file says.

    Attributes:
        marks: its objects.
        findings: what is wrong with it, but for their geometry.
        labels: the class of each object, by name where it has one.
        size: width and height that its geometry is drawn in, where it tells.
    """

    marks: list[Mark] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    size: tuple[int, int] | None = None

    def add(self, mark: Mark) -> None:
        """Add an object.

        Raises:
            Malformed: there are more than are read.
        """
        if len(self.marks) >= MAX_MARKS:
            message = (
                f"It has more than {MAX_MARKS:,} objects; {mark.item} and the rest are unread."
            )
            raise Malformed(message)
        self.marks.append(mark)


Parse = Callable[[Side, Said], None]
"""Adds what a file says to what it has said so far, and raises :class:`Malformed`."""


def examine(files: Files, task: Task, setup: Setup, care: int, parse: Parse) -> Examined:
    """Check a picture and what the file beside it says of it."""
    if task.side is None or care >= HASH_ONLY:
        return picture.examine(files, task, setup, care)
    said: list[Said] = []
    annotations = partial(_annotations, said=said, parse=parse)
    found = picture.examine(files, task, setup, care, annotations)
    if not said:  # nothing of the picture could be read
        more = setup.policy.applied(annotations(files, task, setup, Evidence()))
        found = replace(found, findings=(*found.findings, *more))
    return replace(found, labels=tuple(said[0].labels[:_MAX_LABELS]))


def _annotations(
    files: Files, task: Task, setup: Setup, evidence: Evidence, *, said: list[Said], parse: Parse
) -> Iterable[Finding]:
    """Parse the file and judge what it says; what that is goes into ``said`` as well."""
    told = Said()
    said.append(told)
    raw = task.side or b""
    file = SamplePath(raw).text
    try:
        data = _read(files, raw)
    except Missing:  # background, or the layout has said so
        return ()
    except SickbayError as error:
        return [replace(finding, file=file) for finding in fault(error).findings]
    side = Side(file, data, upright(evidence), Classes.of(setup), task)
    try:
        parse(side, told)
    except Malformed as error:
        told.findings.append(error.finding(file))
    geometry = judged(told.marks, evidence, setup.policy, stated=told.size, stated_in=(file, None))
    return bounded([*told.findings, *geometry])


def _read(files: Files, raw: bytes) -> bytes:
    with files.open(raw) as file:
        return file.read(MAX_BYTES + 1)


def upright(evidence: Evidence) -> tuple[int, int] | None:
    """Return a picture's size as viewers turn it, and as those drew who annotated it."""
    if not evidence.width or not evidence.height:
        return None
    turned = evidence.orientation >= 5  # noqa: PLR2004 (EXIF: 5 to 8 lie on their side)
    return (evidence.height, evidence.width) if turned else (evidence.width, evidence.height)


def text_of(side: Side) -> str:
    """Decode an annotation file.

    Raises:
        Malformed: it is too large, not UTF-8, or holds a NUL.
    """
    data = side.data
    refuse_size(data)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse(data, 0, "It is UTF-16, not UTF-8")
    if (at := data.find(b"\0")) >= 0:
        _refuse(data, at, "It holds a NUL, as a file does that was not written to its end")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(data, error.start, "It is not UTF-8")


def refuse_size(data: bytes) -> None:
    """Refuse an annotation file that no picture has.

    Raises:
        Malformed: it is too large.
    """
    if len(data) > MAX_BYTES:
        raise Malformed(f"It is larger than the {MAX_BYTES >> 20} MiB that are read.")


def _refuse(data: bytes, at: int, why: str) -> NoReturn:
    line = data.count(b"\n", 0, at) + 1
    raise Malformed(f"{why}: line {line}, byte {at:,}.", line, at)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, whatever ends them, but for blank ones."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return ((number, line) for number, line in enumerate(whole, 1) if line.strip())
