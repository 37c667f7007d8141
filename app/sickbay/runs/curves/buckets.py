"""Buckets: what happened to a series in an interval of steps, exactly.

A bucket keeps the extremes, the first and the last finite value with their steps, and how many
points were NaN, +Inf and -Inf. Buckets of the same interval combine in any order to the same
bucket, and neighbours combine to a wider one: no extreme is ever lost on the way.
"""

import zlib
from collections.abc import Mapping, Sequence
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
    values, steps, times = points.values, points.steps, points.times
    if len(points) == 0:
        return no_buckets()
    finite = np.isfinite(values)
    all_finite = bool(finite.all())
    columns: dict[str, npt.NDArray[Any]] = {"bucket": steps // width, "n": finite}
    for name, odd in (("nan", np.isnan), ("pos_inf", np.isposinf), ("neg_inf", np.isneginf)):
        columns[name] = np.zeros(len(values), np.bool_) if all_finite else odd(values)
    columns["total"] = np.where(finite, values, 0.0)
    columns["odd_step"] = np.where(finite, MOST, steps)
    columns["began"] = columns["ended"] = times
    for name, worst, far in (
        ("low", np.inf, MOST),
        ("high", -np.inf, MOST),
        ("first", np.inf, MOST),
        ("last", -np.inf, LEAST),
    ):
        columns[name] = np.where(finite, values, worst)
        columns[f"{name}_step"] = np.where(finite, steps, far)
        columns[f"{name}_time"] = np.where(finite, times, far)
    return _grouped(columns)


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
    if len(rows) < 2:  # noqa: PLR2004 (one bucket needs no other)
        return rows
    # Compared, not subtracted: a difference of two buckets may not fit 64 bits.
    if not bool((rows["bucket"][1:] >= rows["bucket"][:-1]).all()):
        rows = rows[np.argsort(rows["bucket"], kind="stable")]
    if bool((rows["bucket"][1:] > rows["bucket"][:-1]).all()):
        return rows
    return _grouped({name: rows[name] for name in BUCKET.names or ()})


def _grouped(columns: Mapping[str, npt.NDArray[Any]]) -> Buckets:
    """Reduce columns that are sorted by bucket to one row a bucket."""
    bucket = columns["bucket"]
    starts = np.flatnonzero(np.concatenate(([True], np.diff(bucket) != 0)))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(bucket)))
    out = np.empty(len(starts), BUCKET)
    out["bucket"] = bucket[starts]
    with np.errstate(over="ignore", invalid="ignore"):
        for name in _COUNTS:
            kind = np.float64 if name == "total" else np.int64
            out[name] = np.add.reduceat(columns[name], starts, dtype=kind)
    for ufunc, order in _EXTREMES:
        there: npt.NDArray[np.bool_] | None = None
        for name in order:
            column = columns[name]
            if there is not None:
                column = np.where(there, column, _worst(ufunc, column.dtype))
            best = ufunc.reduceat(column, starts)
            out[name] = best
            same = column == best[group]
            there = same if there is None else there & same
    for name in ("low", "high"):
        best = np.ascontiguousarray(out[name])
        steps = np.where(columns[name] == best[group], columns[f"{name}_step"], MOST)
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
