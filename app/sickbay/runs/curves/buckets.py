"""Buckets: what happened to a series in an interval of steps, exactly.

A bucket keeps the extremes, the first and the last finite value with their steps, and how many
points were NaN, +Inf and -Inf. Buckets of the same interval combine in any order to the same
bucket, and neighbours combine to a wider one: no extreme is ever lost on the way.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sickbay.runs.curves.points import Points

Buckets = npt.NDArray[np.void]
"""Rows of :data:`BUCKET`, ascending by ``bucket``."""

MOST, LEAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min

BUCKET = np.dtype(
    [
        ("bucket", "<i8"),
        ("n", "<i8"),
        ("nan", "<i8"),
        ("pos_inf", "<i8"),
        ("neg_inf", "<i8"),
        ("low", "<f8"),
        ("low_step", "<i8"),
        ("high", "<f8"),
        ("high_step", "<i8"),
        ("first", "<f8"),
        ("first_step", "<i8"),
        ("first_time", "<i8"),
        ("last", "<f8"),
        ("last_step", "<i8"),
        ("last_time", "<i8"),
        ("total", "<f8"),
        ("began", "<i8"),
        ("ended", "<i8"),
        ("odd_step", "<i8"),
    ]
)
"""``bucket`` is step // width. ``n`` counts finite points; the fields from ``low`` to ``total``
are of those. ``began`` and ``ended`` are the earliest and latest time, in microseconds, and
``odd_step`` the first step with a non-finite value (:data:`MOST` where there is none)."""

_EXTREMES: tuple[tuple[np.ufunc, tuple[str, ...]], ...] = (
    (np.minimum, ("low",)),
    (np.maximum, ("high",)),
    (np.minimum, ("first_step", "first_time", "first")),
    (np.maximum, ("last_step", "last_time", "last")),
    (np.minimum, ("began",)),
    (np.maximum, ("ended",)),
    (np.minimum, ("odd_step",)),
)
"""Which extreme of which fields a wider bucket takes: of the first field, then of the next
among those that share it."""
_COUNTS = ("n", "nan", "pos_inf", "neg_inf", "total")
_EFFORT = 1


def no_buckets() -> Buckets:
    """Return no buckets at all."""
    return np.empty(0, BUCKET)


def summarised(points: Points, width: int) -> Buckets:
    """Return the buckets of points, ``width`` steps each."""
    rows = np.empty(len(points), BUCKET)
    values, steps, times = points.values, points.steps, points.times
    finite = np.isfinite(values)
    rows["bucket"] = steps // width
    rows["n"] = finite
    rows["nan"] = np.isnan(values)
    rows["pos_inf"] = values == np.inf
    rows["neg_inf"] = values == -np.inf
    rows["total"] = np.where(finite, values, 0.0)
    rows["odd_step"] = np.where(finite, MOST, steps)
    rows["began"] = rows["ended"] = times
    for name in ("low", "first"):
        rows[name] = np.where(finite, values, np.inf)
        rows[f"{name}_step"] = np.where(finite, steps, MOST)
    for name in ("high", "last"):
        rows[name] = np.where(finite, values, -np.inf)
        rows[f"{name}_step"] = np.where(finite, steps, MOST if name == "high" else LEAST)
    rows["first_time"] = np.where(finite, times, MOST)
    rows["last_time"] = np.where(finite, times, LEAST)
    return combined([rows])


def widened(buckets: Buckets, factor: int) -> Buckets:
    """Return buckets ``factor`` times as wide."""
    if factor == 1:
        return buckets
    wide = buckets.copy()
    wide["bucket"] //= factor
    return combined([wide])


def combined(parts: Sequence[Buckets]) -> Buckets:
    """Return buckets of one width put together, one row an interval."""
    rows = np.concatenate([*parts, no_buckets()])
    if len(rows) == 0:
        return rows
    if len(rows) > 1 and not bool((np.diff(rows["bucket"]) >= 0).all()):
        rows = rows[np.argsort(rows["bucket"], kind="stable")]
    starts = np.flatnonzero(np.diff(rows["bucket"], prepend=rows["bucket"][0] - 1))
    if len(starts) == len(rows):
        return rows
    return _reduced(rows, starts)


def _reduced(rows: Buckets, starts: npt.NDArray[np.intp]) -> Buckets:
    """Reduce sorted rows to one for each group that begins at ``starts``."""
    out = rows[starts].copy()
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
    with np.errstate(over="ignore", invalid="ignore"):
        for name in _COUNTS:
            out[name] = np.add.reduceat(rows[name], starts)
    for ufunc, order in _EXTREMES:
        there: npt.NDArray[np.bool_] | None = None
        for name in order:
            column = rows[name]
            if there is not None:
                column = np.where(there, column, _worst(ufunc, column.dtype))
            out[name] = ufunc.reduceat(column, starts)
            same = column == out[name][group]
            there = same if there is None else there & same
    for name in ("low", "high"):
        steps = np.where(rows[name] == out[name][group], rows[f"{name}_step"], MOST)
        out[f"{name}_step"] = np.minimum.reduceat(steps, starts)
    return out


def _worst(ufunc: np.ufunc, kind: np.dtype[Any]) -> float | int:
    """Return what never wins."""
    if kind.kind == "i":
        return LEAST if ufunc is np.maximum else MOST
    return -np.inf if ufunc is np.maximum else np.inf


def pack(buckets: Buckets) -> bytes:
    """Return buckets compressed, bytes of equal weight together."""
    raw = buckets.view(np.uint8).reshape(len(buckets), BUCKET.itemsize)
    return zlib.compress(raw.T.tobytes(), _EFFORT)


def unpack(data: bytes) -> Buckets:
    """Return the buckets that :func:`pack` made bytes of."""
    planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(BUCKET.itemsize, -1)
    return np.ascontiguousarray(planes.T).view(BUCKET)[:, 0]
