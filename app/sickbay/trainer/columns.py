"""Points as they were logged, turned into columns by series."""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from sickbay.contract.event import MAX_SERIES, Points
from sickbay.trainer.tray import Waiting

POINTS_IN_EVENT = 500
"""Encoding so many takes about a millisecond, during which the training's thread may wait."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_INT64 = 1 << 63


def columns(points: Iterable[Waiting], refuse: Callable[[Any], None]) -> Iterator[Points]:
    """Yield the points by series; what cannot be one goes to ``refuse``."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    for series, value, step, time in points:
        try:
            row = (_step(step), float(value), round(time, 3))
            found.setdefault(_name(series), []).append(row)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            refuse(error)
    for series, rows in found.items():
        for start in range(0, len(rows), POINTS_IN_EVENT):
            steps, values, times = zip(*rows[start : start + POINTS_IN_EVENT], strict=True)
            yield Points(series, array("q", steps), array("d", values), array("d", times))


def _step(step: Any) -> int:
    number = int(step)
    if not -_INT64 <= number < _INT64:
        raise ValueError("a step has at most 64 bits")
    return number


@lru_cache(maxsize=4096)
def _name(series: Any) -> str:
    """Return a name that the server takes; too long a one keeps both its ends."""
    name = _CONTROL.sub(" ", str(series).encode("utf-8", "replace").decode("utf-8"))
    if not name:
        raise ValueError("a series needs a name")
    half = MAX_SERIES // 2
    return name if len(name) <= MAX_SERIES else f"{name[:half]}…{name[-half:]}"


def finite_time(time: float | None, now: float) -> float:
    """Return the time of a point: what the caller says where that makes sense, else now."""
    return now if time is None or not math.isfinite(time) else float(time)
