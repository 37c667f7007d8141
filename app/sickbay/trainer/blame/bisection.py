"""Naming one sample of a batch by repeating halves of it: log2 of its size forward passes."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

Rows: TypeAlias = Sequence[int]


def bisect(repeat: Callable[[Rows], float], rows: Rows, whole: float, bar: float) -> int:
    """Return the sample that a batch's value comes from, if it comes from one.

    Halves are compared by their means: the half of the culprit is above the whole, whatever the
    others are; of values that are not finite, the half that is not finite either.

    Args:
        repeat: returns the value of a part of the batch; called ceil(log2(n)) times.
        rows: the batch, not empty.
        whole: its value.
        bar: a part above it holds the culprit however the whole compares: values that are no
            means, such as a gradient's norm, do not grow as the part gets smaller.
    """
    while len(rows) > 1:
        half = (len(rows) + 1) // 2
        first, second = rows[:half], rows[half:]
        value = repeat(first)
        if _holds(value, whole, bar):
            rows, whole = first, value
        else:
            rows, whole = second, _rest(whole, len(rows), value, half)
    return rows[0]


def _holds(part: float, whole: float, bar: float) -> bool:
    return not math.isfinite(part) or part > bar or (math.isfinite(whole) and part >= whole)


def _rest(whole: float, count: int, part: float, half: int) -> float:
    """Return the mean of the other half, without repeating it."""
    return (whole * count - part * half) / (count - half)
