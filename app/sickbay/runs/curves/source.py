"""Where a series of one rank lies: folded rows and waiting points, read as one."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.runs.curves import buckets as b
from sickbay.runs.curves import journal, levels, points
from sickbay.runs.curves.buckets import Buckets
from sickbay.runs.curves.folded import PAGE
from sickbay.runs.curves.points import Points, joined
from sickbay.runs.tables import Chunk, Page, Series, Waiting


@dataclass(slots=True, eq=False)
class Source:
    """One series of one rank."""

    attempt: int
    rank: int
    series: Series | None
    waiting: Points

    def span(self) -> tuple[int, int] | None:
        """Return the first and last step, or nothing where there are no points."""
        spans = [self._waiting_span(), self._folded_span()]
        there = [span for span in spans if span is not None]
        return (min(s[0] for s in there), max(s[1] for s in there)) if there else None

    def _waiting_span(self) -> tuple[int, int] | None:
        steps = self.waiting.steps
        return (int(steps[0]), int(steps[-1])) if len(steps) else None

    def _folded_span(self) -> tuple[int, int] | None:
        if self.series is None:
            return None
        return self.series.first_step, self.series.last_step

    def buckets(self, session: Session, width: int, first: int, last: int) -> Buckets:
        """Return the buckets of a width, a power of two, that lie in a range of steps."""
        return self._folded(session, width, first // width, last // width)

    def _folded(self, session: Session, width: int, low: int, high: int) -> Buckets:
        first, last = max(low * width, b.LEAST), min((high + 1) * width - 1, b.MOST)
        parts = [b.summarised(self.waiting.between(first, last), width)]
        level = None
        if self.series is not None:
            level = levels.level_for(width, self.series.base, len(self.series.counts))
            if level is None:
                parts.append(b.summarised(chunks(session, self.series.id, first, last), width))
        if self.series is not None and level is not None:
            found = pages(session, self.series.id, level, first, last)
            parts.append(b.widened(found, width // levels.width_of(level)))
        rows = b.combined(parts)
        inside: Buckets = rows[(rows["bucket"] >= low) & (rows["bucket"] <= high)]
        return inside

    def steps_between(self, session: Session, since: int, until: int) -> tuple[int, int] | None:
        """Return the range of steps whose buckets have times in a range, in microseconds."""
        span = self.span()
        if span is None:
            return None
        width = 1
        if self.series is not None and self.series.base is not None:
            width = levels.width_of(self.series.base + len(self.series.counts) - 1)
        rows = self.buckets(session, width, *span)
        rows = rows[(rows["ended"] >= since) & (rows["began"] <= until)]
        if not len(rows):
            return None
        low, high = int(rows["bucket"][0]) * width, (int(rows["bucket"][-1]) + 1) * width - 1
        return max(low, span[0]), min(high, span[1])


def pages(session: Session, series_id: int, level: int, first: int, last: int) -> Buckets:
    """Return a level's buckets from the pages that touch a range of steps."""
    size = levels.width_of(level) * PAGE
    rows = session.scalars(
        select(Page.data)
        .where(
            Page.series_id == series_id,
            Page.level == level,
            Page.page.between(first // size, last // size),
        )
        .order_by(Page.page)
    )
    return b.combined([b.unpack(data) for data in rows])


def chunks(session: Session, series_id: int, first: int, last: int) -> Points:
    """Return a series' folded points in a range of steps."""
    rows = session.scalars(
        select(Chunk.data).where(
            Chunk.series_id == series_id, Chunk.first_step <= last, Chunk.last_step >= first
        )
    )
    return joined([points.unpack(data).between(first, last) for data in rows])


def sources(
    session: Session,
    attempts: Mapping[int, int],
    name: str,
    ranks: Sequence[int] | None = None,
) -> list[Source]:
    """Return where a series lies, by attempt and rank; ``attempts`` are numbers by id."""
    query = select(Series).where(Series.attempt_id.in_(attempts), Series.name == name)
    waits = select(Waiting.attempt_id, Waiting.rank, Waiting.body).where(
        Waiting.attempt_id.in_(attempts)
    )
    if ranks is not None:
        query, waits = query.where(Series.rank.in_(ranks)), waits.where(Waiting.rank.in_(ranks))
    folded = {(series.attempt_id, series.rank): series for series in session.scalars(query)}
    waiting = _waiting(session.execute(waits), name)
    return [
        Source(attempts[key[0]], key[1], folded.get(key), joined(waiting.get(key, [])))
        for key in sorted({*folded, *waiting})
    ]


def _waiting(
    rows: Iterable[tuple[int, int, bytes]], name: str
) -> Mapping[tuple[int, int], list[Points]]:
    found: defaultdict[tuple[int, int], list[Points]] = defaultdict(list)
    for attempt_id, rank, body in rows:
        parts = [points for _, points in journal.segments(body, name)]
        if parts:
            found[attempt_id, rank] += parts
    return found
