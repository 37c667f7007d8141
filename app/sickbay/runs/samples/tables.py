"""Tables of what training used and what was found out about it."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.contract.report import Passed
from sickbay.database.tables import Base, BigId


class UsedSamples(Base):
    """Which samples some steps of one rank used, as they came."""

    __tablename__ = "used_samples"
    __table_args__ = (Index("ix_used_samples_step", "attempt_id", "rank", "first_step"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    rank: Mapped[int]
    first_step: Mapped[int]
    last_step: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    """The event as JSON, zlib-compressed."""


class FailureVerdict(Base):
    """Whether samples are the cause of a failure; a replay may add another."""

    __tablename__ = "failure_verdict"
    __table_args__ = (Index("ix_failure_verdict_ref", "attempt_id", "ref", "id"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempt.id"))
    rank: Mapped[int]
    ref: Mapped[str] = mapped_column(String(16))
    outcome: Mapped[str] = mapped_column(String(32))
    """One of the words of ``contract.blame.Outcome``."""
    time: Mapped[datetime]
    event: Mapped[bytes] = mapped_column(LargeBinary)
    """The event as it came, as JSON."""


class CourseChange(Base):
    """Something that was set otherwise while a run went on."""

    __tablename__ = "course_change"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    attempt: Mapped[int]
    rank: Mapped[int]
    step: Mapped[int | None]
    what: Mapped[str] = mapped_column(String(200))
    before: Mapped[str]
    after: Mapped[str]
    why: Mapped[str]
    time: Mapped[datetime]


class RunReport(Base):
    """What taking a job apart showed."""

    __tablename__ = "run_report"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), index=True)
    attempt: Mapped[int]
    rank: Mapped[int]
    title: Mapped[str] = mapped_column(String(200))
    outcome: Mapped[Passed]
    time: Mapped[datetime]
    event: Mapped[bytes] = mapped_column(LargeBinary)
    """The event as it came, as JSON."""
