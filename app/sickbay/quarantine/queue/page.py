"""A page of the queue: tiles, where the page lies in the whole, and where it goes on."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.contract.errors import BadInput
from sickbay.contract.rows import Row
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.kinds import (
    ArrayFacts,
    SampleKind,
    array_of,
    excerpt_of,
    row_and_kind,
)
from sickbay.quarantine.queue.matching import total
from sickbay.quarantine.queue.order import Place, count, following, preceding, walk
from sickbay.quarantine.tables import Action, DataSet, Decision, Finding, Sample, Status

PAGE_SIZE = 60
MAX_PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Tile:
    """A sample as the grid shows it."""

    id: int
    version: int
    path: str
    status: Status
    worst_code: str | None
    worst_severity: Severity | None
    findings: int
    thumbnail: str | None
    head: str | None
    """The first bytes in hex, where no decoder gave a picture."""
    phrase: str | None
    """The message of its worst finding."""
    split: str
    label: str
    size: int | None
    width: int | None
    height: int | None
    action: Action | None
    """The last move, by whom (a person or ``scan N``) and when; nothing if it never moved."""
    decided_by: str | None
    decided_at: datetime | None
    kind: SampleKind
    row: Row | None
    """Which row of which file it is, where it is one."""
    excerpt: str | None
    """The place in the text that its worst finding means."""
    array: ArrayFacts | None
    """Of the array that its worst finding means."""
    failures: int
    """In how many failures of training runs it was in the batch."""


@dataclass(frozen=True, slots=True)
class QueuePage:
    """Some tiles out of many. ``first`` and ``last`` count from 1; both are 0 on no tiles."""

    tiles: tuple[Tile, ...]
    next_after: str | None
    first: int
    last: int
    total: int


def page(
    session: Session, data_set_id: int, chosen: Filter, after: str | None = None, size: int = 60
) -> QueuePage:
    """Return the matching samples after a place, in at most seven queries whatever their number.

    Args:
        session: a reading one.
        data_set_id: whose samples.
        chosen: which, and in which order.
        after: a page's ``next_after``; nothing for the first page.
        size: tiles on the page, 1 to 200.

    Raises:
        BadInput: ``after`` or ``size`` is out of range.
    """
    if not 1 <= size <= MAX_PAGE_SIZE:
        raise BadInput(f"A page has 1 to {MAX_PAGE_SIZE} tiles.")
    place = None if after is None else _place(after)
    branches = following(chosen.sort, place)
    ids = walk(session, data_set_id, chosen, branches, limit=size + 1)
    shown = ids[:size]
    layout = session.scalar(select(DataSet.layout).where(DataSet.id == data_set_id)) or ""
    places, tiles = _tiles(session, shown, layout)
    before = 0
    if place is not None and places:
        before = count(session, data_set_id, chosen, preceding(chosen.sort, places[0]))
    all_shown = place is None and len(ids) <= size
    return QueuePage(
        tiles=tiles,
        next_after=_cursor(places[-1]) if len(ids) > size else None,
        first=before + 1 if tiles else 0,
        last=before + len(tiles) if tiles else 0,
        total=len(ids) if all_shown else total(session, data_set_id, chosen),
    )


def _tiles(
    session: Session, ids: Sequence[int], layout: str
) -> tuple[list[Place], tuple[Tile, ...]]:
    """Return the tiles in the order of their keys, with their places."""
    rows = {
        row.id: row
        for row in session.execute(select(*Sample.__table__.c).where(Sample.id.in_(ids)))
    }
    worst = _worst_findings(session, ids)
    decided = _last_decisions(session, ids)
    ordered = [rows[key] for key in ids]
    places = [Place(row.id, row.raw_path, row.held_at, row.failures) for row in ordered]
    return places, tuple(
        _tile(row, worst.get(row.id, (None, {})), decided.get(row.id, (None, None, None)), layout)
        for row in ordered
    )


def _tile(
    row: Any,
    worst: tuple[str | None, Mapping[str, Any]],
    decided: tuple[Action | None, str | None, datetime | None],
    layout: str,
) -> Tile:
    action, decided_by, decided_at = decided
    message, detail = worst
    of_file, kind = row_and_kind(layout, row.raw_path)
    return Tile(
        id=row.id,
        version=row.version,
        path=row.path,
        status=row.status,
        worst_code=row.worst_code,
        worst_severity=row.worst_severity,
        findings=row.findings,
        thumbnail=row.thumbnail,
        head=head_of(detail),
        phrase=message,
        split=row.split,
        label=row.label,
        size=row.size,
        width=row.width,
        height=row.height,
        action=action,
        decided_by=decided_by,
        decided_at=decided_at,
        kind=kind,
        row=of_file,
        excerpt=excerpt_of(detail),
        array=array_of(detail),
        failures=row.failures,
    )


def head_of(detail: Mapping[str, Any]) -> str | None:
    """Return a finding's first bytes of the file in hex, where it has them."""
    head = detail.get("head")
    return head if isinstance(head, str) and head else None


def _worst_findings(
    session: Session, ids: Sequence[int]
) -> dict[int, tuple[str, Mapping[str, Any]]]:
    """Return message and detail of each sample's first finding of its worst code."""
    firsts = (
        select(func.min(Finding.id))
        .join(Sample, Sample.id == Finding.sample_id)
        .where(Finding.sample_id.in_(ids), Finding.code == Sample.worst_code)
        .group_by(Finding.sample_id)
    )
    rows = session.execute(
        select(Finding.sample_id, Finding.message, Finding.detail).where(Finding.id.in_(firsts))
    )
    return {sample_id: (message, detail) for sample_id, message, detail in rows}


def _last_decisions(
    session: Session, ids: Sequence[int]
) -> dict[int, tuple[Action, str, datetime]]:
    newest = (
        select(func.max(Decision.id))
        .where(Decision.sample_id.in_(ids))
        .group_by(Decision.sample_id)
    )
    rows = session.execute(
        select(Decision.sample_id, Decision.action, Decision.reviewer, Decision.at).where(
            Decision.id.in_(newest)
        )
    )
    return {sample_id: (action, reviewer, at) for sample_id, action, reviewer, at in rows}


def _cursor(place: Place) -> str:
    """Return the place as text for a URL: time, key, failures, raw path."""
    held_at = "" if place.held_at is None else place.held_at.isoformat()
    numbers = f"{held_at}|{place.id}|{place.failures}|".encode()
    whole = numbers + place.raw_path
    return base64.urlsafe_b64encode(whole).decode("ascii").rstrip("=")


def _place(cursor: str) -> Place:
    """Return the place that a cursor stands for.

    Raises:
        BadInput: it is none of ours.
    """
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        whole = base64.b64decode(padded, altchars=b"-_", validate=True)
        held_at, key, failed, raw_path = whole.split(b"|", 3)
        number, failures = int(key), int(failed)
        moment = datetime.fromisoformat(held_at.decode("ascii")) if held_at else None
    except (ValueError, binascii.Error):
        raise BadInput("The page to go on from is unknown; start at the first.") from None
    numbers = 0 <= number < 1 << 63 and 0 <= failures < 1 << 63
    if not numbers or (moment is not None and moment.tzinfo is not UTC):
        raise BadInput("The page to go on from is unknown; start at the first.")
    return Place(number, raw_path, moment, failures)
