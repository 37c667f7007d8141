"""The orders of a queue, and walking along one from a place on.

Every order is driven by an index within one status, so several statuses are walked side by
side and merged. Where an order has two parts, each is a branch of its own: the samples that
failed in training come first in ``failures``, few and by how often, the rest by path; those that
were never held have no time and come last in ``newest``, where a comparison with nothing in it
would lose them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, func, select, true, tuple_, union_all
from sqlalchemy.orm import Session

from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.matching import conditions, narrowing
from sickbay.quarantine.tables import Sample, Status

Branch: TypeAlias = ColumnElement[bool]
"""A condition on the place in an order; a list of them is disjoint and covers all."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sample stands in any order."""

    id: int
    raw_path: bytes
    held_at: datetime | None
    failures: int = 0


def place_of(session: Session, data_set_id: int, sample_id: int) -> Place | None:
    """Return where a sample stands, or nothing where it is not in the data set."""
    row = session.execute(
        select(Sample.id, Sample.raw_path, Sample.held_at, Sample.failures).where(
            Sample.id == sample_id, Sample.data_set_id == data_set_id, Sample.gone.is_(False)
        )
    ).first()
    return None if row is None else Place(*row)


def following(sort: str, place: Place | None) -> list[Branch]:
    """Return what comes after a place; without one, everything."""
    if sort == "path":
        return [true() if place is None else Sample.raw_path > place.raw_path]
    if sort == "failures":
        return _failing_after(place)
    untimed = Sample.held_at.is_(None)
    if place is None:
        return [Sample.held_at.is_not(None), untimed]
    if place.held_at is None:
        return [untimed & (Sample.id < place.id)]
    return [tuple_(Sample.held_at, Sample.id) < _time_and_id(place), untimed]


def preceding(sort: str, place: Place) -> list[Branch]:
    """Return what comes before a place."""
    if sort == "path":
        return [Sample.raw_path < place.raw_path]
    if sort == "failures":
        return _failing_before(place)
    if place.held_at is None:
        return [Sample.held_at.is_not(None), Sample.held_at.is_(None) & (Sample.id > place.id)]
    return [tuple_(Sample.held_at, Sample.id) > _time_and_id(place)]


def _failing_after(place: Place | None) -> list[Branch]:
    failed, sound = Sample.failures > 0, Sample.failures == 0
    if place is None:
        return [failed, sound]
    if not place.failures:
        return [sound & (Sample.raw_path > place.raw_path)]
    alike = (Sample.failures == place.failures) & (Sample.raw_path > place.raw_path)
    return [failed & ((Sample.failures < place.failures) | alike), sound]


def _failing_before(place: Place) -> list[Branch]:
    if not place.failures:
        sound = (Sample.failures == 0) & (Sample.raw_path < place.raw_path)
        return [Sample.failures > 0, sound]
    alike = (Sample.failures == place.failures) & (Sample.raw_path < place.raw_path)
    return [(Sample.failures > place.failures) | alike]


def _time_and_id(place: Place) -> Any:
    return tuple_(place.held_at, place.id, types=[Sample.held_at.type, Sample.id.type])


def walk(
    session: Session,
    data_set_id: int,
    chosen: Filter,
    branches: Sequence[Branch],
    *,
    limit: int,
    back: bool = False,
) -> list[int]:
    """Return the keys of the next samples that match, in order; ``back`` goes the other way."""
    parts = [
        _part(data_set_id, status, chosen, branch, back=back).limit(limit).subquery()
        for status in chosen.status
        for branch in branches
    ]
    merged = union_all(*(select(part) for part in parts)).subquery()
    found = select(merged.c.id).order_by(*_by(merged.c, chosen.sort, back=back)).limit(limit)
    return list(session.scalars(found))


def _part(
    data_set_id: int, status: Status, chosen: Filter, branch: Branch, *, back: bool
) -> Select[int, bytes, datetime | None, int]:
    """Return the walk within one status and branch, which one index serves."""
    return (
        select(Sample.id, Sample.raw_path, Sample.held_at, Sample.failures)
        .where(
            Sample.data_set_id == data_set_id,
            Sample.gone.is_(False),
            Sample.status == status,
            branch,
            *narrowing(chosen),
        )
        .order_by(*_by(Sample, chosen.sort, back=back, nulls=False))
    )


def _by(columns: Any, sort: str, *, back: bool, nulls: bool = True) -> list[Any]:
    """Return the order; ``nulls`` where rows with and without a time are mixed."""
    if sort == "path":
        return [columns.raw_path.desc() if back else columns.raw_path.asc()]
    if sort == "failures":
        if back:
            return [columns.failures.asc(), columns.raw_path.desc()]
        return [columns.failures.desc(), columns.raw_path.asc()]
    timed = columns.held_at.asc() if back else columns.held_at.desc()
    if nulls:
        timed = timed.nulls_first() if back else timed.nulls_last()
    return [timed, columns.id.asc() if back else columns.id.desc()]


def count(session: Session, data_set_id: int, chosen: Filter, branches: Sequence[Branch]) -> int:
    """Return how many matching samples the branches hold."""
    parts = [
        select(func.count().label("samples"))
        .select_from(Sample)
        .where(*conditions(data_set_id, chosen), branch)
        for branch in branches
    ]
    counted = union_all(*parts).subquery()
    return int(session.scalar(select(func.sum(counted.c.samples))) or 0)
