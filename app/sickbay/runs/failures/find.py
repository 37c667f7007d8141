"""Failures and their groups as pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from sickbay.contract import strict_json
from sickbay.contract.errors import NotFound
from sickbay.runs.failures.tables import Failure, FailureGroup, FailureSample
from sickbay.runs.tables import Run

MOST_OF_A_FACET = 20


@dataclass(frozen=True, slots=True)
class SampleCount:
    """A sample, by its path and its id where the data set has it, and in how many failures."""

    path: str
    sample_id: int | None
    failures: int


@dataclass(frozen=True, slots=True)
class RankCount:
    """A rank, when it first failed, and how often; ``root`` says it is no mere consequence."""

    rank: int
    root: bool
    first_at: datetime
    failures: int


@dataclass(frozen=True, slots=True)
class FailureView:
    """One failure. ``event`` holds every field as the trainer sent it."""

    id: int
    group_id: int
    attempt: int
    rank: int
    seq: int
    step: int | None
    secondary: bool
    time: datetime
    received_at: datetime
    event: Mapping[str, Any]
    samples: tuple[SampleCount, ...]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group in a list."""

    id: int
    run: str
    run_name: str
    what: str
    exception_type: str
    message: str
    layer: str | None
    category: str | None
    failures: int
    first_step: int | None
    last_step: int | None
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group with its facets.

    Attributes:
        ranks: the root cause's first; the first :data:`MOST_OF_A_FACET` of ``rank_count``.
        samples: those of most failures first; the first of ``sample_count``.
        root: the failure that set it off: the earliest that is no known consequence.
    """

    row: GroupRow
    fingerprint: str
    version: int
    attempts: tuple[int, ...]
    ranks: tuple[RankCount, ...]
    rank_count: int
    samples: tuple[SampleCount, ...]
    sample_count: int
    root: FailureView


def groups(session: Session, run: str | None = None, limit: int = 100) -> list[GroupRow]:
    """Return groups of a run, or of all runs, the one with the newest failure first."""
    query = (
        _rows()
        .where(FailureGroup.failures > 0)
        .order_by(FailureGroup.last_at.desc(), FailureGroup.id.desc())
    )
    if run is not None:
        query = query.where(Run.key == run)
    return [GroupRow(*row) for row in session.execute(query.limit(limit))]


def _rows() -> Select[Any]:
    own = (getattr(FailureGroup, name) for name in GroupRow.__slots__ if name not in _OF_THE_RUN)
    identity, *rest = own
    return select(identity, Run.key, Run.name, *rest).join(Run, Run.id == FailureGroup.run_id)


_OF_THE_RUN = ("run", "run_name")


def group(session: Session, group_id: int) -> GroupView:
    """Return a group; one that was merged is answered with the group it became part of.

    Raises:
        NotFound: there is no such group.
    """
    found = session.get(FailureGroup, group_id)
    if found is not None and found.merged_into is not None:
        found = session.get(FailureGroup, found.merged_into)
    if found is None or not found.failures:
        raise NotFound("There is no such failure group.")
    row = GroupRow(*session.execute(_rows().where(FailureGroup.id == found.id)).one())
    ranks = _ranks(session, found.id)
    samples = _samples(session, FailureSample.group_id == found.id)
    attempts = session.scalars(
        select(Failure.attempt).where(Failure.group_id == found.id).distinct()
    ).all()
    return GroupView(
        row,
        found.fingerprint,
        found.version,
        tuple(sorted(attempts)),
        tuple(ranks[:MOST_OF_A_FACET]),
        len(ranks),
        tuple(samples[:MOST_OF_A_FACET]),
        len(samples),
        _root(session, found.id),
    )


def _ranks(session: Session, group_id: int) -> list[RankCount]:
    """Return a group's ranks in the order of causes: roots before consequences, then by time."""
    secondary, first = func.min(Failure.secondary), func.min(Failure.time)
    rows = session.execute(
        select(Failure.rank, secondary, first, func.count())
        .where(Failure.group_id == group_id)
        .group_by(Failure.rank)
        .order_by(secondary, first, Failure.rank)
    )
    return [RankCount(rank, not after, at, number) for rank, after, at, number in rows]


def _samples(session: Session, which: Any) -> list[SampleCount]:
    number = func.count()
    rows = session.execute(
        select(FailureSample.path, func.max(FailureSample.sample_id), number)
        .where(which)
        .group_by(FailureSample.raw_path, FailureSample.path)
        .order_by(number.desc(), FailureSample.raw_path)
    )
    return [SampleCount(*row) for row in rows]


def _root(session: Session, group_id: int) -> FailureView:
    found = session.scalars(
        select(Failure)
        .where(Failure.group_id == group_id)
        .order_by(Failure.secondary, Failure.time, Failure.rank, Failure.seq)
        .limit(1)
    ).one()
    return _views(session, [found])[0]


def failures(session: Session, group_id: int, after: int = 0, size: int = 50) -> list[FailureView]:
    """Return failures of a group in the order they came, after the one with id ``after``."""
    rows = session.scalars(
        select(Failure)
        .where(Failure.group_id == group_id, Failure.id > after)
        .order_by(Failure.id)
        .limit(size)
    ).all()
    return _views(session, rows)


def failure(session: Session, failure_id: int) -> FailureView:
    """Return one failure.

    Raises:
        NotFound: there is no such failure.
    """
    found = session.get(Failure, failure_id)
    if found is None:
        raise NotFound("There is no such failure.")
    return _views(session, [found])[0]


def _views(session: Session, rows: Sequence[Failure]) -> list[FailureView]:
    samples: dict[int, list[SampleCount]] = {}
    for failure_id, path, sample_id in session.execute(
        select(FailureSample.failure_id, FailureSample.path, FailureSample.sample_id)
        .where(FailureSample.failure_id.in_([row.id for row in rows]))
        .order_by(FailureSample.id)
    ):
        samples.setdefault(failure_id, []).append(SampleCount(path, sample_id, 1))
    return [_view(row, tuple(samples.get(row.id, ()))) for row in rows]


def _view(row: Failure, samples: tuple[SampleCount, ...]) -> FailureView:
    return FailureView(
        id=row.id,
        group_id=row.group_id,
        attempt=row.attempt,
        rank=row.rank,
        seq=row.seq,
        step=row.step,
        secondary=row.secondary,
        time=row.time,
        received_at=row.received_at,
        event=strict_json.loads(row.event),
        samples=samples,
    )


def count(session: Session, runs: Sequence[int]) -> dict[int, int]:
    """Return how many failures each of some runs has had."""
    rows = session.execute(
        select(FailureGroup.run_id, func.sum(FailureGroup.failures))
        .where(FailureGroup.run_id.in_(runs))
        .group_by(FailureGroup.run_id)
    )
    return dict(rows.all())
