"""Where training stumbled: the failures of a sample, and the verdicts on failures."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session

from sickbay.contract.blame import Outcome
from sickbay.contract.event_batch import from_json
from sickbay.contract.paths import from_record
from sickbay.runs.failures.tables import Failure, FailureGroup, FailureSample
from sickbay.runs.samples.tables import FailureVerdict
from sickbay.runs.tables import Attempt, Run

MOST_SEEN = 50
"""Failures that a sample's page lists."""
MOST_VERDICTS = 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """A failure whose batch a sample was in."""

    run: str
    run_name: str
    attempt: int
    rank: int
    step: int | None
    what: str
    loss: float | None
    outcome: Outcome | None
    group_id: int
    at: datetime


def seen(session: Session, sample_id: int) -> list[Seen]:
    """Return the failures whose batch a sample was in, newest first."""
    rows = session.execute(
        select(
            Run.key,
            Run.name,
            Failure.attempt_id,
            Failure.attempt,
            Failure.rank,
            Failure.step,
            Failure.ref,
            Failure.event,
            Failure.time,
            FailureGroup.id,
            FailureGroup.what,
            FailureSample.raw_path,
        )
        .join(Failure, Failure.id == FailureSample.failure_id)
        .join(FailureGroup, FailureGroup.id == Failure.group_id)
        .join(Run, Run.id == FailureGroup.run_id)
        .where(FailureSample.sample_id == sample_id)
        .order_by(Failure.time.desc(), Failure.id.desc())
        .limit(MOST_SEEN)
    ).all()
    outcomes = _outcomes(session, {(row.attempt_id, row.ref) for row in rows if row.ref})
    return [
        Seen(
            run=row.key,
            run_name=row.name,
            attempt=row.attempt,
            rank=row.rank,
            step=row.step,
            what=row.what,
            loss=_loss_in(row.event, row.raw_path),
            outcome=outcomes.get((row.attempt_id, row.ref)),
            group_id=row.id,
            at=row.time,
        )
        for row in rows
    ]


def verdicts(session: Session, run: str) -> dict[tuple[int, int, int], Outcome]:
    """Return what repeating a run's failures showed, by attempt, step and group; the newest."""
    rows = session.execute(
        select(Failure.attempt, Failure.step, Failure.group_id, FailureVerdict.outcome)
        .join(Attempt, Attempt.id == FailureVerdict.attempt_id)
        .join(Run, Run.id == Attempt.run_id)
        .join(
            Failure,
            (Failure.attempt_id == FailureVerdict.attempt_id) & (Failure.ref == FailureVerdict.ref),
        )
        .where(Run.key == run, Failure.step.is_not(None))
        .order_by(FailureVerdict.id.desc())
        .limit(MOST_VERDICTS)
    )
    found: dict[tuple[int, int, int], Outcome] = {}
    for attempt, step, group_id, outcome in rows:
        found.setdefault((attempt, step or 0, group_id), Outcome(outcome))
    return found


def _outcomes(
    session: Session, keys: Collection[tuple[int, str]]
) -> Mapping[tuple[int, str], Outcome]:
    """Return the newest verdict on each failure."""
    own = FailureVerdict.attempt_id, FailureVerdict.ref
    newest = select(func.max(FailureVerdict.id)).where(tuple_(*own).in_(keys)).group_by(*own)
    rows = session.execute(
        select(FailureVerdict.attempt_id, FailureVerdict.ref, FailureVerdict.outcome).where(
            FailureVerdict.id.in_(newest)
        )
    )
    return {(row.attempt_id, row.ref): Outcome(row.outcome) for row in rows}


def _loss_in(line: bytes, raw_path: bytes) -> float | None:
    """Return the loss that a failure's event gives for one of its samples."""
    body = from_json(json.loads(line)).body
    for one in getattr(body, "samples", ()):
        if from_record(one.path, one.path_bytes).raw == raw_path:
            loss: float | None = one.loss
            return loss
    return None
