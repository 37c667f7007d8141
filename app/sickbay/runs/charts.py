"""Charts: a series in about a thousand buckets, whatever the range, with nothing left out.

The width of the buckets follows from the range alone. Where stored pages are fine enough they
are read, else the points; what waits for its fold is added. So the chart is a function of the
points, however they came and wherever they lie.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy.orm import Session

from sickbay.contract.errors import BadInput
from sickbay.runs.attempts import attempt_ids
from sickbay.runs.curves import buckets as b
from sickbay.runs.curves.columns import columns
from sickbay.runs.curves.points import MICROSECOND
from sickbay.runs.curves.source import Source, sources

Axis = Literal["step", "time"]
LEAST_BUCKETS, MOST_BUCKETS = 16, 10_000
_FARTHEST = float(1 << 62)
"""Microseconds: no stored time lies beyond."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One rank's share of a chart; ``rank`` is nothing where ranks are taken together.

    ``columns`` are lists of equal length, ascending by ``step``: see ``curves.columns``.
    """

    attempt: int
    rank: int | None
    columns: Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Chart:
    """A series over a range: ``width`` is the number of steps in a bucket."""

    run: str
    series: str
    by: Axis
    width: int
    first_step: int | None
    last_step: int | None
    curves: tuple[Curve, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; it holds no number that JSON cannot."""
        return {
            "run": self.run,
            "series": self.series,
            "by": self.by,
            "width": self.width,
            "first_step": self.first_step,
            "last_step": self.last_step,
            "curves": [
                {"attempt": curve.attempt, "rank": curve.rank, **curve.columns}
                for curve in self.curves
            ],
        }


def chart(
    session: Session,
    run: str,
    series: str,
    *,
    attempts: Sequence[int] | None = None,
    ranks: Sequence[int] | None = None,
    by: Axis = "step",
    since: float | None = None,
    until: float | None = None,
    buckets: int = 1000,
    mean: bool = False,
) -> Chart:
    """Return a series in at most ``buckets`` intervals of equal width, a power of two.

    Args:
        session: for reading.
        run: the run's key.
        series: the series' name.
        attempts: their numbers; the newest where none are given.
        ranks: all where none are given.
        by: what ``since`` and ``until`` are: steps, or times in seconds since 1970.
        since: where the range begins.
        until: where it ends, included.
        buckets: how many there may be.
        mean: put the ranks of each attempt together, as mean and range.

    Raises:
        NotFound: there is no such run.
        BadInput: ``buckets`` is out of bounds.
    """
    if not LEAST_BUCKETS <= buckets <= MOST_BUCKETS:
        raise BadInput(f"A chart has {LEAST_BUCKETS} to {MOST_BUCKETS:,} buckets.")
    found = sources(session, attempt_ids(session, run, attempts), series, ranks)
    scope = _range(session, found, by, since, until)
    if scope is None:
        return Chart(run, series, by, 1, None, None, ())
    width = _width(scope, buckets)
    rows = [(source, source.buckets(session, width, *scope)) for source in found]
    if by == "time":
        rows = [(source, _in_time(part, since, until)) for source, part in rows]
    curves = _together(rows) if mean else _apart(rows)
    return Chart(run, series, by, width, *scope, tuple(curves))


def _range(
    session: Session,
    found: Sequence[Source],
    by: Axis,
    since: float | None,
    until: float | None,
) -> tuple[int, int] | None:
    """Return the first and last step of what is in view, or nothing where nothing is."""
    spans = [span for source in found if (span := source.span()) is not None]
    if by == "time":
        spans = [
            span
            for source in found
            if (span := source.steps_between(session, *_clock(since, until))) is not None
        ]
    if not spans:
        return None
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    if by == "step":
        first = first if since is None else max(first, int(since))
        last = last if until is None else min(last, int(until))
    return (first, last) if first <= last else None


def _width(scope: tuple[int, int], most: int) -> int:
    """Return the smallest power of two with which at most ``most`` buckets cover the range."""
    width = 1
    while scope[1] // width - scope[0] // width + 1 > most:
        width *= 2
    return width


def _clock(since: float | None, until: float | None) -> tuple[int, int]:
    """Return a range of times in microseconds."""
    return (
        b.LEAST if since is None else _microseconds(since),
        b.MOST if until is None else _microseconds(until),
    )


def _microseconds(seconds: float) -> int:
    return int(max(-_FARTHEST, min(_FARTHEST, seconds * MICROSECOND)))


def _in_time(part: b.Buckets, since: float | None, until: float | None) -> b.Buckets:
    """Return the buckets of which something lies in a range of times."""
    first, last = _clock(since, until)
    inside: b.Buckets = part[(part["ended"] >= first) & (part["began"] <= last)]
    return inside


def _apart(rows: Sequence[tuple[Source, b.Buckets]]) -> list[Curve]:
    return [Curve(source.attempt, source.rank, columns(part)) for source, part in rows if len(part)]


def _together(rows: Sequence[tuple[Source, b.Buckets]]) -> list[Curve]:
    """Put the ranks of each attempt together: extremes and counts over all, mean of all points."""
    attempts = sorted({source.attempt for source, _ in rows})
    parts = [
        (number, b.combined([part for source, part in rows if source.attempt == number]))
        for number in attempts
    ]
    return [Curve(number, None, columns(part)) for number, part in parts if len(part)]
