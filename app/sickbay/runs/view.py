"""One run whole: its attempts with their ranks, its series, and what its script told people."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.contract.event import Ending, Level
from sickbay.database.tables import now
from sickbay.runs.failures.find import count
from sickbay.runs.state import RunState, state_of
from sickbay.runs.tables import Attempt, Rank, Run, Told


@dataclass(frozen=True, slots=True)
class RankView:
    """One process.

    ``missing`` counts events that never came; ``lag_s`` is how many seconds its clock is behind
    the server's at most, below zero where it is ahead.
    """

    rank: int
    local_rank: int
    host: str
    heartbeat_at: datetime
    client_time: datetime
    ending: Ending | None
    last_step: int | None
    points: int
    dropped: Mapping[str, int]
    missing: int
    lag_s: float


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One launch, with all that was recorded of it."""

    number: int
    launch: str
    resume: bool
    state: RunState
    ending: Ending | None
    started_at: datetime
    heartbeat_at: datetime
    ended_at: datetime | None
    world_size: int
    dataset: str | None
    data_set_id: int | None
    release: str | None
    config: Mapping[str, Any]
    environment: Mapping[str, Any]
    seeds: Mapping[str, Any]
    main: str | None
    last_step: int | None
    last_value: float | str | None
    dropped: int
    ranks: tuple[RankView, ...]

    @property
    def missing(self) -> int:
        """How many events of its ranks never came."""
        return sum(rank.missing for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with its attempts, the newest first."""

    key: str
    name: str
    state: RunState
    failures: int
    created_at: datetime
    attempts: tuple[AttemptView, ...]


@dataclass(frozen=True, slots=True)
class ToldView:
    """A message of the training script to people."""

    id: int
    attempt: int
    rank: int
    step: int | None
    level: Level
    title: str
    text: str
    time: datetime
    received_at: datetime


def view(session: Session, key: str, *, at: datetime | None = None) -> RunView:
    """Return a run with all its attempts.

    Raises:
        NotFound: there is no such run.
    """
    at = at or now()
    run = found(session, key)
    attempts = session.scalars(
        select(Attempt).where(Attempt.run_id == run.id).order_by(Attempt.number.desc())
    ).all()
    ranks: defaultdict[int, list[Rank]] = defaultdict(list)
    for rank in session.scalars(
        select(Rank).join(Attempt).where(Attempt.run_id == run.id).order_by(Rank.rank)
    ):
        ranks[rank.attempt_id].append(rank)
    views = tuple(_attempt(attempt, ranks[attempt.id], at) for attempt in attempts)
    state = views[0].state if views else RunState.DEAD
    failures = count(session, [run.id]).get(run.id, 0)
    return RunView(run.key, run.name, state, failures, run.created_at, views)


def found(session: Session, key: str) -> Run:
    """Return a run's row.

    Raises:
        NotFound: there is no such run.
    """
    run = session.scalar(select(Run).where(Run.key == key))
    if run is None:
        raise NotFound("There is no such run.")
    return run


def named(session: Session, name: str) -> str:
    """Return the key of the run of that name.

    Raises:
        NotFound: there is no such run.
    """
    key = session.scalar(select(Run.key).where(Run.name == name))
    if key is None:
        raise NotFound("There is no run of that name.")
    return key


def told(session: Session, key: str, limit: int = 100) -> list[ToldView]:
    """Return the newest messages of a run's script, newest first."""
    columns = (getattr(Told, name) for name in ToldView.__slots__)
    rows = session.execute(
        select(*columns)
        .join(Run, Run.id == Told.run_id)
        .where(Run.key == key)
        .order_by(Told.id.desc())
        .limit(limit)
    )
    return [ToldView(*row) for row in rows]


def ranks_heard(session: Session, key: str, number: int) -> int:
    """Return how many ranks of an attempt were heard of."""
    return (
        session.scalar(
            select(func.count())
            .select_from(Rank)
            .join(Attempt)
            .join(Run, Run.id == Attempt.run_id)
            .where(Run.key == key, Attempt.number == number)
        )
        or 0
    )


def _attempt(attempt: Attempt, ranks: Sequence[Rank], at: datetime) -> AttemptView:
    return AttemptView(
        number=attempt.number,
        launch=attempt.launch,
        resume=attempt.resume,
        state=state_of(attempt.heartbeat_at, attempt.ending, at),
        ending=attempt.ending,
        started_at=attempt.started_at,
        heartbeat_at=attempt.heartbeat_at,
        ended_at=attempt.ended_at,
        world_size=attempt.world_size,
        dataset=attempt.dataset,
        data_set_id=attempt.data_set_id,
        release=attempt.release,
        config=attempt.config,
        environment=attempt.environment,
        seeds=attempt.seeds,
        main=attempt.main,
        last_step=attempt.last_step,
        last_value=attempt.last_word or attempt.last_value,
        dropped=attempt.dropped,
        ranks=tuple(map(_rank, ranks)),
    )


def _rank(rank: Rank) -> RankView:
    return RankView(
        rank=rank.rank,
        local_rank=rank.local_rank,
        host=rank.host,
        heartbeat_at=rank.heartbeat_at,
        client_time=rank.client_time,
        ending=rank.ending,
        last_step=rank.last_step,
        points=rank.points,
        dropped=rank.dropped,
        missing=rank.last_seq - rank.events,
        lag_s=rank.lag_us / 1e6,
    )
