"""What can be wrong with outlines: each check goes over all marks of one picture."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.boxes import SLACK, Check, found, written
from sickbay.scanner.marks import Frame, Mark, Points

_CODE = "annotation.bad-polygon"
_LEAST = 6  # numbers: three points
_SHOWN = 128  # numbers of an outline in a finding: 64 points


def half_a_point(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """An odd number of coordinates."""
    for mark, points in _outlines(marks):
        if len(points) % 2:
            yield _found(mark, points, f"The polygon has {len(points)} numbers: half a point.")


def too_few(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """Fewer than three points: rasterisers raise or draw nothing."""
    for mark, points in _outlines(marks):
        if len(points) < _LEAST and len(points) % 2 == 0:
            count = len(points) // 2
            said = f"The polygon has {count} {'point' if count == 1 else 'points'}, not three."
            yield _found(mark, points, said)


def not_finite(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """A coordinate is NaN or infinite."""
    for mark, points in _outlines(marks):
        bad = next((n for n, value in enumerate(points) if not math.isfinite(value)), None)
        if bad is not None:
            said = f"Number {bad + 1} of the polygon is {written(points[bad])}."
            yield _found(mark, points, said)


def no_area(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """All points of all parts lie on a line or a point, so that the object has no mask.

    One flat part beside others is a slip of the pen that no loader minds.
    """
    for mark in marks:
        whole = [points for points in mark.polygons or () if _sound(points)]
        if whole and len(whole) == len(mark.polygons or ()) and all(map(_flat, whole)):
            yield _found(mark, whole[0], "The polygon has no area: its points lie on a line.")


def outside(marks: Sequence[Mark], frame: Frame | None, policy: Policy) -> Iterator[Finding]:
    """A point stands out of the picture by more than the tolerance for boxes, in pixels."""
    if frame is None:
        return
    for mark, points in _outlines(marks):
        if not _sound(points):
            continue
        over = max(
            -min(points),
            max(points[0::2]) - frame[0],
            max(points[1::2]) - frame[1],
        )
        if over > policy.box_tolerance + SLACK:
            said = (
                f"The polygon stands {over:.6g} pixels out of the picture of "
                f"{frame[0]} x {frame[1]}."
            )
            yield _found(mark, points, said, over=written(over))


POLYGON_CHECKS: tuple[Check, ...] = (half_a_point, too_few, not_finite, no_area, outside)


def _outlines(marks: Sequence[Mark]) -> Iterator[tuple[Mark, Points]]:
    return ((mark, points) for mark in marks for points in mark.polygons or ())


def _sound(points: Points) -> bool:
    enough = len(points) >= _LEAST and len(points) % 2 == 0
    return enough and all(map(math.isfinite, points))


def _flat(points: Points) -> bool:
    """Whether all points are on one line, as far as decimal fractions tell.

    The area by its formula will not do: it is 0 for a figure of eight as well.
    """
    left, top = points[0], points[1]
    arms = [(x - left, y - top) for x, y in zip(points[0::2], points[1::2], strict=True)]
    along = max(arms, key=lambda arm: math.hypot(*arm))
    length = math.hypot(*along)
    if length <= SLACK:
        return True
    return all(abs(x * (along[1] / length) - y * (along[0] / length)) <= SLACK for x, y in arms)


def _found(mark: Mark, points: Points, message: str, **detail: Any) -> Finding:
    shown = [written(value) for value in points[:_SHOWN]]
    return found(_CODE, mark, message, polygon=shown, **detail)
