"""Overview: what needs me, where the files stand, what was released."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from sickbay.contract.defects import DEFECTS
from sickbay.quarantine import data_sets
from sickbay.quarantine.data_sets import DataSetCard, ScanCard
from sickbay.quarantine.queue.facets import facets
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Status
from sickbay.quarantine.training import held_first
from sickbay.releases.counts import KEPT
from sickbay.releases.find import ReleaseView, releases
from sickbay.web.identity import Viewer, Who
from sickbay.web.language import _
from sickbay.web.pages import balance
from sickbay.web.pages.balance import Balance
from sickbay.web.pages.choices import status_name
from sickbay.web.pages.runs.summary import Training, training
from sickbay.web.pages.shell import Shell, bare, enter, shell
from sickbay.web.pages.whole import Whole, whole
from sickbay.web.parameters import Classes, DataSetName
from sickbay.web.render import page
from sickbay.web.site import Here

router = APIRouter()
_GAP = 0.25
"""Per cent of the bar between two parts."""


@dataclass(frozen=True, slots=True)
class Row:
    """A data set in the list of all."""

    name: str
    held: int
    samples: int
    scan: ScanCard | None
    release: ReleaseView | None


@dataclass(frozen=True, slots=True)
class DataSetsPage:
    """``overview/data_sets.html``."""

    shell: Shell
    cards: tuple[Row, ...]
    server: str


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the bar, in per cent of its width."""

    status: Status
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Census:
    """The bar of all that is not clean, which would drown it, and the numbers beside it."""

    parts: tuple[Part, ...]
    counts: tuple[tuple[Status, int], ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class CodeRow:
    """How many held samples have a finding of one code."""

    code: str
    severity: str
    meaning: str
    samples: int


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """``overview/overview.html``."""

    shell: Shell
    card: DataSetCard
    summary: Mapping[str, Any]
    skipped: tuple[tuple[str, int], ...]
    root_quoted: str
    census: Census
    codes: tuple[CodeRow, ...]
    balance: Balance
    warn_percent: str
    release: ReleaseView | None
    training: Training
    whole: Whole | None
    from_training: int

    @property
    def skipped_total(self) -> int:
        """How many files the scan skipped."""
        return sum(files for _reason, files in self.skipped)


@router.get("/")
def all_data_sets(request: Request, site: Here, me: Viewer) -> Response:
    """List the data sets; where there is one only, go to it."""
    with site.database.reading() as session:
        cards = data_sets.cards(session)
        if len(cards) == 1:
            return RedirectResponse(f"/datasets/{cards[0].name}", HTTPStatus.SEE_OTHER)
        shown = DataSetsPage(
            shell=bare(session, me, "overview"),
            cards=tuple(_row(session, card) for card in cards),
            server=str(request.base_url).rstrip("/"),
        )
    return page(request, "overview/data_sets.html", shown)


@router.get("/datasets/{name}")
def one_data_set(
    request: Request, site: Here, me: Viewer, name: DataSetName, classes: Classes = None
) -> Response:
    """Show one data set."""
    with site.database.reading() as session:
        shown = view(session, me, name, every_class=classes == "all")
    return page(request, "overview/overview.html", shown)


def view(session: Session, me: Who, name: str, *, every_class: bool) -> OverviewPage:
    """Read what the overview of a data set shows.

    Raises:
        NotFound: there is none of that name.
    """
    entered = enter(session, name)
    card = entered.card
    summary = card.scan.summary if card.scan else {}
    reasons: Mapping[str, int] = summary.get("reasons", {})
    return OverviewPage(
        shell=shell(session, me, entered, "overview"),
        card=card,
        summary=summary,
        skipped=tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        root_quoted=shlex.quote(card.root or ""),
        census=_census(card.counts),
        codes=_codes(session, card.id),
        balance=balance.table(_class_rows(session, card.id), whole=every_class),
        warn_percent=f"{balance.WARN_PERCENT:g}",
        release=_last_release(session, name),
        training=training(session, name),
        whole=whole(session, card.id, every_class=every_class),
        from_training=held_first(session, card.id) if card.held else 0,
    )


def _row(session: Session, card: DataSetCard) -> Row:
    return Row(card.name, card.held, card.samples, card.scan, _last_release(session, card.name))


def _last_release(session: Session, name: str) -> ReleaseView | None:
    return next(iter(releases(session, name)), None)


def _census(counts: Mapping[Status, int]) -> Census:
    order = (Status.HELD, Status.APPROVED, Status.REPAIRED, Status.EXCLUDED)
    total = sum(counts[status] for status in order)
    parts, start = [], 0.0
    for status in order:
        if counts[status]:
            width = 100 * counts[status] / total
            parts.append(Part(status, start, max(width - _GAP, 0.5)))
            start += width
    names = ", ".join(f"{counts[status]:,} {status_name(status).lower()}" for status in order)
    return Census(
        parts=tuple(parts),
        counts=tuple((status, counts[status]) for status in (*order, Status.CLEAN)),
        sentence=_("Of those not clean: %s") % names,
    )


def _codes(session: Session, data_set_id: int) -> tuple[CodeRow, ...]:
    counted = facets(session, data_set_id, Filter(status=(Status.HELD,))).code
    return tuple(
        CodeRow(found.code, str(found.severity), found.meaning, count.samples)
        for count in counted
        if (found := DEFECTS.get(str(count.value)))
    )


def _class_rows(session: Session, data_set_id: int) -> tuple[balance.ClassRow, ...]:
    """Compare all classes with what would be kept if everything held were left out."""
    before = facets(session, data_set_id, Filter(status=tuple(Status))).label
    kept = facets(session, data_set_id, Filter(status=KEPT)).label
    return balance.rows(
        {str(count.value): count.samples for count in before},
        {str(count.value): count.samples for count in kept},
    )
