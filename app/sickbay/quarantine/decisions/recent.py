"""A reviewer's newest act that can still be undone, as the status line tells it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.quarantine.decisions.undo import latest
from sickbay.quarantine.tables import Action, Decision, Sample


@dataclass(frozen=True, slots=True)
class Recent:
    """One act: what was done, to how many samples, and one of them."""

    batch: str
    action: Action
    reason: str
    at: datetime
    count: int
    sample_id: int
    path: str


def recent(session: Session, data_set_id: int, reviewer: str) -> Recent | None:
    """Return the reviewer's newest act that is not undone, or nothing."""
    batch = latest(session, data_set_id, reviewer)
    return None if batch is None else of_batch(session, data_set_id, batch)


def of_batch(session: Session, data_set_id: int, batch: str) -> Recent | None:
    """Return what the act with that batch did, or nothing where there is none."""
    mine = (Decision.data_set_id == data_set_id, Decision.batch == batch)
    first = session.execute(
        select(Decision.action, Decision.reason, Decision.at, Decision.sample_id, Sample.path)
        .join(Sample, Sample.id == Decision.sample_id)
        .where(*mine)
        .order_by(Decision.id)
        .limit(1)
    ).one_or_none()
    if first is None:
        return None
    count = session.scalar(select(func.count()).select_from(Decision).where(*mine)) or 0
    action, reason, at, sample_id, path = first
    return Recent(batch, action, reason, at, count, sample_id, path)
