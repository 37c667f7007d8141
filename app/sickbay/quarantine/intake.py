"""Scans arriving: a ticket, numbered batches, and an end that puts them in force."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from sickbay.contract.errors import Conflict, NotFound, Refused
from sickbay.contract.finding import ScanRecord, SummaryRecord
from sickbay.database.tables import now
from sickbay.quarantine import apply, data_sets, parts
from sickbay.quarantine.batches import Batch, check
from sickbay.quarantine.tables import DataSet, Scan, ScanBatch, ScanState

__all__ = [
    "Batch",
    "Ticket",
    "abandon",
    "begin",
    "check",
    "finish",
    "progress",
    "receive",
    "repeat",
]


@dataclass(frozen=True, slots=True)
class Ticket:
    """A scan on its way in.

    ``known`` are the contents of the parts of the scan in force, told at the beginning: what
    says the same need not be sent.
    """

    key: str
    number: int
    next_batch: int
    state: ScanState
    known: tuple[str, ...] = ()


def begin(session: Session, header: ScanRecord, by: str, root: str | None = None) -> Ticket:
    """Open a scan of the header's data set, which is registered where it is new.

    ``root`` is given by the local command line only. Nothing of the scan shows before
    :func:`finish`.

    Raises:
        BadInput: the header's name cannot name a data set.
    """
    data_set_id = session.scalar(select(DataSet.id).where(DataSet.name == header.dataset))
    if data_set_id is None:
        made = data_sets.register(session, name=header.dataset, layout=header.layout)
        data_set_id = made.id
    numbered = select(func.max(Scan.number)).where(Scan.data_set_id == data_set_id)
    scan = Scan(
        key=uuid4().hex,
        data_set_id=data_set_id,
        number=(session.scalar(numbered) or 0) + 1,
        state=ScanState.RECEIVING,
        layout=header.layout,
        classes=list(header.classes),
        root=root,
        policy=dict(header.policy),
        depth=header.depth,
        labels=None,
        findings=None,
        summary=None,
        started_by=by,
        started_at=now(),
        finished_at=None,
    )
    session.add(scan)
    session.flush()
    return Ticket(scan.key, scan.number, 0, scan.state, parts.known(session, data_set_id))


def progress(session: Session, key: str) -> Ticket:
    """Return how far a scan came; an upload that was cut off goes on from there.

    Raises:
        NotFound: there is no such scan.
    """
    scan = _scan(session, key)
    return Ticket(scan.key, scan.number, _next_batch(session, scan), scan.state)


def receive(session: Session, key: str, number: int, batch: Batch) -> int:
    """Store one checked batch; return the number of the next. The same batch again is free.

    Raises:
        NotFound: there is no such scan.
        Conflict: another batch of that number was received before.
        Refused: a batch before it is missing, its paths do not follow on, or the scan is over.
    """
    scan = _scan(session, key)
    if not _is_next(session, scan, number, batch.sha256):
        return _next_batch(session, scan)
    _refuse_disorder(session, scan, number, batch.first_path)
    session.execute(
        insert(ScanBatch).values(
            scan_id=scan.id,
            number=number,
            sha256=batch.sha256,
            records=batch.packed,
            extras={path: dict(beside) for path, beside in batch.extras.items()},
            samples=batch.samples,
            held=batch.held,
            not_decoded=batch.not_decoded,
            first_path=batch.first_path,
            last_path=batch.last_path,
            content=batch.content,
            repeats=False,
        )
    )
    return number + 1


def repeat(session: Session, key: str, number: int, content: str) -> int:
    """Take a batch as received that says what a part of the scan in force said.

    Return the number of the next batch. The same again is free.

    Raises:
        NotFound: there is no such scan, or no such part (any more): send the records.
        Conflict: another batch of that number was received before.
        Refused: as of :func:`receive`.
    """
    scan = _scan(session, key)
    if not _is_next(session, scan, number, content):
        return _next_batch(session, scan)
    part = parts.part(session, scan.data_set_id, content)
    _refuse_disorder(session, scan, number, part.first_path)
    session.execute(
        insert(ScanBatch).values(
            scan_id=scan.id,
            number=number,
            sha256=content,
            records=b"",
            extras={},
            samples=part.samples,
            held=part.held,
            not_decoded=part.not_decoded,
            first_path=part.first_path,
            last_path=part.last_path,
            content=content,
            repeats=True,
        )
    )
    return number + 1


_OVER = "This scan is over: it, or a newer one of this data set, has finished. Scan again."


def _is_next(session: Session, scan: Scan, number: int, sha256: str) -> bool:
    """Say whether the batch is the one to come next; nothing where it is here already."""
    expected = _next_batch(session, scan)
    if scan.state is not ScanState.RECEIVING:
        raise Refused(_OVER)
    if number > expected:
        raise Refused(f"The scan takes batch {expected} next, not {number}; send that first.")
    if number < expected:
        _refuse_other_content(session, scan, number, sha256)
    return number == expected


def _refuse_other_content(session: Session, scan: Scan, number: int, sha256: str) -> None:
    before = session.scalar(
        select(ScanBatch.sha256).where(ScanBatch.scan_id == scan.id, ScanBatch.number == number)
    )
    if before != sha256:
        raise Conflict(f"Batch {number} was received before with other content; scan again.")


def _refuse_disorder(session: Session, scan: Scan, number: int, first_path: bytes) -> None:
    last = session.scalar(
        select(ScanBatch.last_path).where(
            ScanBatch.scan_id == scan.id, ScanBatch.number == number - 1
        )
    )
    if last is not None and first_path <= last:
        raise Refused("The batch's first path does not come after the last one received.")


def finish(session: Session, key: str, summary: SummaryRecord) -> Mapping[str, Any]:
    """Put the scan in force, in this one transaction; again it only tells the result again.

    Returns:
        The summary's numbers, ``scan`` (its number), and how many samples are ``new``, ``gone``,
        ``held_again``, ``cleared`` and ``not_decoded``.

    Raises:
        NotFound: there is no such scan.
        BadInput: a sample is a folder of another.
        Refused: records are missing, the scan is over, or parts it repeats are not in force.
    """
    scan = _scan(session, key)
    if scan.state is ScanState.FINISHED:
        return scan.summary or {}
    if scan.state is ScanState.ABANDONED:
        raise Refused(_OVER)
    _refuse_other_totals(session, scan, summary)
    at = now()
    changes = apply.apply(session, scan, at)
    whole = asdict(summary)
    of_set = {"labels": whole.pop("labels"), "findings": list(whole.pop("findings"))}
    result = {**whole, "scan": scan.number, **asdict(changes)}
    session.execute(
        update(Scan)
        .where(Scan.id == scan.id)
        .values(state=ScanState.FINISHED, summary=result, finished_at=at, **of_set)
    )
    _abandon_older(session, scan)
    session.execute(delete(ScanBatch).where(ScanBatch.scan_id == scan.id))
    return result


def _refuse_other_totals(session: Session, scan: Scan, summary: SummaryRecord) -> None:
    """Refuse a summary that does not fit the records: some were lost, or counted wrongly.

    Skipped files may have records (a picture that nothing here can decode) or none.
    """
    samples, held = session.execute(
        select(func.sum(ScanBatch.samples), func.sum(ScanBatch.held)).where(
            ScanBatch.scan_id == scan.id
        )
    ).one()
    samples, held = samples or 0, held or 0
    least = summary.clean + summary.held
    if held != summary.held or not least <= samples <= least + summary.skipped:
        raise Refused(
            f"The scan's summary counts {summary.found} samples, {summary.held} of them held, but "
            f"{samples} and {held} were received. Nothing was changed; scan again."
        )
    if not samples and data_sets.card(session, scan.data_set_id).samples:
        raise Refused(
            "The scan found no samples where there were some before. Nothing was changed; check "
            "that the folder is mounted, then scan again."
        )


def _abandon_older(session: Session, scan: Scan) -> None:
    older = select(Scan.id).where(
        Scan.data_set_id == scan.data_set_id,
        Scan.state == ScanState.RECEIVING,
        Scan.number < scan.number,
    )
    _end(session, list(session.scalars(older)))


def abandon(session: Session, key: str) -> None:
    """Give up a scan that has not finished; what it brought is dropped.

    Raises:
        NotFound: there is no such scan.
        Refused: it has finished.
    """
    scan = _scan(session, key)
    if scan.state is ScanState.FINISHED:
        raise Refused("The scan has finished and is in force.")
    _end(session, [scan.id])


def _end(session: Session, scan_ids: list[int]) -> None:
    session.execute(delete(ScanBatch).where(ScanBatch.scan_id.in_(scan_ids)))
    session.execute(update(Scan).where(Scan.id.in_(scan_ids)).values(state=ScanState.ABANDONED))


def _scan(session: Session, key: str) -> Scan:
    scan = session.scalar(select(Scan).where(Scan.key == key))
    if scan is None:
        raise NotFound("There is no such scan; begin one.")
    return scan


def _next_batch(session: Session, scan: Scan) -> int:
    highest = session.scalar(select(func.max(ScanBatch.number)).where(ScanBatch.scan_id == scan.id))
    return 0 if highest is None else highest + 1
