"""What a batch changes besides its keys: points that wait, failures, facts, signs of life."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from sickbay.contract.event import (
    Alert,
    Ending,
    Event,
    Facts,
    Finish,
    Heartbeat,
)
from sickbay.contract.fields import number_to_json
from sickbay.runs import keys, outbox
from sickbay.runs.curves.fold import is_due
from sickbay.runs.curves.main_series import preference
from sickbay.runs.failures.store import store_failures
from sickbay.runs.moments import microseconds, moment
from sickbay.runs.opening import new_rank
from sickbay.runs.packed import Extent, Packed, extent, newest_time
from sickbay.runs.tables import Attempt, ChangeKind, Rank, Told, Waiting


def note(
    session: Session,
    attempt: Attempt,
    number: int,
    items: Sequence[Packed],
    fresh: Sequence[Packed],
    at: datetime,
) -> bool:
    """Store a rank's fresh events; return whether its waiting points are due for a fold."""
    rank = _alive(session, attempt, number, items, at)
    if not fresh:
        return False
    keys.remember(session, attempt.id, number, fresh)
    seqs = fresh[0].event.seq, fresh[-1].event.seq
    rank.events += len(fresh)
    rank.first_seq = min(seqs[0], rank.first_seq or seqs[0])
    rank.last_seq = max(seqs[1], rank.last_seq or 0)
    _wait(session, attempt, rank, fresh)
    store_failures(session, attempt, [item.failure for item in fresh if item.failure], at)
    for item in fresh:
        _note_other(session, attempt, rank, item.event, at)
    return is_due(rank)


def _alive(
    session: Session, attempt: Attempt, number: int, items: Sequence[Packed], at: datetime
) -> Rank:
    """Note a sign of life, a replay's too, on both clocks."""
    newest = newest_time(items)
    rank = session.get(Rank, (attempt.id, number))
    if rank is None:
        rank = new_rank(attempt.id, number, at, newest)
        session.add(rank)
    rank.heartbeat_at = max(at, rank.heartbeat_at)
    attempt.heartbeat_at = max(at, attempt.heartbeat_at)
    rank.client_time = max(newest, rank.client_time)
    rank.lag_us = min(rank.lag_us, microseconds(at - newest))
    return rank


def _wait(session: Session, attempt: Attempt, rank: Rank, fresh: Sequence[Packed]) -> None:
    """Store points as they came; a fold sorts them into their series later."""
    span = extent(fresh)
    if span is None:
        return
    points = sum(item.points for item in fresh)
    session.execute(
        insert(Waiting),
        {
            "attempt_id": attempt.id,
            "rank": rank.rank,
            "points": points,
            "body": b"".join(item.segment for item in fresh),
        },
    )
    rank.waiting_rows += 1
    rank.waiting_points += points
    rank.last_step = max(span.last_step, rank.last_step or span.last_step)
    _note_main(attempt, span)
    outbox.append(
        session,
        attempt.run_id,
        ChangeKind.POINTS,
        attempt.number,
        rank.rank,
        steps=(span.first_step, span.last_step),
        series=span.series,
    )


def _note_main(attempt: Attempt, span: Extent) -> None:
    """Keep the last value of the series that lists show."""
    if attempt.main is None or preference(span.main) < preference(attempt.main):
        attempt.main, attempt.last_step = span.main, None
    later = attempt.last_step is None or span.main_step >= attempt.last_step
    if span.main == attempt.main and later:
        value = number_to_json(span.main_value)
        attempt.last_step = span.main_step
        attempt.last_value = None if isinstance(value, str) else value
        attempt.last_word = value if isinstance(value, str) else None


def _note_other(session: Session, attempt: Attempt, rank: Rank, event: Event, at: datetime) -> None:
    """Store what is neither points nor failures."""
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


def _note_dropped(attempt: Attempt, rank: Rank, dropped: "dict[str, int] | object") -> None:
    """Keep the largest count by cause: totals only grow, and batches may come in any order."""
    if not isinstance(dropped, dict) or not dropped:
        return
    was = sum(rank.dropped.values())
    causes = {*rank.dropped, *dropped}
    rank.dropped = {
        cause: max(rank.dropped.get(cause, 0), dropped.get(cause, 0)) for cause in sorted(causes)
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
