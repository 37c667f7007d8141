"""Tables of runs: who trains, what was received, curves, and what is new.

Times that a trainer gave are kept as it gave them, beside the moment the server received them:
a trainer's clock may be wrong, and what it kept back during an outage arrives late.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.contract.event import Ending, Level
from sickbay.database.tables import Base, BigId


class ChangeKind(StrEnum):
    """What a line of the outbox is about."""

    ATTEMPT = "attempt"
    POINTS = "points"
    FAILURE = "failure"
    ALERT = "alert"
    STATE = "state"
    VERDICT = "verdict"
    COURSE = "course"
    REPORT = "report"


class Run(Base):
    """A training run, known by its name."""

    __tablename__ = "run"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    key: Mapped[str] = mapped_column(String(16), unique=True)
    """Random; stands in addresses."""
    name: Mapped[str] = mapped_column(String(200), unique=True)
    attempts: Mapped[int]
    attempt_id: Mapped[int | None] = mapped_column(index=True)
    """The newest attempt; lists run by it."""
    created_at: Mapped[datetime]


class Attempt(Base):
    """One launch of a run, with all its ranks."""

    __tablename__ = "attempt"
    __table_args__ = (
        UniqueConstraint("run_id", "number"),
        Index("ix_attempt_launch", "run_id", "launch"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    number: Mapped[int]
    launch: Mapped[str] = mapped_column(String(200))
    resume: Mapped[bool]
    """It goes on from a checkpoint of an earlier attempt."""
    world_size: Mapped[int]
    dataset: Mapped[str | None] = mapped_column(String(255))
    data_set_id: Mapped[int | None]
    release: Mapped[str | None] = mapped_column(String(255))
    config: Mapped[dict[str, Any]]
    environment: Mapped[dict[str, Any]]
    seeds: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    heartbeat_at: Mapped[datetime]
    """When the server last heard from any rank."""
    ended_at: Mapped[datetime | None]
    ending: Mapped[Ending | None]
    """Set when every rank has left, or one has failed."""
    main: Mapped[str | None] = mapped_column(String(255))
    """The series that lists show."""
    last_step: Mapped[int | None]
    last_value: Mapped[float | None]
    """Of the main series at its last step; nothing where it is NaN: see ``last_word``."""
    last_word: Mapped[str | None] = mapped_column(String(4))
    """``nan``, ``inf`` or ``-inf`` where the last value is that."""
    dropped: Mapped[int]
    """Points that its trainers had to drop, by their own count."""


class Rank(Base):
    """One process of an attempt."""

    __tablename__ = "run_rank"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"), primary_key=True)
    rank: Mapped[int] = mapped_column(primary_key=True)
    process: Mapped[str | None] = mapped_column(String(64))
    """Drawn by the process that opened it; nothing where none did."""
    local_rank: Mapped[int]
    host: Mapped[str] = mapped_column(String(255))
    heartbeat_at: Mapped[datetime]
    client_time: Mapped[datetime]
    """The newest time that its own clock gave."""
    lag_us: Mapped[int]
    """The smallest difference between receipt and its clock, in microseconds: how far its clock
    is behind, and below zero where it is ahead."""
    ended_at: Mapped[datetime | None]
    ending: Mapped[Ending | None]
    points: Mapped[int]
    """How many it logged, by its own count."""
    dropped: Mapped[dict[str, Any]]
    events: Mapped[int]
    """Those with a place in the sequence; as the first has seq 1, ``last_seq`` of them would be
    there if none were missing."""
    last_seq: Mapped[int]
    last_step: Mapped[int | None]
    waiting_rows: Mapped[int]
    waiting_points: Mapped[int]
    folds: Mapped[int]
    """Goes up by one with each fold; a fold compares and sets it."""


class EventKeys(Base):
    """Which events were received: a span of seqs without a gap, and a digest of each."""

    __tablename__ = "event_keys"
    __table_args__ = ({"sqlite_with_rowid": False},)

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"), primary_key=True)
    rank: Mapped[int] = mapped_column(primary_key=True)
    first_seq: Mapped[int] = mapped_column(primary_key=True)
    last_seq: Mapped[int]
    digests: Mapped[bytes] = mapped_column(LargeBinary)
    """Eight bytes an event: a different content passes as a replay once in 2^64."""


class Waiting(Base):
    """Points of one batch that are not folded into chunks and pages yet."""

    __tablename__ = "waiting_points"
    __table_args__ = (Index("ix_waiting_points_rank", "attempt_id", "rank"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    rank: Mapped[int]
    points: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    """See ``curves.journal``."""


class Series(Base):
    """One curve of one rank, as far as it is folded."""

    __tablename__ = "series"
    __table_args__ = (UniqueConstraint("attempt_id", "name", "rank"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    name: Mapped[str] = mapped_column(String(255))
    rank: Mapped[int]
    points: Mapped[int]
    """All of them, non-finite ones too."""
    nan: Mapped[int]
    pos_inf: Mapped[int]
    neg_inf: Mapped[int]
    first_step: Mapped[int]
    last_step: Mapped[int]
    base: Mapped[int | None]
    """The finest level that has pages; nothing while points alone are few enough."""
    counts: Mapped[list[int]] = mapped_column(JSON)
    """How many buckets each level has, from ``base`` up."""


class Chunk(Base):
    """Up to a thousand points of a series, sorted, packed."""

    __tablename__ = "chunk"
    __table_args__ = (Index("ix_chunk_series", "series_id", "first_step"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    first_step: Mapped[int]
    last_step: Mapped[int]
    points: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Page(Base):
    """Buckets of a series that lie beside one another, packed; level L is 4^L steps wide."""

    __tablename__ = "summary_page"
    __table_args__ = (UniqueConstraint("series_id", "level", "page"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    series_id: Mapped[int] = mapped_column(ForeignKey("series.id"))
    level: Mapped[int]
    page: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Spark(Base):
    """The main series of an attempt in a few buckets, for lists."""

    __tablename__ = "spark"

    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"), primary_key=True)
    series: Mapped[str] = mapped_column(String(255))
    width: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Told(Base):
    """A message that a training script sent to people."""

    __tablename__ = "told"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    attempt: Mapped[int]
    rank: Mapped[int]
    step: Mapped[int | None]
    level: Mapped[Level]
    title: Mapped[str] = mapped_column(String(200))
    text: Mapped[str]
    time: Mapped[datetime]
    received_at: Mapped[datetime]


class Change(Base):
    """One line of the outbox: what is new in a run; live pages read on from the last they saw."""

    __tablename__ = "change"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    kind: Mapped[ChangeKind]
    attempt: Mapped[int]
    rank: Mapped[int]
    ref: Mapped[int | None]
    """The failure group or the message it is about."""
    first_step: Mapped[int | None]
    last_step: Mapped[int | None]
    series: Mapped[list[str]]
