"""The quarantine list as it stands, streamed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.contract.paths import SamplePath
from sickbay.quarantine.found import Known, known_of
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.order import Place, following, walk
from sickbay.quarantine.tables import Action, Decision, Sample, Status

CHUNK = 500
_QUARANTINE = Filter(status=tuple(status for status in Status if status is not Status.CLEAN))


@dataclass(frozen=True, slots=True)
class ListedRow:
    """One sample of the list, with all that is known of it."""

    path: str
    path_bytes: str | None
    """The raw path in base64 where it is not UTF-8."""
    codes: tuple[str, ...]
    worst_code: str | None
    worst_severity: Severity | None
    message: str | None
    """Of the worst finding."""
    file: str | None
    item: str | None
    """Where the worst finding is: in the sample's own file, or in one of annotations or rows."""
    found_at: datetime | None
    """When the worst finding was first made."""
    status: Status
    split: str
    label: str
    size: int | None
    sha256: str | None
    decision: Action | None
    reason: str
    note: str
    reviewer: str | None
    decided_at: datetime | None
    replacement: str | None


def rows(session: Session, data_set_id: int, chosen: Filter | None = None) -> Iterator[ListedRow]:
    """Yield the samples that match, in order of raw path; without a filter all but the clean.

    A few hundred are in memory at a time; keep the session open until the last.
    """
    chosen = replace(chosen or _QUARANTINE, sort="path")
    place: Place | None = None
    while ids := walk(session, data_set_id, chosen, following("path", place), limit=CHUNK):
        samples = session.execute(
            select(*Sample.__table__.c).where(Sample.id.in_(ids)).order_by(Sample.raw_path)
        ).all()
        known, decided = known_of(session, ids), _decisions(session, ids)
        for sample in samples:
            yield _row(sample, known.get(sample.id, ()), decided.get(sample.id))
        place = Place(samples[-1].id, samples[-1].raw_path, None)


def _decisions(session: Session, ids: Sequence[int]) -> dict[int, Any]:
    """Return each sample's newest decision."""
    newest = (
        select(func.max(Decision.id))
        .where(Decision.sample_id.in_(ids))
        .group_by(Decision.sample_id)
    )
    found = session.execute(
        select(
            Decision.sample_id,
            Decision.action,
            Decision.reason,
            Decision.note,
            Decision.reviewer,
            Decision.at,
        ).where(Decision.id.in_(newest))
    )
    return {row.sample_id: row for row in found}


def _row(sample: Any, known: Sequence[Known], decided: Any) -> ListedRow:
    worst = min(known, key=lambda one: one.severity.rank, default=None)
    return ListedRow(
        path=sample.path,
        path_bytes=SamplePath(sample.raw_path).base64,
        codes=tuple(dict.fromkeys(one.code for one in known)),
        worst_code=sample.worst_code,
        worst_severity=sample.worst_severity,
        message=None if worst is None else worst.message,
        file=None if worst is None else worst.file,
        item=None if worst is None else worst.item,
        found_at=None if worst is None else worst.found_at,
        status=sample.status,
        split=sample.split,
        label=sample.label,
        size=sample.size,
        sha256=sample.sha256,
        decision=None if decided is None else decided.action,
        reason="" if decided is None else decided.reason,
        note="" if decided is None else decided.note,
        reviewer=None if decided is None else decided.reviewer,
        decided_at=None if decided is None else decided.at,
        replacement=sample.replacement,
    )
