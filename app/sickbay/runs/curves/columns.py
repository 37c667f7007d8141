"""Buckets as columns of plain numbers, for JSON."""

from typing import Any

import numpy as np

from sickbay.runs.curves.buckets import MOST, Buckets
from sickbay.runs.curves.points import MICROSECOND

_COUNTS = ("n", "nan", "pos_inf", "neg_inf")
_FINITE = ("low", "low_step", "high", "high_step", "first", "first_step", "last", "last_step")


def columns(buckets: Buckets) -> dict[str, list[Any]]:
    """Return buckets as lists of equal length.

    ``n`` counts finite points, ``nan``, ``pos_inf``, ``neg_inf`` the others. ``low``, ``high``,
    ``first``, ``last``, each with its step, and ``mean`` are of the finite ones, and null where
    there are none. ``odd_step`` is the first step with a non-finite point, else null. ``began``
    and ``ended`` are times in seconds.
    """
    some = buckets["n"] > 0
    made: dict[str, list[Any]] = {name: buckets[name].tolist() for name in _COUNTS}
    for name in _FINITE:
        made[name] = _or_null(buckets[name].tolist(), some)
    with np.errstate(invalid="ignore"):
        mean = buckets["total"] / np.maximum(buckets["n"], 1)
    # A sum may leave the range of floats, or round past an extreme; a mean never does.
    inside = np.clip(np.where(np.isfinite(mean), mean, 0.0), buckets["low"], buckets["high"])
    made["mean"] = _or_null(inside.tolist(), some)
    # By their counts: a point that is not finite may stand at the last step there can be.
    odd = buckets["nan"] + buckets["pos_inf"] + buckets["neg_inf"] > 0
    made["odd_step"] = _or_null(buckets["odd_step"].tolist(), odd)
    for name in ("began", "ended"):
        made[name] = (buckets[name] / MICROSECOND).tolist()
    made["step"] = np.minimum(
        np.where(some, buckets["first_step"], MOST), buckets["odd_step"]
    ).tolist()
    return made


def _or_null(items: list[Any], there: Any) -> list[Any]:
    if bool(there.all()):
        return items
    return [
        item if is_there else None for item, is_there in zip(items, there.tolist(), strict=True)
    ]
