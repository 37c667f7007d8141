"""What can be wrong with boxes: each check goes over all marks of one picture.

A box is left, top, width and height in pixels, 0-based and continuous: a picture of width w spans
0 to w. Whoever reads a format with another convention converts before.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.marks import Box, Frame, Mark

Check = Callable[[Sequence[Mark], Frame | None, Policy], Iterator[Finding]]

SLACK = 1e-6
"""Pixels that decimal fractions may cost on their way through a file."""
SAME = 0.1
"""Pixels in which two boxes of one object drawn once may differ: no hand meets a tenth twice."""
_CELL = 4 * SAME
_SIDES = ("left", "top", "right", "bottom")


def not_finite(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """A value is NaN or infinite: the loss is NaN from that step on."""
    for mark in marks:
        if mark.box is not None and not _finite(mark.box):
            shown = ", ".join(str(written(value)) for value in mark.box)
            yield found("box.not-finite", mark, f"The box is ({shown}); a value is no number.")


def not_positive(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """No width or no height: regression targets become logarithms of zero."""
    for mark in marks:
        if mark.box is None or not _finite(mark.box):
            continue
        _, _, width, height = mark.box
        if width <= 0 or height <= 0:
            said = f"The box is {width:.6g} pixels wide and {height:.6g} high."
            yield found("box.not-positive", mark, said)


def outside(marks: Sequence[Mark], frame: Frame | None, policy: Policy) -> Iterator[Finding]:
    """A side stands out of the picture by more than the policy's tolerance, in pixels.

    The default of one pixel lets pass what rounding and 1-based formats make.
    """
    if frame is None:
        return
    for mark in marks:
        if mark.box is None or not _finite(mark.box) or min(mark.box[2:]) < 0:
            continue
        over = beyond(mark.box, frame)
        if max(over) > policy.box_tolerance + SLACK:
            worst = over.index(max(over))
            said = (
                f"The box stands {over[worst]:.6g} pixels out of the picture of "
                f"{frame[0]} x {frame[1]} on the {_SIDES[worst]}."
            )
            yield found("box.outside", mark, said, over=written(over[worst]))


def duplicate(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """The same object marked again in one file: same label, and everything drawn the same.

    The first copy is fine. Boxes are the same where each value is within ``SAME`` pixels; outlines,
    masks and keypoints where they are equal.
    """
    seen: dict[Hashable, list[Mark]] = defaultdict(list)
    for mark in marks:
        box = mark.box or ()
        if not _finite(box) or not (box or mark.polygons or mark.rle):
            continue
        rest = (mark.file, mark.label, mark.crowd, mark.polygons, mark.keypoints, _key(mark.rle))
        first = next(
            (
                other
                for cell in _cells(box)
                for other in seen.get((rest, cell), ())
                if all(abs(a - b) <= SAME for a, b in zip(box, other.box or (), strict=True))
            ),
            None,
        )
        if first is None:
            seen[rest, tuple(value // _CELL for value in box)].append(mark)
        else:
            said = f"It repeats {first.item}: the same label, drawn at the same place."
            yield found("box.duplicate", mark, said, first=first.item)


BOX_CHECKS: tuple[Check, ...] = (not_finite, not_positive, outside, duplicate)


def beyond(box: Box, frame: Frame) -> tuple[float, float, float, float]:
    """Pixels by which a box stands out at left, top, right and bottom; negative inside."""
    left, top, width, height = box
    return -left, -top, left + width - frame[0], top + height - frame[1]


def found(code: str, mark: Mark, message: str, /, **detail: Any) -> Finding:
    """Make a finding of a mark, with its box so that a page can draw it."""
    if mark.box is not None:
        detail["box"] = [written(value) for value in mark.box]
    return Finding.of(code, mark.file, message, mark.item, **detail)


def written(value: float) -> float | str:
    """Write a number as a record may hold it: to hundredths of a pixel, no NaN, no infinity."""
    if math.isfinite(value):
        return round(float(value), 2)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _finite(values: Sequence[float]) -> bool:
    return all(math.isfinite(value) for value in values)


def _cells(box: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """Cells of a grid in which a box of the same place may have been put."""
    near = ({(value - SAME) // _CELL, (value + SAME) // _CELL} for value in box)
    return product(*near)


def _key(rle: Any) -> Hashable:
    return None if rle is None else str(rle)
