"""Findings of samples: as they were, and as a scan found them now."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding as Reported
from sickbay.quarantine.bulk import insert_rows
from sickbay.quarantine.tables import Finding, Source


@dataclass(frozen=True, slots=True)
class Known:
    """A finding on record."""

    code: str
    severity: Severity
    file: str
    item: str | None
    message: str
    detail: Mapping[str, Any]
    source: Source
    found_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """A sample whose findings by scan are others now."""

    sample_id: int
    known: Sequence[Known]
    reported: Sequence[Reported]


def known_of(session: Session, sample_ids: Sequence[int]) -> Mapping[int, list[Known]]:
    """Return the findings on record of each sample."""
    found: defaultdict[int, list[Known]] = defaultdict(list)
    if not sample_ids:
        return found
    rows = session.execute(
        select(
            Finding.sample_id,
            Finding.code,
            Finding.severity,
            Finding.file,
            Finding.item,
            Finding.message,
            Finding.detail,
            Finding.source,
            Finding.found_at,
        )
        .where(Finding.sample_id.in_(sample_ids))
        .order_by(Finding.id)
    )
    for sample_id, *rest in rows:
        found[sample_id].append(Known(*rest))
    return found


def same(known: Sequence[Known], reported: Sequence[Reported]) -> bool:
    """Say whether a scan reports just what is on record by scans."""
    before = [one for one in known if one.source is Source.SCAN]
    return len(before) == len(reported) and all(
        (old.code, old.severity, old.file, old.item, old.message, old.detail)
        == (new.code, new.severity, new.file, new.item, new.message, new.detail)
        for old, new in zip(before, reported, strict=True)
    )


def store(session: Session, data_set_id: int, changes: Sequence[Change], at: datetime) -> None:
    """Put the reported findings in place of those on record; what persists keeps its time."""
    had = [change.sample_id for change in changes if change.known]
    if had:
        session.execute(
            delete(Finding)
            .where(Finding.sample_id.in_(had), Finding.source == Source.SCAN)
            .execution_options(synchronize_session=False)
        )
    rows = [row for change in changes for row in _rows(data_set_id, change, at)]
    insert_rows(session, Finding, rows)


def _rows(data_set_id: int, change: Change, at: datetime) -> list[dict[str, Any]]:
    since = {
        (one.code, one.file, one.item): one.found_at
        for one in change.known
        if one.source is Source.SCAN
    }
    return [
        {
            "data_set_id": data_set_id,
            "sample_id": change.sample_id,
            "code": one.code,
            "severity": one.severity,
            "file": one.file,
            "item": one.item,
            "message": one.message,
            "detail": one.detail,
            "source": Source.SCAN,
            "found_at": since.get((one.code, one.file, one.item), at),
        }
        for one in change.reported
    ]
