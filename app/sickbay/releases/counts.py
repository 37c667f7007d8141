"""How many samples a release holds, leaves out, and finds undecided."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.quarantine.tables import Sample, Status

KEPT = (Status.CLEAN, Status.APPROVED, Status.REPAIRED)


@dataclass(frozen=True, slots=True)
class Counts:
    """Samples by what becomes of them; ``kept`` includes approved and repaired ones."""

    samples: int
    kept: int
    approved: int
    repaired: int
    excluded: int
    pending: int
    bytes: int = 0
    """Bytes to train on; 0 where only the samples were counted."""

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)


def count(session: Session, data_set_id: int) -> Counts:
    """Count what a release made now would hold, without looking at its bytes."""
    query = (
        select(Sample.status, func.count())
        .where(Sample.data_set_id == data_set_id, Sample.gone.is_(False))
        .group_by(Sample.status)
    )
    return of_statuses({row[0]: row[1] for row in session.execute(query)})


def of_statuses(by_status: Mapping[Status, int], size: int = 0) -> Counts:
    """Return the counts that follow from the samples of each status."""
    return Counts(
        samples=sum(by_status.values()),
        kept=sum(by_status.get(status, 0) for status in KEPT),
        approved=by_status.get(Status.APPROVED, 0),
        repaired=by_status.get(Status.REPAIRED, 0),
        excluded=by_status.get(Status.EXCLUDED, 0),
        pending=by_status.get(Status.HELD, 0),
        bytes=size,
    )
