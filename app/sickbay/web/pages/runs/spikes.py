"""Spikes of a curve, told from the curve alone: what stands far above its recent values.

Median and median deviation of the last accepted values, because a mean is fooled by its own
outliers; what is flagged is not accepted, so that spikes in a row are all found. Nothing is
concluded from a spike here but a ring on the chart.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WINDOW, LEAST = 128, 16
"""How many values a new one is compared with, at most and at least."""
FAR = 8.0
"""Robust deviations from the median: with 128 values it finds 60 of 60 spikes that come in
threes, where 6 with a guard of 20 % finds 57, and mean and deviation 39 (on made-up curves)."""
_TO_SIGMA = 1.4826
"""Median deviations of a normal distribution in one standard deviation."""
_FLOOR = 0.01
"""Of the median: below that a curve is simply quiet."""
_NEW_LEVEL = 16
"""Flags in a row that are no spikes but a new level."""


@dataclass(frozen=True, slots=True)
class Spike:
    """A value far above those before it; ``times`` is how many usual deviations."""

    step: int
    value: float
    times: float
    time: float


def spikes(curve: Any) -> list[Spike]:
    """Return the spikes of one curve, given as the columns of its buckets."""
    rows = zip(curve["high_step"], curve["high"], curve["began"], strict=True)
    seen = _Recent()
    found: list[Spike] = []
    row = 0
    for step, value, began in rows:
        if value is None:
            continue
        times = seen.deviations(value)
        if times < FAR:
            seen.accept(value)
            row = 0
            continue
        found.append(Spike(step, value, times, began))
        row += 1
        if row == _NEW_LEVEL:
            found = found[:-row]
            seen, row = _Recent(), 0
    return found


class _Recent:
    """The last accepted values, in order of arrival and of size."""

    def __init__(self) -> None:
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def accept(self, value: float) -> None:
        self._order.append(value)
        insort(self._sorted, value)
        if len(self._order) > WINDOW:
            self._sorted.pop(bisect_left(self._sorted, self._order.popleft()))

    def deviations(self, value: float) -> float:
        """Return how far above the median a value is, in robust deviations."""
        if len(self._sorted) < LEAST or value <= self._sorted[len(self._sorted) // 2]:
            return 0.0
        median = self._sorted[len(self._sorted) // 2]
        usual = _TO_SIGMA * _middle(sorted(abs(one - median) for one in self._sorted))
        scale = max(usual, _FLOOR * abs(median))
        return (value - median) / scale if scale else FAR


def _middle(values: Sequence[float]) -> float:
    return values[len(values) // 2]


def both(curves: Sequence[Any]) -> Iterator[tuple[Any, Spike]]:
    """Yield the spikes of several curves with the curve they belong to."""
    for curve in curves:
        for spike in spikes(curve.columns):
            yield curve, spike
