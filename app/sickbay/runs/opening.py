"""Opening a run: which attempt a process belongs to.

A run is its name, an attempt one launch. Launch ids are not always unique, so a rank that is
held by another process of the same launch id means another attempt: nothing is ever swallowed.
"""

import secrets
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sickbay.contract.opening import Opened, Opening
from sickbay.database.tables import now
from sickbay.quarantine.tables import DataSet
from sickbay.runs import outbox
from sickbay.runs.facts import completed
from sickbay.runs.moments import microseconds, moment
from sickbay.runs.tables import Attempt, ChangeKind, Rank, Run

_KEY_BYTES = 8


def open_run(session: Session, opening: Opening, *, at: datetime | None = None) -> Opened:
    """Return the run and attempt of a process; the same opening again gives the same answer."""
    at = at or now()
    run = _run(session, opening.name, at)
    attempt = _held_or_free(session, run.id, opening) or _new(session, run, opening, at)
    _take_rank(session, attempt, opening, at)
    return Opened(run.key, attempt.number)


def _run(session: Session, name: str, at: datetime) -> Run:
    run = session.scalar(select(Run).where(Run.name == name))
    if run is None:
        key = secrets.token_hex(_KEY_BYTES)
        run = Run(key=key, name=name, attempts=0, attempt_id=None, created_at=at)
        session.add(run)
        session.flush()
    return run


def _held_or_free(session: Session, run_id: int, opening: Opening) -> Attempt | None:
    """Return the oldest attempt of the launch in which this rank is free or this process's."""
    rows = session.execute(
        select(Attempt, Rank.process)
        .outerjoin(Rank, (Rank.attempt_id == Attempt.id) & (Rank.rank == opening.rank))
        .where(Attempt.run_id == run_id, Attempt.launch == opening.launch)
        .order_by(Attempt.number)
    )
    return next((found for found, holder in rows if holder in (None, opening.process)), None)


def _new(session: Session, run: Run, opening: Opening, at: datetime) -> Attempt:
    run.attempts += 1
    attempt = Attempt(
        run_id=run.id,
        number=run.attempts,
        launch=opening.launch,
        resume=opening.resume,
        world_size=opening.world_size,
        dataset=opening.dataset,
        data_set_id=session.scalar(select(DataSet.id).where(DataSet.name == opening.dataset)),
        release=opening.release,
        config=dict(opening.config),
        environment=dict(opening.environment),
        seeds=dict(opening.seeds),
        started_at=at,
        heartbeat_at=at,
        ended_at=None,
        ending=None,
        main=None,
        last_step=None,
        last_value=None,
        last_word=None,
        dropped=0,
    )
    session.add(attempt)
    session.flush()
    run.attempt_id = attempt.id
    outbox.write(session, [outbox.line(run.id, ChangeKind.ATTEMPT, attempt.number, opening.rank)])
    return attempt


def _take_rank(session: Session, attempt: Attempt, opening: Opening, at: datetime) -> None:
    """Note the process; facts that only this rank knows complete those of the attempt."""
    rank = session.get(Rank, (attempt.id, opening.rank))
    started = moment(opening.started)
    if rank is None:
        rank = new_rank(attempt.id, opening.rank, at, started)
        session.add(rank)
    rank.process, rank.host = opening.process, opening.host
    rank.local_rank = opening.local_rank
    rank.heartbeat_at = attempt.heartbeat_at = at
    rank.lag_us = min(rank.lag_us, microseconds(at - started))
    for name in ("config", "environment", "seeds"):
        known = getattr(attempt, name)
        if given := {
            key: value for key, value in getattr(opening, name).items() if key not in known
        }:
            setattr(attempt, name, completed(known, given))
    attempt.world_size = max(attempt.world_size, opening.world_size)
    session.flush()


def new_rank(attempt_id: int, number: int, at: datetime, client_time: datetime) -> Rank:
    """Return a rank of which nothing is known but that it spoke."""
    return Rank(
        attempt_id=attempt_id,
        rank=number,
        process=None,
        local_rank=0,
        host="",
        heartbeat_at=at,
        client_time=client_time,
        lag_us=microseconds(at - client_time),
        ended_at=None,
        ending=None,
        points=0,
        dropped={},
        events=0,
        last_seq=0,
        last_step=None,
        waiting_rows=0,
        waiting_points=0,
        folds=0,
    )


def note_data_set(session: Session, data_set_id: int, name: str) -> None:
    """Tie attempts to a data set that was registered after they began."""
    session.execute(
        update(Attempt)
        .where(Attempt.dataset == name, Attempt.data_set_id.is_(None))
        .values(data_set_id=data_set_id)
    )
