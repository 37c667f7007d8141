"""The samples of a step, and the steps of a sample."""

import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from sickbay.contract.blame import Batches, Outcome
from sickbay.contract.errors import NotFound
from sickbay.contract.event_batch import from_json
from sickbay.contract.paths import SamplePath, from_record
from sickbay.quarantine.tables import DataSet, Sample, Status
from sickbay.runs.failures.tables import Failure, FailureGroup, FailureSample
from sickbay.runs.samples.tables import FailureVerdict, UsedSamples
from sickbay.runs.tables import Attempt, Run

MOST_SHOWN = 256
"""Samples of one step, those of highest loss."""
MOST_SEEN = 50
"""Failures that a sample's page lists."""


@dataclass(frozen=True, slots=True)
class StepSample:
    """A sample that a step used. What the data set does not have has no key and no status."""

    path: str
    loss: float | None
    sample_id: int | None
    version: int | None
    status: Status | None
    thumbnail: str | None
    worst_code: str | None
    blamed: bool


@dataclass(frozen=True, slots=True)
class StepSamples:
    """What one step of one rank used; ``step`` is the one nearest to what was asked for.

    Attributes:
        samples: highest loss first, NaN before all; the first of ``total``.
        outcome: what a verdict on a failure at this step says, where there is one.
        data_set: the data set that the samples are in, where it is known here.
    """

    attempt: int
    rank: int
    step: int
    samples: tuple[StepSample, ...]
    total: int
    outcome: Outcome | None
    data_set: str | None


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


def of_step(
    session: Session, run: str, attempt: int, step: int, rank: int | None = None
) -> StepSamples:
    """Return what a step used, or the recorded step nearest to it.

    Without a rank, the first that recorded that step.

    Raises:
        NotFound: no such run or attempt, or nothing was recorded of it.
    """
    found = session.scalar(
        select(Attempt)
        .join(Run, Run.id == Attempt.run_id)
        .where(Run.key == run, Attempt.number == attempt)
    )
    row = None if found is None else _nearest(session, found.id, step, rank)
    if found is None or row is None:
        raise NotFound("Which samples this run used was not recorded; a watched step tells.")
    body = _batches(row.body)
    place = min(range(len(body.steps)), key=lambda at: (abs(body.steps[at] - step), body.steps[at]))
    return _view(session, found, row.rank, body, place)


def _nearest(session: Session, attempt_id: int, step: int, rank: int | None) -> Any:
    """Return the row whose steps lie nearest."""
    distance = case(
        (UsedSamples.first_step > step, UsedSamples.first_step - step),
        (UsedSamples.last_step < step, step - UsedSamples.last_step),
        else_=0,
    )
    query = select(UsedSamples.rank, UsedSamples.body).where(UsedSamples.attempt_id == attempt_id)
    if rank is not None:
        query = query.where(UsedSamples.rank == rank)
    ordered = query.order_by(distance, UsedSamples.rank, UsedSamples.id.desc()).limit(1)
    return session.execute(ordered).first()


def _batches(packed: bytes) -> Batches:
    body = from_json(json.loads(zlib.decompress(packed))).body
    if not isinstance(body, Batches):
        raise TypeError("A row of used samples holds another event.")
    return body


def _used(body: Batches, place: int) -> Iterator[tuple[SamplePath, float | None]]:
    start = sum(body.counts[:place])
    for at in range(start, start + body.counts[place]):
        one = body.paths[body.samples[at]]
        loss = body.losses[at] if body.losses else None
        yield from_record(one.path, one.path_bytes), loss


def _view(session: Session, attempt: Attempt, rank: int, body: Batches, place: int) -> StepSamples:
    step = body.steps[place]
    used = sorted(_used(body, place), key=_highest_first)
    shown = used[:MOST_SHOWN]
    outcome, blamed = _verdict_at(session, attempt.id, step)
    rows = _rows(session, attempt.data_set_id, [path.raw for path, _ in shown])
    return StepSamples(
        attempt=attempt.number,
        rank=rank,
        step=step,
        samples=tuple(
            _sample(path, loss, rows.get(path.raw), blamed=path.raw in blamed)
            for path, loss in shown
        ),
        total=len(used),
        outcome=outcome,
        data_set=_name(session, attempt.data_set_id),
    )


def _name(session: Session, data_set_id: int | None) -> str | None:
    found = None if data_set_id is None else session.get(DataSet, data_set_id)
    return None if found is None else found.name


def _highest_first(used: tuple[SamplePath, float | None]) -> tuple[bool, float, bytes]:
    path, loss = used
    if loss is None:
        return True, 0.0, path.raw
    return False, -math.inf if math.isnan(loss) else -loss, path.raw


def _sample(path: SamplePath, loss: float | None, row: Any, *, blamed: bool) -> StepSample:
    return StepSample(
        path=path.text,
        loss=loss,
        sample_id=row and row.id,
        version=row and row.version,
        status=row and row.status,
        thumbnail=row and row.thumbnail,
        worst_code=row and row.worst_code,
        blamed=blamed,
    )


def _rows(session: Session, data_set_id: int | None, raws: Sequence[bytes]) -> Mapping[bytes, Any]:
    if data_set_id is None:
        return {}
    rows = session.execute(
        select(
            Sample.raw_path,
            Sample.id,
            Sample.version,
            Sample.status,
            Sample.thumbnail,
            Sample.worst_code,
        ).where(
            Sample.data_set_id == data_set_id, Sample.gone.is_(False), Sample.raw_path.in_(raws)
        )
    )
    return {row.raw_path: row for row in rows}


def _verdict_at(
    session: Session, attempt_id: int, step: int
) -> tuple[Outcome | None, frozenset[bytes]]:
    """Return the newest verdict on a failure at a step, and whom it blames."""
    row = session.execute(
        select(FailureVerdict.outcome, FailureVerdict.event)
        .join(
            Failure,
            (Failure.attempt_id == FailureVerdict.attempt_id) & (Failure.ref == FailureVerdict.ref),
        )
        .where(FailureVerdict.attempt_id == attempt_id, Failure.step == step)
        .order_by(FailureVerdict.id.desc())
        .limit(1)
    ).first()
    if row is None:
        return None, frozenset()
    blamed = json.loads(row.event).get("samples", [])
    raws = (from_record(one["path"], one.get("path_bytes")).raw for one in blamed)
    return Outcome(row.outcome), frozenset(raws)


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


def _outcomes(session: Session, keys: set[tuple[int, str]]) -> dict[tuple[int, str], Outcome]:
    """Return the newest verdict on each failure."""
    refs = {ref for _, ref in keys}
    newest = (
        select(func.max(FailureVerdict.id))
        .where(FailureVerdict.ref.in_(refs))
        .group_by(FailureVerdict.attempt_id, FailureVerdict.ref)
    )
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
