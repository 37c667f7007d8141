"""Curves as SVG: for lists, and in place of the chart until it is loaded or where no script runs.

What is drawn is the path through each bucket's extremes, so that no spike is lost, with a mark
wherever a point was not finite.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 1000, 300
"""Units of the drawing; it is stretched to its place."""
_WHOLE, _LARGE = 1000, 1e15
"""From the one on, digits after the point say nothing; from the other on, powers say more."""
_ROOM = 0.06
"""Share of the height left free above and below."""
NOTHING, MINUS = "\u2013", "\u2212"
"""What stands for no value, and before one below zero."""
Columns = Mapping[str, Sequence[Any]]
"""Buckets as ``runs.curves.columns`` returns them."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A mark: its icon, its place in per cent from the left, and how many points it stands for."""

    icon: str
    left: float
    points: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Paths in :data:`WIDTH` by :data:`HEIGHT`, marks, and the values at the edges."""

    path: str
    older: str
    spots: tuple[Spot, ...]
    low: float
    high: float
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Frame:
    first: int
    last: int
    low: float
    high: float

    def x(self, step: int) -> float:
        return (step - self.first) / max(1, self.last - self.first)

    def y(self, value: float) -> float:
        # Halves first: the difference of two floats may be no float.
        span = self.high / 2 - self.low / 2
        share = 0.5 if span <= 0 else (value / 2 - self.low / 2) / span
        return 1 - _ROOM - share * (1 - 2 * _ROOM)


def draw(newest: Columns, older: Sequence[Columns] = ()) -> Drawing | None:
    """Draw one curve, and older ones behind it; nothing where there is no point at all."""
    frame = _frame([newest, *older])
    if frame is None:
        return None
    return Drawing(
        path=_path(newest, frame),
        older="".join(_path(one, frame) for one in older),
        spots=tuple(_spots(newest, frame)),
        low=frame.low,
        high=frame.high,
        first=frame.first,
        last=frame.last,
    )


def _frame(curves: Sequence[Columns]) -> _Frame | None:
    steps = [step for one in curves for step in one.get("step", ())]
    lasts = [step for one in curves for step in one.get("last_step", ()) if step is not None]
    if not steps:
        return None
    lows = [value for one in curves for value in one["low"] if value is not None]
    highs = [value for one in curves for value in one["high"] if value is not None]
    return _Frame(
        min(steps), max([*steps, *lasts]), min(lows, default=0.0), max(highs, default=0.0)
    )


def _path(curve: Columns, frame: _Frame) -> str:
    """Return the path through the extremes; a bucket without a finite point breaks it."""
    words: list[str] = []
    pen = "M"
    for bucket in zip(
        curve["low"], curve["low_step"], curve["high"], curve["high_step"], strict=True
    ):
        low, low_step, high, high_step = bucket
        if low is None:
            pen = "M"
            continue
        ends = sorted({(low_step, low), (high_step, high)})
        for step, value in ends:
            words.append(f"{pen}{frame.x(step) * WIDTH:.1f} {frame.y(value) * HEIGHT:.1f}")
            pen = "L"
        if len(ends) == 1 and words[-1].startswith("M"):
            words.append("h.01")  # a point alone shows as the line's round end
    return "".join(words)


def _spots(curve: Columns, frame: _Frame) -> Iterator[Spot]:
    for name, icon in (("nan", "nan"), ("pos_inf", "pinf"), ("neg_inf", "ninf")):
        for points, step in zip(curve[name], curve["odd_step"], strict=True):
            if points:
                yield Spot(icon, 100 * frame.x(step), points)


def number(value: float | str | None) -> str:
    """Write a value as people read it, four digits long."""
    if value is None:
        return NOTHING
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else MINUS + "Inf"
    if _WHOLE <= abs(value) < _LARGE:
        return f"{value:,.0f}".replace("-", MINUS)
    return f"{value:.4g}".replace("-", MINUS)
