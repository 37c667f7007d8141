"""Tables of failures and their groups."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.database.tables import Base, BigId


class FailureGroup(Base):
    """Failures of one run that have one fingerprint, and what followed from them."""

    __tablename__ = "failure_group"
    __table_args__ = (UniqueConstraint("run_id", "version", "fingerprint"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
    fingerprint: Mapped[str] = mapped_column(String(32), index=True)
    version: Mapped[int]
    """Of the rules that made the fingerprint: new rules never move old groups."""
    what: Mapped[str] = mapped_column(String(32))
    exception_type: Mapped[str] = mapped_column(String(255))
    message: Mapped[str]
    """Of the first failure received."""
    layer: Mapped[str | None] = mapped_column(String(16))
    category: Mapped[str | None] = mapped_column(String(32))
    secondary: Mapped[bool]
    """Its own failures only follow from another's, which has not been seen."""
    merged_into: Mapped[int | None]
    """The group of the root cause, once that was seen."""
    failures: Mapped[int]
    first_step: Mapped[int | None]
    last_step: Mapped[int | None]
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class Failure(Base):
    """One failure, as a rank reported it."""

    __tablename__ = "failure"
    __table_args__ = (
        UniqueConstraint("attempt_id", "rank", "seq"),
        Index("ix_failure_group", "group_id", "id"),
        Index("ix_failure_time", "attempt_id", "secondary", "time"),
        Index("ix_failure_ref", "attempt_id", "ref"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("failure_group.id"))
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    attempt: Mapped[int]
    rank: Mapped[int]
    seq: Mapped[int]
    step: Mapped[int | None]
    secondary: Mapped[bool]
    time: Mapped[datetime]
    """By the trainer's clock."""
    received_at: Mapped[datetime]
    event: Mapped[bytes] = mapped_column(LargeBinary)
    """The event as it came, as JSON."""
    ref: Mapped[str | None] = mapped_column(String(16))
    """How its trainer names it, where a verdict may follow."""


class FailureSample(Base):
    """A sample of the batch in which a failure happened."""

    __tablename__ = "failure_sample"
    __table_args__ = (
        Index("ix_failure_sample_group", "group_id", "raw_path"),
        Index("ix_failure_sample_sample", "sample_id"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    group_id: Mapped[int] = mapped_column(ForeignKey("failure_group.id"))
    failure_id: Mapped[int] = mapped_column(ForeignKey("failure.id"), index=True)
    raw_path: Mapped[bytes] = mapped_column(LargeBinary)
    path: Mapped[str]
    sample_id: Mapped[int | None]
    """Where the run's data set has a sample of that path."""
