"""Which bucket widths a series keeps: as few as charts need.

Level L has buckets of 4^L steps. A series of few points has none: its points are read. The
finest level kept has at least :data:`FILL` points a bucket on average, whatever the stride of
the steps; the coarsest has at most :data:`TOP` buckets or is the last there is.
"""

import numpy as np

from sickbay.runs.curves import buckets as b
from sickbay.runs.curves.buckets import Buckets
from sickbay.runs.curves.points import Points

FEW = 1024
"""Points of a series below which no bucket is worth keeping."""
FILL = 16
"""Points a bucket: a bucket takes some 50 bytes, so at most 3 a point."""
TOP = 1024
FINEST, COARSEST = 3, 31
FACTOR = 4


def width_of(level: int) -> int:
    """Return how many steps a bucket of a level has."""
    return 1 << (2 * level)


def built(points: Points) -> tuple[int, list[Buckets]]:
    """Return the finest level worth keeping for all points of a series, and the levels from it."""
    base = FINEST
    lowest = b.summarised(points, width_of(base))
    while len(points) < FILL * len(lowest) and base < COARSEST:
        base, lowest = base + 1, b.widened(lowest, FACTOR)
    return base, stacked(base, lowest)


def stacked(base: int, lowest: Buckets) -> list[Buckets]:
    """Return a level and the coarser ones that charts need above it."""
    levels = [lowest]
    while len(levels[-1]) > TOP and base + len(levels) <= COARSEST:
        levels.append(b.widened(levels[-1], FACTOR))
    return levels


def too_fine(points: int, count: int) -> bool:
    """Whether a level has so few points a bucket that it costs more than it is worth."""
    return points < FILL * count


def level_for(width: int, base: int | None, kept: int) -> int | None:
    """Return the coarsest kept level whose buckets are no wider than ``width``, or nothing."""
    if base is None or width_of(base) > width:
        return None
    fitting = (width.bit_length() - 1) // 2
    return min(fitting, base + kept - 1)


def places(found: Buckets, size: int) -> dict[int, Buckets]:
    """Return buckets by the page they lie on, ``size`` intervals a page."""
    pages = found["bucket"] // size
    if not len(pages):
        return {}
    starts = np.flatnonzero(np.diff(pages, prepend=pages[0] - 1)).tolist()
    ends = [*starts[1:], len(pages)]
    return {int(pages[start]): found[start:end] for start, end in zip(starts, ends, strict=True)}
