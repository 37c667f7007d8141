"""What happened to one sample."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.quarantine.tables import Action, Decision, Status


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision on a sample."""

    batch: str
    action: Action
    was: Status
    became: Status
    reason: str
    note: str
    reviewer: str
    at: datetime
    undoes: str | None
    undone: bool
    """Whether a later undo took it back."""


def history(session: Session, sample_id: int, limit: int = 200) -> list[Entry]:
    """Return the newest decisions on a sample, newest first."""
    rows = session.execute(
        select(
            Decision.batch,
            Decision.action,
            Decision.was,
            Decision.became,
            Decision.reason,
            Decision.note,
            Decision.reviewer,
            Decision.at,
            Decision.undoes,
        )
        .where(Decision.sample_id == sample_id)
        .order_by(Decision.id.desc())
        .limit(limit)
    ).all()
    undone = {row.undoes for row in rows}
    return [Entry(*row, undone=row.batch in undone) for row in rows]
