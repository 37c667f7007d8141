"""Where failures lie on a run's charts."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import case, exists, func, select
from sqlalchemy.orm import Session

from sickbay.runs.failures.tables import Failure, FailureGroup, FailureSample
from sickbay.runs.tables import Run


@dataclass(frozen=True, slots=True)
class Mark:
    """Failures of one group at one step, and how many there are.

    ``rank`` is the lowest that names samples, else the lowest: a rank that only stopped with the
    others leads to nobody.
    """

    attempt: int
    step: int
    what: str
    group_id: int
    rank: int
    failures: int


def marks(
    session: Session, run: str, attempts: Sequence[int] | None = None, limit: int = 1000
) -> list[Mark]:
    """Return a run's failures that have a step, by attempt and step."""
    own = (Failure.attempt, Failure.step, FailureGroup.what, FailureGroup.id)
    has_samples = exists().where(FailureSample.failure_id == Failure.id)
    named = case((has_samples, Failure.rank), else_=None)
    query = (
        select(*own, func.coalesce(func.min(named), func.min(Failure.rank)), func.count())
        .join(FailureGroup, FailureGroup.id == Failure.group_id)
        .join(Run, Run.id == FailureGroup.run_id)
        .where(Run.key == run, Failure.step.is_not(None))
        .group_by(Failure.attempt, Failure.step, FailureGroup.id)
        .order_by(Failure.attempt, Failure.step, FailureGroup.id)
        .limit(limit)
    )
    if attempts is not None:
        query = query.where(Failure.attempt.in_(attempts))
    return [
        Mark(attempt, step or 0, what, group_id, rank, number)
        for attempt, step, what, group_id, rank, number in session.execute(query)
    ]
