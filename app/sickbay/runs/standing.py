"""How an attempt and its ranks stand while a batch is stored: read once, written once."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.contract.event import Ending
from sickbay.contract.fields import number_to_json
from sickbay.runs.curves.fold import POINTS_WAIT, ROWS_WAIT
from sickbay.runs.curves.main_series import preference
from sickbay.runs.keys import IMPORTED
from sickbay.runs.moments import microseconds
from sickbay.runs.opening import new_rank
from sickbay.runs.packed import Extent, Packed
from sickbay.runs.tables import Attempt, Rank, Run

HEARTBEAT_EVERY = timedelta(seconds=1)
"""How stale an attempt's sign of life may be; spares a write on most batches."""

_OF_ATTEMPT = (
    "id",
    "run_id",
    "number",
    "data_set_id",
    "heartbeat_at",
    "ending",
    "main",
    "last_step",
    "last_value",
    "last_word",
)
_ATTEMPT = (
    select(*(getattr(Attempt, name) for name in _OF_ATTEMPT))
    .join(Run, Run.id == Attempt.run_id)
    .where(Run.key == bindparam("run"), Attempt.number == bindparam("number"))
)
_CHANGING = ("heartbeat_at", "main", "last_step", "last_value", "last_word")
_WRITE_ATTEMPT = (
    update(Attempt)
    .where(Attempt.id == bindparam("its_id"))
    .values({name: bindparam(name) for name in _CHANGING})
)
_OF_RANK = (
    "heartbeat_at",
    "client_time",
    "lag_us",
    "events",
    "last_seq",
    "last_step",
    "waiting_rows",
    "waiting_points",
)
_RANKS = select(Rank.rank, *(getattr(Rank, name) for name in (*_OF_RANK, "folds"))).where(
    Rank.attempt_id == bindparam("attempt_id"), Rank.rank.in_(bindparam("ranks", expanding=True))
)
_WRITE_RANK = (
    update(Rank)
    .where(Rank.attempt_id == bindparam("its_attempt"), Rank.rank == bindparam("its_rank"))
    .values({name: bindparam(name) for name in _OF_RANK})
)


@dataclass(slots=True)
class AttemptNow:
    """What a batch may change of its attempt."""

    id: int
    run_id: int
    number: int
    data_set_id: int | None
    heartbeat_at: datetime
    ending: Ending | None
    main: str | None
    last_step: int | None
    last_value: float | None
    last_word: str | None
    changed: bool = False

    def alive(self, at: datetime) -> None:
        """Note a sign of life."""
        if at - self.heartbeat_at >= HEARTBEAT_EVERY:
            self.heartbeat_at, self.changed = at, True

    def reached(self, span: Extent) -> None:
        """Keep the last value of the series that lists show."""
        if self.main is None or preference(span.main) < preference(self.main):
            self.main, self.last_step = span.main, None
        if span.main != self.main:
            return
        if self.last_step is None or span.main_step >= self.last_step:
            value = number_to_json(span.main_value)
            self.last_step, self.changed = span.main_step, True
            self.last_value = None if isinstance(value, str) else value
            self.last_word = value if isinstance(value, str) else None


@dataclass(slots=True)
class RankNow:
    """What a batch may change of a rank; see ``tables.Rank``."""

    attempt_id: int
    rank: int
    heartbeat_at: datetime
    client_time: datetime
    lag_us: int
    events: int
    last_seq: int
    last_step: int | None
    waiting_rows: int
    waiting_points: int
    folds: int
    digests: dict[int, bytes] = field(default_factory=dict)
    """Of the events received in this turn, by seq."""

    def alive(self, newest: datetime, at: datetime) -> None:
        """Note a sign of life on both clocks; a replay is one too."""
        self.heartbeat_at = max(at, self.heartbeat_at)
        self.client_time = max(newest, self.client_time)
        self.lag_us = min(self.lag_us, microseconds(at - newest))

    def received(self, fresh: Sequence[Packed]) -> None:
        """Count events; those imported from files have no place in the sequence."""
        seqs = [item.event.seq for item in fresh if item.event.seq < IMPORTED]
        self.events += len(seqs)
        self.last_seq = max((self.last_seq, *seqs))

    def waits(self, span: Extent) -> None:
        """Count points that wait for their fold."""
        self.waiting_rows += 1
        self.waiting_points += span.points
        step = span.last_step
        self.last_step = step if self.last_step is None else max(step, self.last_step)

    def is_due(self) -> bool:
        """Whether its waiting points should be folded: soon at first, then in bulk."""
        rows = min(ROWS_WAIT, 2 ** min(self.folds, 9))
        return self.waiting_points >= POINTS_WAIT or self.waiting_rows >= rows


def attempt_now(session: Session, run: str, number: int) -> AttemptNow:
    """Return how an attempt stands.

    Raises:
        NotFound: there is no such run or attempt.
    """
    found = session.connection().execute(_ATTEMPT, {"run": run, "number": number}).one_or_none()
    if found is None:
        raise NotFound("There is no such run or attempt; open the run first.")
    return AttemptNow(*found)


def ranks_now(session: Session, attempt_id: int, numbers: Collection[int]) -> dict[int, RankNow]:
    """Return how those of some ranks stand that are known."""
    wanted = {"attempt_id": attempt_id, "ranks": list(numbers)}
    rows = session.connection().execute(_RANKS, wanted)
    return {number: RankNow(attempt_id, number, *rest) for number, *rest in rows}


def taken_in(
    session: Session, attempt_id: int, number: int, newest: datetime, at: datetime
) -> RankNow:
    """Return how a rank stands that never opened the run, and is taken in now."""
    session.add(new_rank(attempt_id, number, at, newest))
    session.flush()
    return ranks_now(session, attempt_id, [number])[number]


def write(session: Session, attempts: Iterable[AttemptNow], ranks: Iterable[RankNow]) -> None:
    """Write down how attempts and ranks stand now."""
    connection = session.connection()
    changed = [_row(one, {"its_id": one.id}, _CHANGING) for one in attempts if one.changed]
    if changed:
        connection.execute(_WRITE_ATTEMPT, changed)
    rows = [
        _row(one, {"its_attempt": one.attempt_id, "its_rank": one.rank}, _OF_RANK) for one in ranks
    ]
    connection.execute(_WRITE_RANK, rows)


def _row(one: object, key: dict[str, int], names: Sequence[str]) -> dict[str, Any]:
    return key | {name: getattr(one, name) for name in names}
