"""Putting a received scan in force: its records become samples, findings and decisions.

Everything happens in the caller's one transaction and streams, so that the size of a data set
costs time but no memory. The status that counts is the one found now: decisions taken while
the scan was on its way are respected.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from sickbay.contract.finding import FileRecord
from sickbay.quarantine import file_findings, parts, tally
from sickbay.quarantine.batches import Ancestry, Arrived, records_of
from sickbay.quarantine.decisions.subjects import CHUNK
from sickbay.quarantine.merge import Changes, merge
from sickbay.quarantine.tables import DataSet, Sample, Scan, ScanBatch


def apply(session: Session, scan: Scan, at: datetime) -> Changes:
    """Merge the scan's records; return what they changed.

    Raises:
        BadInput: a sample is a folder of another.
        Refused: parts it repeats are not in force any more.
    """
    parts.refuse_outdated(session, scan)
    changes = Changes()
    batches = _batches(session, scan)
    ancestry = Ancestry()
    mixed = not all(batch.repeats for batch in batches)
    for batch in batches:
        if batch.repeats:
            _repeat(session, scan, batch, ancestry if mixed else None)
            changes.not_decoded += batch.not_decoded
        else:
            records = records_of(session, scan.id, batch.number, ancestry)
            _merge(session, scan, records, at, changes)
    file_findings.drop_others(session, scan)
    changes.gone = _set_aside(session, scan)
    _put_in_force(session, scan)
    tally.recount(session, scan.data_set_id)
    parts.keep(session, scan)
    return changes


def _batches(session: Session, scan: Scan) -> list[Any]:
    return list(
        session.execute(
            select(
                ScanBatch.number,
                ScanBatch.repeats,
                ScanBatch.first_path,
                ScanBatch.last_path,
                ScanBatch.not_decoded,
            )
            .where(ScanBatch.scan_id == scan.id)
            .order_by(ScanBatch.number)
        )
    )


def _repeat(session: Session, scan: Scan, batch: Any, ancestry: Ancestry | None) -> None:
    """Take a part as it is; where others are new, none of them may lie in one of its files."""
    if ancestry is not None:
        for path in parts.paths(session, scan, batch.first_path, batch.last_path):
            ancestry.follow(path)
    parts.mark_found(session, scan, batch.first_path, batch.last_path)


def _merge(
    session: Session,
    scan: Scan,
    records: Iterable[Arrived | FileRecord],
    at: datetime,
    changes: Changes,
) -> None:
    for some in _chunks(records):
        samples = [one for one in some if isinstance(one, Arrived)]
        files = [one for one in some if isinstance(one, FileRecord)]
        merge(session, scan, samples, at, changes)
        file_findings.store(session, scan, files, at)


def _chunks(walking: Iterable[Arrived | FileRecord]) -> Iterator[list[Arrived | FileRecord]]:
    rest = iter(walking)
    while some := list(islice(rest, CHUNK)):
        yield some


def _set_aside(session: Session, scan: Scan) -> int:
    """Mark as gone what the scan did not find; return how many were there until now."""
    lost = (
        Sample.data_set_id == scan.data_set_id,
        Sample.gone.is_(False),
        Sample.scan_id != scan.id,
    )
    number = session.scalar(select(func.count()).select_from(Sample).where(*lost)) or 0
    session.execute(
        update(Sample)
        .where(*lost)
        .values(gone=True, version=Sample.version + 1)
        .execution_options(synchronize_session=False)
    )
    return number


def _put_in_force(session: Session, scan: Scan) -> None:
    data_set = session.get_one(DataSet, scan.data_set_id)
    data_set.layout, data_set.classes, data_set.scan_id = scan.layout, scan.classes, scan.id
    if scan.root is not None:
        data_set.root = scan.root
    session.flush()
