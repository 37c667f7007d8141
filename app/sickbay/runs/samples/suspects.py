"""Which samples of a failure are held for review, and what is told of them.

A failure that names one sample points at it. A batch of hundreds is no evidence against any of
them: of those, only what a verdict blames is held, and nothing where repeating the step showed
that the data are not the cause.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sickbay.contract.blame import Outcome, Verdict
from sickbay.contract.blame import Sample as Used
from sickbay.contract.event import FailureKind
from sickbay.contract.fields import number_to_json
from sickbay.contract.paths import from_record
from sickbay.quarantine.tables import Sample
from sickbay.quarantine.training import Suspect, suspect
from sickbay.runs.failures.ready import ReadyFailure
from sickbay.runs.failures.tables import Failure, FailureGroup
from sickbay.runs.tables import Attempt, Run

MOST_BLAMED = 3
"""Samples of one verdict that are held: what is ranked below is mere company."""
_AGAINST_THE_DATA = frozenset({Outcome.REPRODUCED_ALONE, Outcome.ONLY_IN_THIS_STATE})
_SAID = {
    Outcome.REPRODUCED_ALONE: "and does it again by itself",
    Outcome.ONLY_IN_THIS_STATE: "and does it again, in this state of the model only",
}
_WORDS = {
    FailureKind.LOADER_ERROR: "The loader raised on it",
    FailureKind.WORKER_KILLED: "A loader's process was killed at it",
    FailureKind.NON_FINITE_INPUT: "It came out of the loader as NaN or infinite",
    FailureKind.NON_FINITE_LABEL: "Its label is NaN or infinite",
    FailureKind.NON_FINITE_LOSS: "It was in a batch whose loss is NaN or infinite",
    FailureKind.NON_FINITE_GRADIENT: "It was in a batch with a gradient that is NaN or infinite",
    FailureKind.LOSS_SPIKE: "It was in a batch whose loss is far above those before",
    FailureKind.SHAPE_MISMATCH: "It came out of the loader in another shape or type",
    FailureKind.LABEL_ASSERT: "Its label is outside of the classes",
    FailureKind.OUT_OF_MEMORY: "Memory ran out on a batch with it",
    FailureKind.OTHER: "The job failed on it",
}


def count_failures(session: Session, sample_ids: Sequence[int]) -> None:
    """Note that these samples, each as often as it is given, were in a failure's batch."""
    for sample_id in sample_ids:
        session.execute(
            update(Sample)
            .where(Sample.id == sample_id)
            .values(failures=Sample.failures + 1)
            .execution_options(synchronize_session=False)
        )


def hold_named(
    session: Session,
    attempt: Attempt,
    failures: Sequence[tuple[ReadyFailure, int]],
    at: datetime,
) -> None:
    """Hold the samples of failures that name one each, given with the sample's key."""
    if attempt.data_set_id is None or not failures:
        return
    run = session.get_one(Run, attempt.run_id)
    found = [
        Suspect(
            sample_id,
            f"training.{one.body.what}",
            _item(run.name, attempt.number, one.body.ref or f"{one.event.rank}.{one.event.seq}"),
            _sentence(one.body.what, run.name, one.body.step, one.body.exception_type),
            _detail(run, attempt, one.event.rank, one.body.step, one.body.samples[0].loss),
        )
        for one, sample_id in failures
    ]
    suspect(session, attempt.data_set_id, found, by=f"run {run.name}", at=at)


def hold_blamed(session: Session, attempt: Attempt, verdict: Verdict, at: datetime) -> None:
    """Hold the samples that a verdict blames, with the verdict beside them."""
    if attempt.data_set_id is None or verdict.outcome not in _AGAINST_THE_DATA:
        return
    failure = session.execute(
        select(Failure.rank, Failure.step, FailureGroup.what)
        .join(FailureGroup, FailureGroup.id == Failure.group_id)
        .where(Failure.attempt_id == attempt.id, Failure.ref == verdict.failure)
        .limit(1)
    ).first()
    rank, step, what = failure or (0, None, FailureKind.OTHER)
    run, kind = session.get_one(Run, attempt.run_id), FailureKind(what)
    blamed = verdict.samples[:MOST_BLAMED]
    keys = _keys(session, attempt.data_set_id, blamed)
    found = [
        Suspect(
            keys[raw],
            f"training.{kind}",
            _item(run.name, attempt.number, verdict.failure),
            f"{_sentence(kind, run.name, step)[:-1]}, {_SAID[verdict.outcome]}.",
            {
                **_detail(run, attempt, rank, step, one.loss),
                "verdict": verdict.outcome.value,
                "failure": verdict.failure,
            },
        )
        for one in blamed
        if (raw := from_record(one.path, one.path_bytes).raw) in keys
    ]
    suspect(session, attempt.data_set_id, found, by=f"run {run.name}", at=at)


def _keys(session: Session, data_set_id: int, used: Sequence[Used]) -> dict[bytes, int]:
    raws = [from_record(one.path, one.path_bytes).raw for one in used]
    rows = session.execute(
        select(Sample.raw_path, Sample.id).where(
            Sample.data_set_id == data_set_id, Sample.raw_path.in_(raws)
        )
    )
    return {row.raw_path: row.id for row in rows}


def _item(run: str, attempt: int, failure: str) -> str:
    return f"{run[:200]}, attempt {attempt}, {failure}"


def _sentence(kind: FailureKind, run: str, step: int | None, exception: str = "") -> str:
    place = "" if step is None else f" at step {step:,}"
    raised = f" ({exception})" if exception else ""
    return f"{_WORDS[kind]}{place} of {run}{raised}."


def _detail(
    run: Run, attempt: Attempt, rank: int, step: int | None, loss: float | None
) -> dict[str, Any]:
    return {
        "run": run.key,
        "attempt": attempt.number,
        "rank": rank,
        "step": step,
        "loss": None if loss is None else number_to_json(loss),
    }
