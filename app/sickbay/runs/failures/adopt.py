"""Consequences that were received before their root cause move into its group."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from sickbay.runs.failures.group import Groups, around
from sickbay.runs.failures.ready import ReadyFailure
from sickbay.runs.failures.tables import Failure, FailureGroup, FailureSample

_EARLY = (
    Failure.attempt_id == bindparam("its_attempt"),
    Failure.secondary.is_(True),
    Failure.time.between(bindparam("since"), bindparam("until")),
)
_ORPHANED = (
    select(FailureGroup.id)
    .join(Failure, Failure.group_id == FailureGroup.id)
    .where(*_EARLY, FailureGroup.secondary.is_(True))
    .distinct()
)
_MOVE = (
    update(Failure)
    .where(Failure.group_id == bindparam("its_group"), *_EARLY)
    .values(group_id=bindparam("root"))
)
_MOVE_SAMPLES = (
    update(FailureSample)
    .where(
        FailureSample.group_id == bindparam("its_group"),
        FailureSample.failure_id.in_(
            select(Failure.id).where(Failure.group_id == bindparam("root"))
        ),
    )
    .values(group_id=bindparam("root"))
)


def adopt(session: Session, groups: Groups, attempt_id: int, roots: Sequence[ReadyFailure]) -> None:
    """Move what followed from these root causes and came first into the first one's group."""
    window = {"its_attempt": attempt_id, **around(roots)}
    orphaned = session.connection().execute(_ORPHANED, window).scalars().all()
    root = groups.root(attempt_id, roots) if orphaned else None
    if root is None:
        return
    for group_id in orphaned:
        _move(session, {**window, "its_group": group_id, "root": root.id})
    _recount(session, root.id)


def _move(session: Session, values: dict[str, Any]) -> None:
    connection = session.connection()
    connection.execute(_MOVE, values)
    connection.execute(_MOVE_SAMPLES, {"its_group": values["its_group"], "root": values["root"]})
    group = _recount(session, values["its_group"])
    group.merged_into = values["root"] if group.failures == 0 else None


def _recount(session: Session, group_id: int) -> FailureGroup:
    """Count a group's failures anew."""
    group = session.get_one(FailureGroup, group_id)
    number, first_step, last_step, first_at, last_at = session.execute(
        select(
            func.count(),
            func.min(Failure.step),
            func.max(Failure.step),
            func.min(Failure.time),
            func.max(Failure.time),
        ).where(Failure.group_id == group_id)
    ).one()
    group.failures = number
    if number:
        group.first_step, group.last_step = first_step, last_step
        group.first_at, group.last_at = first_at, last_at
    return group
