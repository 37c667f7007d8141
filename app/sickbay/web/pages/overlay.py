"""Boxes and polygons that findings mean, drawn over the picture.

A scanner's word for where something lies is not trusted: what is no finite number is not drawn,
and what lies far outside is drawn at the border of a frame half a picture wider.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sickbay.quarantine.queue.sample import SampleView

_MOST_POINTS = 64
_MOST_SHAPES = 100
_BEYOND = 0.5
"""How far outside of the picture a shape is followed, in widths and heights of it."""
_CORNERS = 4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """One outline; ``number`` is the finding's, counted from 1 as they are listed."""

    number: int
    severity: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """The points as SVG has them."""
        return " ".join(f"{x:g},{y:g}" for x, y in self.points)

    @property
    def anchor(self) -> Point:
        """Where its number stands: at its top left."""
        return min(x for x, _ in self.points), min(y for _, y in self.points)


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn over a picture, in its pixels; the frame is wider where a shape stands out."""

    left: float
    top: float
    width: float
    height: float
    shapes: tuple[Shape, ...]

    @property
    def text(self) -> float:
        """Height of a number, in pixels of the picture."""
        return max(self.width, self.height) / 40

    @property
    def numbers(self) -> frozenset[int]:
        """Which findings are drawn."""
        return frozenset(shape.number for shape in self.shapes)


def overlay(sample: SampleView) -> Overlay | None:
    """Return the outlines of a sample's findings, or nothing where none has any."""
    width, height = sample.width, sample.height
    if not width or not height:
        return None
    shapes = []
    for number, finding in enumerate(sample.findings, 1):
        for points in _outlines(finding.detail):
            inside = tuple(_followed(point, width, height) for point in points)
            shapes.append(Shape(number, finding.severity.value, inside))
    return _framed(shapes[:_MOST_SHAPES], width, height) if shapes else None


def _outlines(detail: Mapping[str, Any]) -> Iterator[tuple[Point, ...]]:
    if detail.get("turned"):  # it was judged as viewers turn the picture, which is shown as it is
        return
    box = _numbers(detail.get("box"))
    if len(box) == _CORNERS:
        x, y, width, height = box
        yield (x, y), (x + width, y), (x + width, y + height), (x, y + height)
    flat = _numbers(detail.get("polygon"))[: 2 * _MOST_POINTS]
    if len(flat) > 1:
        yield tuple(zip(flat[::2], flat[1::2], strict=False))


def _numbers(value: Any) -> list[float]:
    if not isinstance(value, list) or not all(type(one) in {int, float} for one in value):
        return []
    try:
        numbers = [float(one) for one in value]
    except OverflowError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []


def _followed(point: Point, width: int, height: int) -> Point:
    x, y = point
    return (
        min(max(x, -_BEYOND * width), (1 + _BEYOND) * width),
        min(max(y, -_BEYOND * height), (1 + _BEYOND) * height),
    )


def _framed(shapes: list[Shape], width: int, height: int) -> Overlay:
    points = [point for shape in shapes for point in shape.points]
    left, top = min(0.0, *(x for x, _ in points)), min(0.0, *(y for _, y in points))
    right = max(float(width), *(x for x, _ in points))
    bottom = max(float(height), *(y for _, y in points))
    return Overlay(left, top, right - left, bottom - top, tuple(shapes))
