"""Which samples steps used, as the trainers told it: rows of packed events, read for one step."""

import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import case, select
from sqlalchemy.orm import Session

from sickbay.contract.blame import Batches
from sickbay.contract.event_batch import from_json
from sickbay.contract.paths import SamplePath, from_record
from sickbay.runs.samples.tables import UsedSamples

MOST_ROWS = 32
"""Rows that are unpacked for one step: trainers of many ranks tell overlapping ranges."""
MOST_RANKS = 64
_Lost: TypeAlias = tuple[SamplePath, float | None]
"""A sample, and its loss where that is known."""


@dataclass(frozen=True, slots=True)
class UsedStep:
    """What one step of one rank used."""

    rank: int
    step: int
    samples: tuple[_Lost, ...]


def nearest(session: Session, attempt_id: int, step: int, rank: int | None) -> UsedStep | None:
    """Return what a step used, or the told step nearest to it; nothing where none was told.

    Where a step was told more than once, what was told last counts. Without a rank, the first
    that told of it.
    """
    best: tuple[int, int, Any, Batches, int] | None = None
    for row in _rows(session, attempt_id, step, rank):
        if best is not None and row.distance > best[0]:
            break
        body = _batches(row.body)
        place = _nearest_place(body, step)
        found = abs(body.steps[place] - step), body.steps[place]
        if best is None or found < best[:2]:
            best = *found, row, body, place
        if not best[0]:
            break
    if best is None:
        return None
    _, found_step, row, body, place = best
    return UsedStep(row.rank, found_step, tuple(_samples(body, place)))


def ranks(session: Session, attempt_id: int, step: int) -> tuple[int, ...]:
    """Return the ranks that may have told of a step, at most :data:`MOST_RANKS`."""
    query = (
        select(UsedSamples.rank)
        .where(
            UsedSamples.attempt_id == attempt_id,
            UsedSamples.first_step <= step,
            UsedSamples.last_step >= step,
        )
        .distinct()
        .order_by(UsedSamples.rank)
        .limit(MOST_RANKS)
    )
    return tuple(session.scalars(query))


def _rows(session: Session, attempt_id: int, step: int, rank: int | None) -> Iterator[Any]:
    """Yield the rows whose ranges lie nearest; of each rank, what came last first."""
    distance = case(
        (UsedSamples.first_step > step, UsedSamples.first_step - step),
        (UsedSamples.last_step < step, step - UsedSamples.last_step),
        else_=0,
    ).label("distance")
    query = select(UsedSamples.rank, UsedSamples.body, distance).where(
        UsedSamples.attempt_id == attempt_id
    )
    if rank is not None:
        query = query.where(UsedSamples.rank == rank)
    ordered = query.order_by(distance, UsedSamples.rank, UsedSamples.id.desc())
    yield from session.execute(ordered.limit(MOST_ROWS))


def _batches(packed: bytes) -> Batches:
    body = from_json(json.loads(zlib.decompress(packed))).body
    if not isinstance(body, Batches):
        raise TypeError("A row of used samples holds another event.")
    return body


def _nearest_place(body: Batches, step: int) -> int:
    """Return where in the columns the nearest step lies; the last place of it."""
    return min(
        range(len(body.steps)),
        key=lambda place: (abs(body.steps[place] - step), body.steps[place], -place),
    )


def _samples(body: Batches, place: int) -> Iterator[_Lost]:
    """Yield a step's samples.

    Where not one loss is a number, none is known: a step may have been told without its losses.
    That they were NaN is told by its failure.
    """
    start = sum(body.counts[:place])
    end = start + body.counts[place]
    known = not all(map(math.isnan, body.losses[start:end]))
    for at in range(start, end):
        one = body.paths[body.samples[at]]
        yield from_record(one.path, one.path_bytes), body.losses[at] if known else None
