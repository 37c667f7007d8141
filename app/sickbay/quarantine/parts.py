"""Parts of a scan that say what the scan in force said: neither sent nor merged again.

A part is a batch of the scan in force, known by the digest of its content. Equal content means
the same samples with the same facts and findings; whatever people decided on them since stands,
as it would after a merge that finds nothing new.
"""

import heapq
from collections.abc import Iterator
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound, Refused
from sickbay.quarantine.part_tables import ScanPart
from sickbay.quarantine.tables import FileFinding, Sample, Scan, ScanBatch

MOST_TOLD = 10_000
"""Parts that a sender is told of: some twenty million samples."""


def known(session: Session, data_set_id: int) -> tuple[str, ...]:
    """Return the contents of the parts of the scan in force."""
    query = select(ScanPart.content).where(ScanPart.data_set_id == data_set_id)
    return tuple(session.scalars(query.order_by(ScanPart.id).limit(MOST_TOLD)))


def part(session: Session, data_set_id: int, content: str) -> ScanPart:
    """Return a part of the scan in force.

    Raises:
        NotFound: it has none of that content (any more).
    """
    found = session.scalar(
        select(ScanPart).where(ScanPart.data_set_id == data_set_id, ScanPart.content == content)
    )
    if found is None:
        raise NotFound("The scan in force has no such part; send its records.")
    return found


def refuse_outdated(session: Session, scan: Scan) -> None:
    """Refuse a scan that repeats parts of one that is not in force any more.

    Raises:
        Refused: another scan of the data set finished in between.
    """
    still = select(ScanPart.content).where(ScanPart.data_set_id == scan.data_set_id)
    lost = select(ScanBatch.id).where(
        ScanBatch.scan_id == scan.id, ScanBatch.repeats.is_(True), ScanBatch.content.not_in(still)
    )
    if session.scalar(lost.limit(1)) is not None:
        raise Refused(
            "Another scan of this data set finished while this one was on its way. Nothing was "
            "changed; scan again."
        )


def mark_found(session: Session, scan: Scan, first: bytes, last: bytes) -> None:
    """Note that the scan found again what lies between two raw paths."""
    for statement in (
        update(Sample).where(*_between(Sample, scan, first, last), Sample.gone.is_(False)),
        update(FileFinding).where(*_between(FileFinding, scan, first, last)),
    ):
        session.execute(
            statement.values(scan_id=scan.id).execution_options(synchronize_session=False)
        )


def paths(session: Session, scan: Scan, first: bytes, last: bytes) -> Iterator[bytes]:
    """Yield the raw paths of the samples and files between two, in order."""
    samples = select(Sample.raw_path).where(
        *_between(Sample, scan, first, last), Sample.gone.is_(False)
    )
    files = select(FileFinding.raw_path).where(*_between(FileFinding, scan, first, last))
    return heapq.merge(
        session.scalars(samples.order_by(Sample.raw_path)),
        session.scalars(files.distinct().order_by(FileFinding.raw_path)),
    )


def _between(
    kind: type[Sample] | type[FileFinding], scan: Scan, first: bytes, last: bytes
) -> tuple[Any, ...]:
    return (kind.data_set_id == scan.data_set_id, kind.raw_path.between(first, last))


def keep(session: Session, scan: Scan) -> None:
    """Let the batches of a scan that is put in force be the parts to compare with."""
    session.execute(delete(ScanPart).where(ScanPart.data_set_id == scan.data_set_id))
    columns = ("content", "samples", "held", "not_decoded", "first_path", "last_path")
    batches = (
        select(Scan.data_set_id, *(getattr(ScanBatch, name) for name in columns))
        .join(Scan, Scan.id == ScanBatch.scan_id)
        .where(ScanBatch.scan_id == scan.id, ScanBatch.content.is_not(None))
        .order_by(ScanBatch.number)
    )
    session.execute(insert(ScanPart).from_select(["data_set_id", *columns], batches))
