"""One series' share of a fold, worked out on a snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.runs.curves import buckets as b
from sickbay.runs.curves import levels, points
from sickbay.runs.curves.buckets import Buckets
from sickbay.runs.curves.points import Points, joined
from sickbay.runs.curves.spark import Spark, drawn
from sickbay.runs.tables import Chunk, Page, Series

CHUNK = 1024
"""Points a chunk: large enough to pack well, small enough to read a few for a close look."""
PAGE = 64
"""Intervals a page."""


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk to be written."""

    first_step: int
    last_step: int
    points: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Totals:
    """What a series has over all its steps."""

    points: int
    nan: int
    pos_inf: int
    neg_inf: int
    first_step: int
    last_step: int

    def __add__(self, other: "Totals") -> "Totals":
        """Return what both have together."""
        return Totals(
            self.points + other.points,
            self.nan + other.nan,
            self.pos_inf + other.pos_inf,
            self.neg_inf + other.neg_inf,
            min(self.first_step, other.first_step),
            max(self.last_step, other.last_step),
        )


def totals(new: Points) -> Totals:
    """Return the totals of points, which are in order."""
    values = new.values
    return Totals(
        len(new),
        int(np.isnan(values).sum()),
        int((values == np.inf).sum()),
        int((values == -np.inf).sum()),
        int(new.steps[0]),
        int(new.steps[-1]),
    )


@dataclass(slots=True)
class FoldedSeries:
    """What a fold makes of a series."""

    name: str
    series_id: int | None
    totals: Totals
    base: int | None
    counts: list[int]
    spark: Spark
    """The new points alone, in a few buckets."""
    open_chunk: int | None = None
    """The chunk that new points were added to, now to be replaced."""
    chunks: list[NewChunk] = field(default_factory=list)
    dropped_levels: list[int] = field(default_factory=list)
    pages: dict[tuple[int, int], bytes] = field(default_factory=dict)


def folded(session: Session, name: str, known: Series | None, new: Points) -> FoldedSeries:
    """Return what becomes of a series with new points, which are in order."""
    made = FoldedSeries(name, None, totals(new), None, [], drawn(new))
    if known is not None:
        made.series_id, made.base, made.counts = known.id, known.base, list(known.counts)
        made.totals += Totals(*(getattr(known, part) for part in Totals.__slots__))
    there = _open_chunk(session, made)
    _chunk(made, new if there is None else joined([there, new]))
    _summarise(session, made, new)
    return made


def _open_chunk(session: Session, made: FoldedSeries) -> Points | None:
    """Return the points of the series' last chunk where there is room in it."""
    if made.series_id is None:
        return None
    row = session.execute(
        select(Chunk.id, Chunk.points, Chunk.data)
        .where(Chunk.series_id == made.series_id)
        .order_by(Chunk.id.desc())
        .limit(1)
    ).one_or_none()
    if row is None or row.points >= CHUNK:
        return None
    made.open_chunk = row.id
    return points.unpack(row.data)


def _chunk(made: FoldedSeries, all_points: Points) -> None:
    for at in range(0, len(all_points), CHUNK):
        part = all_points.chosen(slice(at, at + CHUNK))
        made.chunks.append(
            NewChunk(int(part.steps[0]), int(part.steps[-1]), len(part), points.pack(part))
        )


def _summarise(session: Session, made: FoldedSeries, new: Points) -> None:
    """Bring the pages up to date, or begin them once there are enough points."""
    number = made.totals.points
    if made.base is None:
        if number >= levels.FEW:
            base, stack = levels.built(joined([*_all_points(session, made), new]))
            made.base, made.counts = base, [0] * len(stack)
            for level, buckets in enumerate(stack, start=base):
                _put(made, level, buckets, {})
        return
    found = b.summarised(new, levels.width_of(made.base))
    for level in range(made.base, made.base + len(made.counts)):
        _merge(session, made, level, found)
        found = b.widened(found, levels.FACTOR)
    _raise_top(session, made)
    _raise_base(session, made, number)


def _all_points(session: Session, made: FoldedSeries) -> list[Points]:
    if made.series_id is None:
        return []
    rows = session.scalars(select(Chunk.data).where(Chunk.series_id == made.series_id))
    return [points.unpack(data) for data in rows]


def _merge(session: Session, made: FoldedSeries, level: int, found: Buckets) -> None:
    """Add buckets to the pages of a level."""
    pages = levels.places(found, PAGE)
    rows = session.execute(
        select(Page.page, Page.data).where(
            Page.series_id == made.series_id, Page.level == level, Page.page.in_(pages)
        )
    )
    _put(made, level, found, {page: b.unpack(data) for page, data in rows})


def _put(made: FoldedSeries, level: int, found: Buckets, there: Mapping[int, Buckets]) -> None:
    grown = 0
    for page, part in levels.places(found, PAGE).items():
        before = there.get(page, b.no_buckets())
        after = b.combined([before, part])
        grown += len(after) - len(before)
        made.pages[level, page] = b.pack(after)
    made.counts[level - (made.base or 0)] += grown


def _raise_top(session: Session, made: FoldedSeries) -> None:
    """Add a coarser level when the coarsest has become too long to read at once."""
    top = (made.base or 0) + len(made.counts) - 1
    while made.counts[-1] > levels.TOP and top < levels.COARSEST:
        coarser = b.widened(_level(session, made, top), levels.FACTOR)
        top += 1
        made.counts.append(0)
        _put(made, top, coarser, {})


def _raise_base(session: Session, made: FoldedSeries, number: int) -> None:
    """Drop the finest level while it has too few points a bucket."""
    while levels.too_fine(number, made.counts[0]) and (made.base or 0) < levels.COARSEST:
        finest = made.base or 0
        if len(made.counts) == 1:
            coarser = b.widened(_level(session, made, finest), levels.FACTOR)
            made.counts.append(0)
            _put(made, finest + 1, coarser, {})
        made.dropped_levels.append(finest)
        made.pages = {at: data for at, data in made.pages.items() if at[0] != finest}
        made.base = finest + 1
        made.counts.pop(0)


def _level(session: Session, made: FoldedSeries, level: int) -> Buckets:
    """Return a whole level as it will be after this fold."""
    rows = session.execute(
        select(Page.page, Page.data).where(Page.series_id == made.series_id, Page.level == level)
    )
    pages = dict(rows.all())
    pages |= {page: data for (at, page), data in made.pages.items() if at == level}
    return b.combined([b.unpack(data) for data in pages.values()])
