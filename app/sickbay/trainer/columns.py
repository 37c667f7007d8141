"""Points as they were logged, turned into columns by series."""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sickbay.contract.event import Points
from sickbay.trainer.tray import POINT

_INT64 = 1 << 63
POINTS_IN_EVENT = 500
"""Encoding so many takes about a millisecond, during which the training's thread may wait."""


class Columns:
    """Steps, values and times by the series' number."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[array[int], array[float], array[float]]] = {}

    def add(self, points: Iterable[bytes]) -> None:
        """Sort packed points into their columns."""
        for number, step, value, time in POINT.iter_unpack(b"".join(points)):
            found = self._found.get(number)
            if found is None:
                found = self._found[number] = (array("q"), array("d"), array("d"))
            steps, values, times = found
            steps.append(step)
            values.append(value)
            times.append(round(time, 3))

    def bodies(self, names: Sequence[str]) -> Iterator[Points]:
        """Yield the columns as bodies of events, none of them long."""
        for number, (steps, values, times) in self._found.items():
            for start in range(0, len(steps), POINTS_IN_EVENT):
                part = slice(start, start + POINTS_IN_EVENT)
                yield Points(names[number], steps[part], values[part], times[part])


def finite_time(time: float | None, now: float) -> float:
    """Return the time of a point: what the caller says where that makes sense, else now."""
    return now if time is None or not math.isfinite(time) else float(time)


def whole_step(step: Any) -> int:
    """Return a step as the whole number it is.

    Raises:
        TypeError, ValueError, OverflowError: it is none of 64 bits.
    """
    number = int(step)
    if not -_INT64 <= number < _INT64:
        raise OverflowError("a step has at most 64 bits")
    return number
