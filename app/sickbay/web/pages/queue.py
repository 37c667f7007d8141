"""The queue: tiles, facets, and what can be done with all that match."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from sickbay.quarantine.data_sets import DataSetCard
from sickbay.quarantine.decisions.moves import LEGAL
from sickbay.quarantine.decisions.reasons import REASONS, Reason
from sickbay.quarantine.queue.facets import facets as count_facets
from sickbay.quarantine.queue.facets import total
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.kinds import SampleKind
from sickbay.quarantine.queue.page import QueuePage as Found
from sickbay.quarantine.queue.page import Tile
from sickbay.quarantine.queue.page import page as read_page
from sickbay.quarantine.tables import Status
from sickbay.web.identity import Viewer, Who
from sickbay.web.language import _
from sickbay.web.pages import choices, words
from sickbay.web.pages.address import Address, any_status, of_pairs
from sickbay.web.pages.choices import Choice, FacetView
from sickbay.web.pages.likeness import NOT_HERE, NOTHING_WRONG, excerpt
from sickbay.web.pages.shell import Shell, enter, shell
from sickbay.web.pages.tiles import Look, look
from sickbay.web.parameters import DataSetName
from sickbay.web.render import page
from sickbay.web.site import Here

router = APIRouter()
PAGE_SIZE = 60
"""Tiles of one page: fills a wide screen, and divides by 2, 3, 4, 5 and 6 columns."""
_OFFERED = (words.KEEP, words.LEAVE_OUT, words.REOPEN)


@dataclass(frozen=True, slots=True)
class TileView:
    """One sample in the grid."""

    id: int
    version: int
    status: Status
    href: str
    path: str
    code: str | None
    severity: str
    more: int
    failures: int
    """In how many failures of training runs it was in the batch."""
    look: Look


@dataclass(frozen=True, slots=True)
class QueueView:
    """``queue/queue.html``."""

    shell: Shell
    title: str
    query: str
    tiles: tuple[TileView, ...]
    total: int
    first: int
    last: int
    start_href: str
    next_href: str
    ask_href: str
    here_href: str
    asking: bool
    facets: tuple[FacetView, ...]
    chips: tuple[Choice, ...]
    sorts: tuple[Choice, ...]
    sizes: tuple[Choice, ...]
    size: str
    acts: tuple[words.ActView, ...]
    ask_acts: tuple[words.ActView, ...]
    reasons: tuple[Reason, ...]
    downloads: dict[str, str]
    empty: str
    drop: tuple[Choice, ...]
    problem: str

    @property
    def next_count(self) -> int:
        """How many tiles the next page has."""
        return min(PAGE_SIZE, self.rest)

    @property
    def rest(self) -> int:
        """How many samples follow this page."""
        return self.total - self.last


@router.get("/datasets/{name}/review")
def review(request: Request, site: Here, me: Viewer, name: DataSetName) -> HTMLResponse:
    """Show one page of the queue that the query names."""
    here = of_pairs(name, request.query_params.multi_items())
    with site.database.reading() as session:
        shown = view(session, me, here)
    return page(request, "queue/queue.html", shown)


def view(session: Session, me: Who, here: Address, problem: str = "") -> QueueView:
    """Read one page of the queue.

    Raises:
        NotFound: there is no such data set.
        BadInput: the place in the queue cannot be read.
    """
    entered = enter(session, here.data_set)
    card = entered.card
    at_hand = card.root is not None
    suffix = f"?{here.query}" if here.query else ""
    found = read_page(session, card.id, here.chosen, here.after, PAGE_SIZE)
    return QueueView(
        shell=shell(session, me, entered, "review"),
        title=_title(here.chosen),
        query=here.query,
        tiles=tuple(tile_view(here, tile, suffix=suffix, at_hand=at_hand) for tile in found.tiles),
        total=found.total,
        first=found.first,
        last=found.last,
        start_href=here.narrowed().grid if here.after is not None else "",
        next_href=_next(here, found),
        ask_href=here.ask,
        here_href=here.grid,
        asking=here.asking,
        facets=choices.facets(here, count_facets(session, card.id, here.chosen)),
        chips=choices.chips(here),
        sorts=choices.sorts(here),
        sizes=choices.sizes(here),
        size=here.size,
        acts=_acts(here.chosen),
        ask_acts=_acts_on_all(here.chosen),
        reasons=REASONS,
        downloads={ending: here.listing(ending) for ending in ("tsv", "jsonl")},
        empty=_why_empty(card, here.chosen) if not found.tiles else "",
        drop=_ways_out(session, card.id, here) if not found.tiles else (),
        problem=problem,
    )


def tile_view(here: Address, tile: Tile, *, suffix: str, at_hand: bool) -> TileView:
    """Return a tile as the grid shows it.

    ``suffix`` is the queue's query, put together once; ``at_hand``: files are on this machine.
    """
    return TileView(
        id=tile.id,
        version=tile.version,
        status=tile.status,
        href=f"{here.base}/samples/{tile.id}{suffix}",
        path=tile.path,
        code=tile.worst_code,
        severity=str(tile.worst_severity or ""),
        more=max(tile.findings - 1, 0),
        failures=tile.failures,
        look=look(
            f"{here.base}/samples/{tile.id}",
            kind="thumbnail",
            thumbnail=tile.thumbnail,
            at_hand=at_hand and tile.kind is SampleKind.PICTURE,
            code=tile.worst_code,
            head=tile.head,
            phrase=tile.phrase or (NOT_HERE if tile.kind is SampleKind.PICTURE else NOTHING_WRONG),
            text=excerpt(tile.kind, tile.excerpt, tile.array),
        ),
    )


def _title(chosen: Filter) -> str:
    if any_status(chosen):
        return _("All samples")
    return ", ".join(choices.status_name(status) for status in chosen.status)


def _next(here: Address, found: Found) -> str:
    if found.next_after is None:
        return ""
    return Address(here.data_set, here.chosen, found.next_after, here.size).grid


def _acts(chosen: Filter) -> tuple[words.ActView, ...]:
    """Return the acts that some status of the filter allows."""
    return tuple(act for act in _OFFERED if LEGAL[act.action][0].intersection(chosen.status))


def _acts_on_all(chosen: Filter) -> tuple[words.ActView, ...]:
    """Return the acts that every status of the filter allows."""
    return tuple(act for act in _OFFERED if LEGAL[act.action][0].issuperset(chosen.status))


def _why_empty(card: DataSetCard, chosen: Filter) -> str:
    if not card.samples:
        return "unscanned"
    return "decided" if chosen == Filter() and not card.held else "filtered"


def _ways_out(session: Session, data_set_id: int, here: Address) -> tuple[Choice, ...]:
    """Return the filters whose removal would show something, with how much."""
    ways = []
    for chip, rest in choices.dropped(here):
        samples = total(session, data_set_id, rest)
        if samples:
            ways.append(Choice(chip.key, chip.value, chip.name, chip.href, samples))
    return tuple(ways)
