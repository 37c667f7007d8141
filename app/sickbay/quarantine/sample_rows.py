"""Rows of ``sample``, read and written many at a time, without objects of the ORM between."""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.quarantine.batches import Arrived
from sickbay.quarantine.bulk import insert_rows
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.tables import Sample, Scan, Status

Row: TypeAlias = Any
"""A row of ``sample``, columns by name."""


def by_raw_path(session: Session, data_set_id: int, some: Iterable[Arrived]) -> dict[bytes, Row]:
    """Return the data set's samples with these raw paths, gone ones included."""
    raw_paths = [one.record.path.raw for one in some]
    rows = session.execute(
        select(*Sample.__table__.c).where(
            Sample.data_set_id == data_set_id, Sample.raw_path.in_(raw_paths)
        )
    )
    return {row.raw_path: row for row in rows}


def insert_new(session: Session, scan: Scan, added: Sequence[Arrived]) -> dict[bytes, Row]:
    """Insert samples as clean, until they are judged; return their rows."""
    if not added:
        return {}
    rows = {one.record.path.raw: _first(scan, one) for one in added}
    insert_rows(session, Sample, list(rows.values()))
    keys = session.execute(
        select(Sample.raw_path, Sample.id).where(
            Sample.data_set_id == scan.data_set_id, Sample.raw_path.in_(rows)
        )
    )
    return {raw: SimpleNamespace(**rows[raw], id=key) for raw, key in keys}


def _first(scan: Scan, one: Arrived) -> dict[str, Any]:
    return {
        "data_set_id": scan.data_set_id,
        "raw_path": one.record.path.raw,
        "scan_id": scan.id,
        "version": 1,
        **Standing(Status.CLEAN).columns(),
        **facts(one, [(each.code, each.severity) for each in one.record.findings], None),
    }


def facts(
    one: Arrived, severities: Sequence[tuple[str, Severity]], thumbnail: str | None
) -> dict[str, Any]:
    """Return the columns that a record sets; ``thumbnail`` is the one to keep."""
    record = one.record
    code, severity = min(severities, key=lambda pair: pair[1].rank, default=(None, None))
    return {
        "path": record.path.text,
        "split": record.split,
        "label": record.label,
        "size": record.size,
        "mtime_ns": record.mtime_ns,
        "sha256": record.sha256,
        "width": record.width,
        "height": record.height,
        "format": record.format,
        "mode": record.mode,
        "decoded": record.decoded,
        "stat": one.stat,
        "thumbnail": one.thumbnail or thumbnail,
        "worst_code": code,
        "worst_severity": severity,
        "findings": len(severities),
        "gone": False,
    }


def mark_found(session: Session, scan: Scan, keys: Sequence[int]) -> None:
    """Note that the scan found these samples."""
    session.execute(
        update(Sample)
        .where(Sample.id.in_(keys))
        .values(scan_id=scan.id)
        .execution_options(synchronize_session=False)
    )
