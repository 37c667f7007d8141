"""How a sample and its replacement look, and where its copies are."""

from dataclasses import dataclass

from sickbay.quarantine.queue.kinds import ArrayFacts, SampleKind
from sickbay.quarantine.queue.sample import SampleView
from sickbay.quarantine.tables import Status
from sickbay.web.language import _
from sickbay.web.pages.address import Address
from sickbay.web.pages.choices import Choice
from sickbay.web.pages.tiles import Look, look

_COPY_CODES = frozenset(
    {
        "image.duplicate",
        "image.near-duplicate",
        "text.duplicate",
        "array.duplicate",
        "set.split-leak",
    }
)
_COPIES_SHOWN = 8
NOT_HERE = _("The file is on another machine.")
NOTHING_WRONG = _("Nothing wrong was found in it.")
_TIMES = "\u00d7"


@dataclass(frozen=True, slots=True)
class Copies:
    """Links to samples with the same content, and to those with the same fault or folder."""

    same: tuple[Choice, ...]
    like: tuple[Choice, ...]


def looks(address: str, sample: SampleView, *, at_hand: bool) -> tuple[Look, Look | None]:
    """Return how the sample looks as it is, and its replacement where it has one.

    ``at_hand`` says whether the data set's files are on this machine.
    """
    worst = sample.findings[0] if sample.findings else None
    pictured = sample.kind is SampleKind.PICTURE
    as_it_is = look(
        address,
        kind="preview",
        thumbnail=sample.thumbnail,
        at_hand=at_hand and pictured and sample.sha256 is not None,
        code=worst.code if worst else None,
        head=sample.head,
        phrase=worst.message if worst else NOT_HERE if pictured else NOTHING_WRONG,
        width=sample.width,
        text=excerpt(sample.kind, sample.excerpt, sample.array),
    )
    if sample.replacement is None:
        return as_it_is, None
    new = sample.replacement
    return as_it_is, look(
        address, kind="replacement/preview", thumbnail=new.sha256, at_hand=True, width=new.width
    )


def excerpt(kind: SampleKind, text: str | None, array: ArrayFacts | None) -> str:
    """Say what there is to see of a sample that is no picture: its text, or its arrays' form."""
    if kind is SampleKind.PICTURE:
        return ""
    if kind is SampleKind.ARRAY and array is not None:
        shape = "" if array.shape is None else _TIMES.join(map(str, array.shape)) or _("one number")
        return " ".join(part for part in (array.dtype or "", shape) if part)
    return text if text and text.strip() else ""


def captions(sample: SampleView) -> tuple[str, str]:
    """Say in numbers what the sample and its replacement are."""
    new = sample.replacement
    if sample.row is not None:
        return f"{sample.row.item}, {sample.row.file}", ""
    return _numbers(sample.width, sample.height, sample.format), (
        _numbers(new.width, new.height, new.format) if new else ""
    )


def _numbers(width: int | None, height: int | None, kind: str | None) -> str:
    return f"{width} {_TIMES} {height} {kind or ''}".strip() if width and height else kind or ""


def copies(here: Address, sample: SampleView) -> Copies:
    """Return links to what belongs together with this sample."""
    paths = {
        str(path): None
        for finding in sample.findings
        if finding.code in _COPY_CODES
        for path in finding.detail.get("others", ())
    }
    everywhere = Address(here.data_set, here.chosen).narrowed(
        status=tuple(Status), code=None, split=None, label=None
    )
    same = tuple(
        Choice("path", path, path, everywhere.narrowed(path=path).grid)
        for path in list(paths)[:_COPIES_SHOWN]
    )
    return Copies(same, tuple(_like(here, sample)))


def _like(here: Address, sample: SampleView) -> list[Choice]:
    held = Address(here.data_set, here.chosen, size=here.size)
    links = []
    if sample.findings:
        code = sample.findings[0].code
        target = held.narrowed(status=(Status.HELD,), code=code, split=None, label=None, path="")
        links.append(Choice("code", code, _("held with the same code"), target.grid))
    folder, slash, _name = sample.path.rpartition("/")
    if slash:
        target = held.narrowed(
            status=tuple(Status), code=None, split=None, label=None, path=f"{folder}/"
        )
        links.append(Choice("path", folder, _("same folder"), target.grid))
    return links
