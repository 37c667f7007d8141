"""One sample: its picture, what is wrong with it, and the decision."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.quarantine.decisions.history import Entry
from sickbay.quarantine.decisions.reasons import REASONS, Reason
from sickbay.quarantine.queue.place import Neighbours
from sickbay.quarantine.queue.place import place as find_place
from sickbay.quarantine.queue.sample import SampleView
from sickbay.quarantine.queue.sample import view as read_sample
from sickbay.quarantine.tables import Status
from sickbay.web.identity import Viewer, Who
from sickbay.web.pages import words
from sickbay.web.pages.address import Address, of_pairs
from sickbay.web.pages.hexdump import DumpLine, dump
from sickbay.web.pages.likeness import Copies, captions, copies, looks
from sickbay.web.pages.overlay import Overlay, overlay
from sickbay.web.pages.replacement import MAX_REPLACEMENT
from sickbay.web.pages.seen import SeenView, seen_views
from sickbay.web.pages.shell import Shell, enter, shell
from sickbay.web.pages.tiles import Look
from sickbay.web.parameters import DataSetName, SampleId
from sickbay.web.render import page
from sickbay.web.site import Here, Site

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the last act was not carried out."""

    kind: str
    title: str
    sentence: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the reader had chosen already, so that a refusal loses nothing."""

    reason: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An act that was not carried out."""

    problem: Problem
    kept: Kept
    status: HTTPStatus


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the history."""

    at: datetime
    reviewer: str
    words: str
    because: str
    became: Status
    note: str
    undone: bool


@dataclass(frozen=True, slots=True)
class SamplePage:
    """``sample/sample.html``."""

    shell: Shell
    sample: SampleView
    here: str
    query: str
    grid_href: str
    previous_href: str
    next_href: str
    skip_href: str
    place: Neighbours
    in_queue: bool
    look: Look
    alt: str
    caption: str
    preview_href: str
    replacement_look: Look | None
    replacement_caption: str
    dump: tuple[DumpLine, ...]
    overlay: Overlay | None
    seen: tuple[SeenView, ...]
    copies: Copies
    blocking: int
    modified: datetime | None
    history: tuple[Told, ...]
    decided: Told | None
    acts: tuple[words.ActView, ...]
    reasons: tuple[Reason, ...]
    kept: Kept
    problem: Problem | None
    largest_file: int = MAX_REPLACEMENT
    """Bytes of a replacement at most: the browser says so before it sends more in vain."""


@router.get("/datasets/{name}/samples/{sample_id}")
def show(
    request: Request, site: Here, me: Viewer, name: DataSetName, sample_id: SampleId
) -> HTMLResponse:
    """Show one sample, at its place in the queue that the query names."""
    here = of_pairs(name, request.query_params.multi_items())
    return answer(request, site, me, here, sample_id=sample_id)


def answer(
    request: Request,
    site: Site,
    me: Who,
    here: Address,
    *,
    sample_id: int,
    refusal: Refusal | None = None,
) -> HTMLResponse:
    """Render a sample's page, with what stood in the way of an act where there is something."""
    with site.database.reading() as session:
        shown = view(session, me, here, sample_id, refusal)
    status = refusal.status if refusal else HTTPStatus.OK
    return page(request, "sample/sample.html", shown, status_code=status)


def view(
    session: Session, me: Who, here: Address, sample_id: int, refusal: Refusal | None
) -> SamplePage:
    """Read all that one sample's page shows.

    Raises:
        NotFound: there is no such data set, or no such sample in it.
    """
    entered = enter(session, here.data_set)
    card = entered.card
    sample = read_sample(session, card.id, sample_id)
    place = find_place(session, card.id, here.chosen, sample_id)
    history = tuple(_told(entry) for entry in sample.history)
    address = f"{here.base}/samples/{sample_id}"
    as_it_is, replaced = looks(address, sample, at_hand=card.root is not None)
    caption, replaced_caption = captions(sample)
    following = here.sample(place.next) if place.next else ""
    return SamplePage(
        shell=shell(session, me, entered, "review"),
        sample=sample,
        here=address,
        query=here.query,
        grid_href=f"{here.grid}#s{sample_id}",
        previous_href=here.sample(place.previous) if place.previous else "",
        next_href=following,
        skip_href=following or here.grid,
        place=place,
        in_queue=place.number <= place.total and sample.status in here.chosen.status,
        look=as_it_is,
        alt=_alt(sample),
        caption=caption,
        preview_href=f"{address}/preview",
        replacement_look=replaced,
        replacement_caption=replaced_caption,
        dump=dump(sample.head or ""),
        overlay=overlay(sample) if as_it_is.src else None,
        seen=seen_views(session, sample_id),
        copies=copies(here, sample),
        blocking=sum(finding.severity is Severity.BLOCK for finding in sample.findings),
        modified=_moment(sample.mtime_ns),
        history=history,
        decided=_decided(sample, history),
        acts=_acts(sample),
        reasons=REASONS,
        kept=refusal.kept if refusal else Kept(),
        problem=refusal.problem if refusal else None,
    )


def _told(entry: Entry) -> Told:
    return Told(
        at=entry.at,
        reviewer=entry.reviewer,
        words=words.in_history(entry.action),
        because=words.reason_label(entry.reason),
        became=entry.became,
        note=entry.note,
        undone=entry.undone,
    )


def _decided(sample: SampleView, history: tuple[Told, ...]) -> Told | None:
    """Return the decision in force, or nothing where one is due."""
    if sample.status in {Status.HELD, Status.CLEAN}:
        return None
    return next(
        (one for one in history if one.became is sample.status and not one.undone), history[0]
    )


def _acts(sample: SampleView) -> tuple[words.ActView, ...]:
    if sample.status is Status.CLEAN:
        return (words.HOLD, words.LEAVE_OUT)
    file = None if sample.row is None else sample.row.file
    refused = words.refusals(sample.allowed, sample.unsafe, file)
    offered = (words.KEEP, words.REPLACE, words.LEAVE_OUT)
    return tuple(words.with_refusal(act, refused.get(act.action, "")) for act in offered)


def _alt(sample: SampleView) -> str:
    """Say what can be seen of the fault, not what the picture shows."""
    if sample.findings:
        return words.seen(sample.findings[0].code, sample.findings[0].meaning)
    return words.seen("", "")


def _moment(mtime_ns: int | None) -> datetime | None:
    """Return a file's time, or nothing where it lies outside of what a date can be."""
    if mtime_ns is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=mtime_ns // 1000)
    except OverflowError:
        return None
