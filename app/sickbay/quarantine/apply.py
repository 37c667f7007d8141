"""Putting a received scan in force: its records become samples, findings and decisions.

Everything happens in the caller's one transaction and streams, so that the size of a data set
costs time but no memory. The status that counts is the one found now: decisions taken while
the scan was on its way are respected.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from sickbay.contract.finding import FileRecord
from sickbay.quarantine import file_findings, tally
from sickbay.quarantine.batches import Arrived, arrived
from sickbay.quarantine.decisions.subjects import CHUNK
from sickbay.quarantine.merge import Changes, merge
from sickbay.quarantine.tables import DataSet, Sample, Scan


def apply(session: Session, scan: Scan, at: datetime) -> Changes:
    """Merge the scan's records; return what they changed."""
    changes = Changes()
    for some in _chunks(arrived(session, scan.id)):
        samples = [one for one in some if isinstance(one, Arrived)]
        files = [one for one in some if isinstance(one, FileRecord)]
        merge(session, scan, samples, at, changes)
        file_findings.store(session, scan, files, at)
    file_findings.drop_others(session, scan)
    changes.gone = _set_aside(session, scan)
    _put_in_force(session, scan)
    tally.recount(session, scan.data_set_id)
    return changes


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
