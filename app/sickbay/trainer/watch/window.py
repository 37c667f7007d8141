"""The last values that were taken for normal, and what they say of the next one.

A straight line is laid through them, so that a fast descent does not pass for noise: its slope is
the difference between the medians of the two halves, which a few odd values cannot bend. What is
left of the values beside that line gives the spread, as median absolute deviation: unlike a
standard deviation it is not widened by the very values that should be found.
"""

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TO_SIGMA = 1.4826
"""A normal distribution's standard deviation, in median absolute deviations."""
_FROM_MEAN = 1.2533
"""The same in mean absolute deviations."""
_NEWEST = 9
"""A curve that bends up, such as the end of a descent, is above its line: then these speak."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What comes next.

    Attributes:
        line: where the straight line will be at the next value.
        slope: by how much it rises from value to value.
        spread: how far beside it a value usually is.
        level: where the newest values are.
    """

    line: float
    slope: float
    spread: float
    level: float

    def baseline(self, after: int = 0) -> float:
        """Return the value that is expected, so many values after the next."""
        return max(self.line + self.slope * after, self.level)


class Window:
    """The newest ``size`` values that were accepted, all of them finite."""

    def __init__(self, size: int, values: Iterable[float] = ()) -> None:
        self._values: deque[float] = deque(values, size)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, value: float) -> None:
        """Accept a value."""
        self._values.append(value)

    def restart(self, values: Iterable[float]) -> None:
        """Forget everything but these."""
        self._values.clear()
        self._values.extend(values)

    def values(self) -> "array[float]":
        """Return what is in it, the oldest first."""
        return array("d", self._values)

    def expected(self) -> Expected:
        """Say what comes next; needs two values. Takes about a tenth of a millisecond."""
        values = list(self._values)
        slope = _slope(values)
        beside = [value - slope * at for at, value in enumerate(values)]
        line = median(beside)
        level = median(values[-_NEWEST:])
        spread = _spread([abs(one - line) for one in beside])
        return Expected(line + slope * len(values), slope, spread, level)


def _spread(distances: Sequence[float]) -> float:
    """Return the spread; where about half of the values are equal, the others tell of it too."""
    by_mean = _FROM_MEAN * sum(one / len(distances) for one in distances)
    return max(TO_SIGMA * median(distances), by_mean / 2)


def median(values: Sequence[float]) -> float:
    """Return the middle of the values; of an even number, the one between the two."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return ordered[half - 1] / 2 + ordered[half] / 2


def _slope(values: Sequence[float]) -> float:
    half = len(values) // 2
    return (median(values[-half:]) - median(values[:half])) / (len(values) - half)
