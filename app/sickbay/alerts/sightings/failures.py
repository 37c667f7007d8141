"""Failures of runs: each group is one subject, however many ranks it struck."""

from datetime import timedelta

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from sickbay.alerts.sightings.sighting import (
    MAX_WORDS,
    Moment,
    News,
    Sighting,
    one_line,
    run_path,
)
from sickbay.alerts.tables import Rule, RuleKind
from sickbay.contract.event import FailureKind
from sickbay.runs.failures.tables import Failure, FailureGroup
from sickbay.runs.tables import Attempt, Run

SETTLES = timedelta(seconds=5)
"""Ranks that fail together report within seconds; until then it is open whose group is whose."""


def failures(session: Session, rule: Rule, moment: Moment) -> News:
    """Return the groups that failures were added to since the rule last looked."""
    newest = session.scalar(
        select(func.max(Failure.id)).where(
            Failure.id > rule.cursor, Failure.received_at <= moment.at - SETTLES
        )
    )
    if newest is None:
        return News()
    count = func.count()
    query = (
        select(FailureGroup, Run.key, Run.name, count)
        .join(Failure, Failure.group_id == FailureGroup.id)
        .join(Run, Run.id == FailureGroup.run_id)
        .where(Failure.id > rule.cursor, Failure.id <= newest)
        .group_by(FailureGroup.id)
        .order_by(func.min(Failure.id))
    )
    if rule.data_set:
        query = query.join(Attempt, Attempt.id == Failure.attempt_id).where(
            Attempt.dataset == rule.data_set
        )
    if wanted := _wanted(rule):
        query = query.where(FailureGroup.what.in_(wanted))
    return News(tuple(map(_sighting, session.execute(query))), cursor=newest)


def _wanted(rule: Rule) -> list[str]:
    return [FailureKind.LOSS_SPIKE.value] if rule.kind is RuleKind.SPIKE else rule.only


def _sighting(row: Row[FailureGroup, str, str, int]) -> Sighting:
    group, run, name, count = row
    return Sighting(
        subject=f"group:{group.id}",
        title=one_line(f"{name}: {group.what}{_step(group)}"),
        text="\n".join(_lines(group)),
        path=f"{run_path(run)}/groups/{group.id}",
        count=count,
    )


def _step(group: FailureGroup) -> str:
    return "" if group.first_step is None else f" at step {group.first_step:,}"


def _lines(group: FailureGroup) -> list[str]:
    what = f"{group.exception_type}: {group.message}" if group.exception_type else group.message
    lines = [one_line(what, MAX_WORDS)] if what.strip() else []
    number = "1 failure" if group.failures == 1 else f"{group.failures:,} failures"
    steps = (
        "" if group.first_step is None else f", steps {group.first_step:,} to {group.last_step:,}"
    )
    lines.append(f"{number} in this group so far{steps}.")
    if group.layer and group.category:
        lines.append(f"Layer: {group.layer}; category: {group.category}.")
    return lines
