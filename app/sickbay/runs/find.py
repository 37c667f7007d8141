"""Runs as lists show them: the newest attempt's state, last value and spark, a page at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.database.tables import now
from sickbay.runs.curves import spark
from sickbay.runs.curves.columns import columns
from sickbay.runs.failures.find import count
from sickbay.runs.state import RunState, condition, state_of
from sickbay.runs.tables import Attempt, Rank, Run, Spark

MOST_ROWS = 1000


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list.

    Attributes:
        main: the series shown, or nothing while there are no points.
        last_value: its value at ``last_step``; ``nan``, ``inf`` and ``-inf`` as these words.
        spark: lists of equal length: see ``curves.columns``; empty before the first fold.
        lag_s: the clock that is farthest from the server's: seconds it is behind, below zero
            where it is ahead.
    """

    key: str
    name: str
    attempt: int
    attempts: int
    state: RunState
    started_at: datetime
    heartbeat_at: datetime
    ended_at: datetime | None
    world_size: int
    dataset: str | None
    release: str | None
    main: str | None
    last_step: int | None
    last_value: float | str | None
    spark: Mapping[str, list[Any]]
    failures: int
    dropped: int
    missing: int
    lag_s: float


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of runs, the one launched last first."""

    rows: tuple[RunRow, ...]
    next_after: int | None
    total: int


@dataclass(frozen=True, slots=True)
class _Ranks:
    """What the ranks of an attempt have together."""

    missing: int = 0
    behind_us: int = 0
    ahead_us: int = 0

    @property
    def lag_s(self) -> float:
        farthest = max((self.behind_us, self.ahead_us), key=abs)
        return farthest / 1e6


def runs(
    session: Session,
    *,
    after: int | None = None,
    size: int = 50,
    state: RunState | None = None,
    text: str = "",
    dataset: str | None = None,
    at: datetime | None = None,
) -> RunPage:
    """Return a page of runs; ``after`` is the ``next_after`` of the page before."""
    at = at or now()
    query = select(Run, Attempt).join(Attempt, Attempt.id == Run.attempt_id)
    if state is not None:
        query = query.where(condition(state, at))
    if text:
        query = query.where(Run.name.contains(text, autoescape=True))
    if dataset is not None:
        query = query.where(Attempt.dataset == dataset)
    total = session.scalar(query.with_only_columns(func.count())) or 0
    rows = _rows(session, query, after, min(size, MOST_ROWS), at)
    more = len(rows) > size
    return RunPage(tuple(row for _, row in rows[:size]), rows[size - 1][0] if more else None, total)


def row(session: Session, key: str, *, at: datetime | None = None) -> RunRow:
    """Return one run as lists show it.

    Raises:
        NotFound: there is no such run.
    """
    query = select(Run, Attempt).join(Attempt, Attempt.id == Run.attempt_id).where(Run.key == key)
    rows = _rows(session, query, None, 1, at or now())
    if not rows:
        raise NotFound("There is no such run.")
    return rows[0][1]


def _rows(
    session: Session,
    query: Select[Run, Attempt],
    after: int | None,
    size: int,
    at: datetime,
) -> list[tuple[int, RunRow]]:
    """Return rows with the id to go on after, one more than asked for where there are more."""
    if after is not None:
        query = query.where(Run.attempt_id < after)
    query = query.order_by(Run.attempt_id.desc()).limit(size + 1)
    found = [(run, attempt) for run, attempt in session.execute(query)]
    known = _known(session, found)
    return [(attempt.id, _row(run, attempt, known, at)) for run, attempt in found]


@dataclass(frozen=True, slots=True)
class _Known:
    """What lists show beside the rows, by attempt or run."""

    sparks: Mapping[int, Mapping[str, list[Any]]]
    ranks: Mapping[int, _Ranks]
    failures: Mapping[int, int]


def _known(session: Session, found: Sequence[tuple[Run, Attempt]]) -> _Known:
    ids = [attempt.id for _, attempt in found]
    sparks = session.scalars(select(Spark).where(Spark.attempt_id.in_(ids)))
    return _Known(
        {one.attempt_id: columns(spark.read(one.width, one.data).buckets) for one in sparks},
        _ranks(session, ids),
        count(session, [run.id for run, _ in found]),
    )


def _ranks(session: Session, attempts: Iterable[int]) -> Mapping[int, _Ranks]:
    rows = session.execute(
        select(
            Rank.attempt_id,
            # A sum of whole numbers beyond 64 bits would be an error, and a list without runs.
            func.total(Rank.last_seq - Rank.events),
            func.max(Rank.lag_us),
            func.min(Rank.lag_us),
        )
        .where(Rank.attempt_id.in_(list(attempts)))
        .group_by(Rank.attempt_id)
    )
    return {attempt_id: _Ranks(int(missing), *lag) for attempt_id, missing, *lag in rows}


def _row(run: Run, attempt: Attempt, known: _Known, at: datetime) -> RunRow:
    ranks = known.ranks.get(attempt.id, _Ranks())
    return RunRow(
        key=run.key,
        name=run.name,
        attempt=attempt.number,
        attempts=run.attempts,
        state=state_of(attempt.heartbeat_at, attempt.ending, at),
        started_at=attempt.started_at,
        heartbeat_at=attempt.heartbeat_at,
        ended_at=attempt.ended_at,
        world_size=attempt.world_size,
        dataset=attempt.dataset,
        release=attempt.release,
        main=attempt.main,
        last_step=attempt.last_step,
        last_value=attempt.last_word or attempt.last_value,
        spark=known.sparks.get(attempt.id, {}),
        failures=known.failures.get(run.id, 0),
        dropped=attempt.dropped,
        missing=ranks.missing,
        lag_s=ranks.lag_s,
    )
