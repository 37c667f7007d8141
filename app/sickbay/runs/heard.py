"""What a batch changes besides its keys: points that wait, failures, facts, endings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import or_

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from sickbay.contract.event import Alert, Ending, Event, Facts, Finish, Heartbeat
from sickbay.runs import keys, outbox
from sickbay.runs.failures.store import store_failures
from sickbay.runs.moments import moment
from sickbay.runs.packed import Packed
from sickbay.runs.standing import AttemptNow, RankNow
from sickbay.runs.tables import Attempt, ChangeKind, Rank, Told, Waiting

_WAIT = insert(Waiting)


def note(
    session: Session, attempt: AttemptNow, rank: RankNow, fresh: Sequence[Packed], at: datetime
) -> None:
    """Store a rank's fresh events, and the sign of life that even a replay is."""
    attempt.alive(at)
    if fresh:
        keys.remember(session, attempt.id, rank.rank, fresh)
        rank.received(fresh)
        _wait(session, attempt, rank, fresh)
        store_failures(session, attempt, [item.failure for item in fresh if item.failure], at)
    rank.write(session)
    attempt.write(session)
    for item in fresh:
        if not item.segment and item.failure is None:
            _note_other(session, attempt, item.event, at)


def _wait(session: Session, attempt: AttemptNow, rank: RankNow, fresh: Sequence[Packed]) -> None:
    """Store points as they came; a fold sorts them into their series later."""
    spans = [item.extent for item in fresh if item.extent is not None]
    if not spans:
        return
    span = reduce(or_, spans)
    session.connection().execute(
        _WAIT,
        {
            "attempt_id": attempt.id,
            "rank": rank.rank,
            "points": span.points,
            "body": b"".join(item.segment for item in fresh),
        },
    )
    rank.waits(span)
    attempt.reached(span)
    outbox.append(
        session,
        attempt.run_id,
        ChangeKind.POINTS,
        attempt.number,
        rank.rank,
        steps=(span.first_step, span.last_step),
        series=span.series,
    )


def _note_other(session: Session, now: AttemptNow, event: Event, at: datetime) -> None:
    """Store what is neither points nor failures."""
    attempt = session.get_one(Attempt, now.id)
    rank = session.get_one(Rank, (now.id, event.rank))
    body = event.body
    if isinstance(body, Heartbeat | Finish):
        rank.points = max(rank.points, body.points)
        _note_dropped(attempt, rank, body.dropped)
    if isinstance(body, Finish):
        _end(session, attempt, rank, body.ending, at)
    elif isinstance(body, Facts):
        known = getattr(attempt, body.about.value)
        setattr(attempt, body.about.value, {**known, **body.values})
    elif isinstance(body, Alert):
        _tell(session, attempt, event, body, at)


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
    outbox.append(session, attempt.run_id, ChangeKind.STATE, attempt.number, rank.rank)


def _tell(session: Session, attempt: Attempt, event: Event, alert: Alert, at: datetime) -> None:
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
    outbox.append(
        session, attempt.run_id, ChangeKind.ALERT, attempt.number, event.rank, ref=told.id
    )
