"""The samples of a step: what its batch held, what failures and verdicts say of them."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.blame import Outcome
from sickbay.contract.blame import Sample as Told
from sickbay.contract.blame import Verdict as VerdictBody
from sickbay.contract.errors import NotFound
from sickbay.contract.event import Failure as FailureBody
from sickbay.contract.event_batch import from_json
from sickbay.contract.paths import SamplePath, from_record
from sickbay.quarantine.tables import DataSet, Sample, Status
from sickbay.runs.failures.tables import Failure
from sickbay.runs.samples import used
from sickbay.runs.samples.tables import FailureVerdict
from sickbay.runs.samples.used import UsedStep
from sickbay.runs.tables import Attempt, Run

MOST_SHOWN = 256
"""Samples of one step, those of highest loss."""
MOST_FAILURES = 20
"""Failures of one step that are read for what they say of its samples."""


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
    """By a verdict, or by a failure that names it alone."""


@dataclass(frozen=True, slots=True)
class StepSamples:
    """What one step of one rank used; ``step`` is the one nearest to what was asked for.

    Attributes:
        samples: those blamed first, then by loss, NaN before all; the first of ``total``.
        outcome: what a verdict on a failure at this step says, where there is one.
        data_set: the data set that the samples are in, where it is known here.
        ranks: those that may have told of this step.
    """

    attempt: int
    rank: int
    step: int
    samples: tuple[StepSample, ...]
    total: int
    outcome: Outcome | None
    data_set: str | None
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Blame:
    """What failures of a step, and the newest verdict on one, say of its samples."""

    rank: int | None = None
    losses: Mapping[SamplePath, float | None] | None = None
    named: frozenset[SamplePath] = frozenset()
    outcome: Outcome | None = None


def of_step(
    session: Session, run: str, attempt: int, step: int, rank: int | None = None
) -> StepSamples:
    """Return what a step used, or the told step nearest to it.

    What a failure at this step names belongs to it, whether or not its batch ever arrived.
    Without a rank, the one that failed there, else the first that told of the step.

    Raises:
        NotFound: no such run or attempt, or nothing was told of it.
    """
    found = session.scalar(
        select(Attempt)
        .join(Run, Run.id == Attempt.run_id)
        .where(Run.key == run, Attempt.number == attempt)
    )
    if found is not None:
        blame = _blame(session, found.id, step, rank)
        chosen = blame.rank if rank is None else rank
        near = used.nearest(session, found.id, step, chosen)
        if blame.losses:
            return _view(session, found, _with_named(near, step, blame), blame)
        if near is not None:
            same = near.step == step
            told = blame if same else _blame(session, found.id, near.step, near.rank)
            return _view(session, found, near, told)
    raise NotFound("Which samples this run used was not recorded; a watched step tells.")


def _with_named(near: UsedStep | None, step: int, blame: _Blame) -> UsedStep:
    """Add what failures know to what the step used; where nothing else was told, it is all."""
    known = dict(blame.losses or {})
    same = near is not None and near.step == step and near.rank == blame.rank
    batch = near.samples if near is not None and same else ()
    merged = [(path, _known(loss, known.pop(path, None))) for path, loss in batch]
    return UsedStep(blame.rank or 0, step, (*merged, *known.items()))


def _known(loss: float | None, told: float | None) -> float | None:
    return loss if told is None else told


def _blame(session: Session, attempt_id: int, step: int, rank: int | None) -> _Blame:
    """Read the failures of a step; of several ranks, the first whose failure names samples."""
    query = select(Failure.rank, Failure.ref, Failure.event).where(
        Failure.attempt_id == attempt_id, Failure.step == step
    )
    if rank is not None:
        query = query.where(Failure.rank == rank)
    rows = session.execute(query.order_by(Failure.rank, Failure.id).limit(MOST_FAILURES)).all()
    named = [(row.rank, row.ref, _samples_in(row.event)) for row in rows]
    own = next((one for one, _, samples in named if samples), None)
    of_rank = [(ref, samples) for one, ref, samples in named if one == own]
    if not of_rank:
        return _Blame()
    verdict = _verdict(session, attempt_id, dict(of_rank))
    alone = [samples[0] for _, samples in of_rank if len(samples) == 1]
    blamed = _by_path([*alone, *verdict.blamed])
    batches = _by_path(one for _, samples in of_rank for one in samples)
    losses = {
        path: _known(_known(verdict.ranked.get(path), loss), blamed.get(path))
        for path, loss in batches.items()
    }
    return _Blame(own, blamed | losses, frozenset(blamed), verdict.outcome)


def _by_path(samples: Iterable[Told]) -> dict[SamplePath, float | None]:
    """Return samples with their losses; of one that is told twice, the last loss known."""
    found: dict[SamplePath, float | None] = {}
    for one in samples:
        path = from_record(one.path, one.path_bytes)
        found[path] = _known(found.get(path), one.loss)
    return found


def _samples_in(line: bytes) -> tuple[Told, ...]:
    body = from_json(json.loads(line)).body
    return body.samples if isinstance(body, FailureBody) else ()


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What repeating a step showed: whom it blames, and the losses that samples had then."""

    outcome: Outcome | None = None
    blamed: tuple[Told, ...] = ()
    ranked: Mapping[SamplePath, float] = field(default_factory=dict)


def _verdict(
    session: Session, attempt_id: int, batches: Mapping[str | None, Sequence[Told]]
) -> _Verdict:
    """Return the newest verdict on any of these failures, given by their refs."""
    refs = [ref for ref in batches if ref]
    row = session.execute(
        select(FailureVerdict.outcome, FailureVerdict.event, FailureVerdict.ref)
        .where(FailureVerdict.attempt_id == attempt_id, FailureVerdict.ref.in_(refs))
        .order_by(FailureVerdict.id.desc())
        .limit(1)
    ).first()
    body = None if row is None else from_json(json.loads(row.event)).body
    if row is None or not isinstance(body, VerdictBody):
        return _Verdict()
    ranked = dict(_ranked(body, batches[row.ref]))
    return _Verdict(Outcome(row.outcome), body.samples, ranked)


def _ranked(verdict: VerdictBody, batch: Sequence[Told]) -> Iterator[tuple[SamplePath, float]]:
    """Yield the losses that samples of the batch had when the step was repeated, by their rows."""
    for one in verdict.detail.get("ranking", ()):
        with suppress(TypeError, ValueError, KeyError, AttributeError, IndexError):
            if one["batch"] == "this" and one["row"] >= 0:
                told = batch[one["row"]]
                yield from_record(told.path, told.path_bytes), float(one["loss"])


def _view(session: Session, attempt: Attempt, found: UsedStep, blame: _Blame) -> StepSamples:
    ordered = sorted(found.samples, key=lambda one: (one[0] not in blame.named, *_highest(one)))
    shown = ordered[:MOST_SHOWN]
    rows = _rows(session, attempt.data_set_id, [path.raw for path, _ in shown])
    return StepSamples(
        attempt=attempt.number,
        rank=found.rank,
        step=found.step,
        samples=tuple(
            _sample(path, loss, rows.get(path.raw), blamed=path in blame.named)
            for path, loss in shown
        ),
        total=len(ordered),
        outcome=blame.outcome,
        data_set=_name(session, attempt.data_set_id),
        ranks=used.ranks(session, attempt.id, found.step),
    )


def _name(session: Session, data_set_id: int | None) -> str | None:
    found = None if data_set_id is None else session.get(DataSet, data_set_id)
    return None if found is None else found.name


def _highest(one: tuple[SamplePath, float | None]) -> tuple[bool, float, bytes]:
    path, loss = one
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
