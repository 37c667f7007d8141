"""Events that are neither points nor failures: signs of life, facts, messages, endings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.contract.event import Alert, Ending, Event, Facts, Finish, Heartbeat
from sickbay.runs import outbox
from sickbay.runs.facts import completed
from sickbay.runs.moments import moment
from sickbay.runs.samples.store import note_of_samples
from sickbay.runs.tables import Attempt, ChangeKind, Rank, Told


def note_other(
    session: Session, attempt_id: int, event: Event, at: datetime
) -> list[dict[str, Any]]:
    """Store such an event; return lines for the outbox."""
    attempt = session.get_one(Attempt, attempt_id)
    rank = session.get_one(Rank, (attempt_id, event.rank))
    body = event.body
    if isinstance(body, Heartbeat | Finish):
        rank.points = max(rank.points, body.points)
        _note_dropped(attempt, rank, body.dropped)
    if isinstance(body, Facts):
        known = getattr(attempt, body.about.value)
        setattr(attempt, body.about.value, completed(known, body.values))
    if isinstance(body, Finish):
        _end(session, attempt, rank, body.ending, at)
        return [outbox.line(attempt.run_id, ChangeKind.STATE, attempt.number, event.rank)]
    if isinstance(body, Alert):
        ref = _tell(session, attempt, event, body, at)
        return [outbox.line(attempt.run_id, ChangeKind.ALERT, attempt.number, event.rank, ref=ref)]
    return note_of_samples(session, attempt, event, at)


def _note_dropped(attempt: Attempt, rank: Rank, dropped: Mapping[str, int]) -> None:
    """Keep the largest count by cause: totals only grow, and batches may come in any order."""
    was = sum(rank.dropped.values())
    rank.dropped = {
        cause: max(rank.dropped.get(cause, 0), dropped.get(cause, 0))
        for cause in sorted({*rank.dropped, *dropped})
    }
    attempt.dropped += sum(rank.dropped.values()) - was


def _end(session: Session, attempt: Attempt, rank: Rank, ending: Ending, at: datetime) -> None:
    """A rank leaves; the attempt ends with the last one, or as failed with the first failure."""
    rank.ended_at, rank.ending = at, ending
    session.flush()
    left = session.scalar(
        select(func.count()).where(Rank.attempt_id == attempt.id, Rank.ended_at.is_(None))
    )
    if ending is Ending.FAILED or (not left and attempt.ending is None):
        attempt.ended_at = attempt.ended_at or at
        attempt.ending = ending


def _tell(session: Session, attempt: Attempt, event: Event, alert: Alert, at: datetime) -> int:
    """Store a message to people; return its id."""
    told = Told(
        run_id=attempt.run_id,
        attempt=attempt.number,
        rank=event.rank,
        step=alert.step,
        level=alert.level,
        title=alert.title,
        text=alert.text,
        time=moment(event.time),
        received_at=at,
    )
    session.add(told)
    session.flush()
    return told.id
