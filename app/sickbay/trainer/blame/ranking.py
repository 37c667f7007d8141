"""Samples by their own losses: which of them account for what the batch did."""

import math
from collections.abc import Sequence

from sickbay.trainer.watch.window import TO_SIGMA, median

MOST_SHARE = 4
"""Where more than one in so many is needed to account for it, it is not single samples."""
_MOST = 16
_STANDS_OUT = 8.0
"""Spreads above the median of the others; as for a spike of the curve."""
_FLOOR, _LEAST = 0.01, 1e-6


def ranked(each: Sequence[float]) -> list[int]:
    """Return the samples, the worst first; what is not finite is worst."""
    return sorted(range(len(each)), key=lambda row: _worth(each[row]), reverse=True)


def accountable(each: Sequence[float], bar: float) -> list[int]:
    """Return the fewest samples without which the batch's mean is finite and below ``bar``.

    Nothing where it takes more than a quarter of the batch: then it is all of it, or none.
    """
    order = ranked(each)
    most = min(_MOST, len(each) // MOST_SHARE)
    for count in range(1, most + 1):
        rest = [each[row] for row in order[count:]]
        if all(map(math.isfinite, rest)) and math.fsum(rest) / len(rest) <= bar:
            return order[:count]
    return []


def stands_out(value: float, others: Sequence[float]) -> bool:
    """Whether a loss is far above the others, or not finite while all others are."""
    if not others or not all(map(math.isfinite, others)):
        return False
    if not math.isfinite(value):
        return True
    middle = median(others)
    spread = TO_SIGMA * median([abs(one - middle) for one in others])
    return value - middle >= _STANDS_OUT * max(spread, _FLOOR * abs(middle), _LEAST)


def _worth(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf
