"""Points as columns: steps, values, times; sorted, joined, packed.

The order of points is (step, time, value): a function of the points alone, so that the same
points give the same curve in whatever split and order they came.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MICROSECOND = 1_000_000
_COLUMNS = 3
_EFFORT = 6
"""zlib's level: noise does not shrink at any, and steps and times shrink at this one."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Columns of equal length: steps, values (non-finite ones too), times in microseconds."""

    steps: Ints
    values: Floats
    times: Ints

    def __len__(self) -> int:
        """Return how many points there are."""
        return len(self.steps)

    def chosen(self, which: Mask | Ints | slice) -> "Points":
        """Return the points that a mask, a list of places or a slice picks."""
        return Points(self.steps[which], self.values[which], self.times[which])

    def ordered(self) -> "Points":
        """Return the points sorted by step, time, value."""
        bits = self.values.view(np.int64)
        # Compared, not subtracted: a difference of two steps may not fit 64 bits.
        if bool((self.steps[1:] > self.steps[:-1]).all()):
            return self
        return self.chosen(np.lexsort((bits, self.times, self.steps)).astype(np.int64))

    def between(self, first: int, last: int) -> "Points":
        """Return the points with steps from ``first`` to ``last``, both included."""
        return self.chosen((self.steps >= first) & (self.steps <= last))


def joined(parts: Sequence[Points]) -> Points:
    """Return the points of several columns as one, in order."""
    if len(parts) == 1:
        return parts[0].ordered()
    return Points(
        np.concatenate([part.steps for part in parts] or [np.empty(0, np.int64)]),
        np.concatenate([part.values for part in parts] or [np.empty(0, np.float64)]),
        np.concatenate([part.times for part in parts] or [np.empty(0, np.int64)]),
    ).ordered()


def pack(points: Points) -> bytes:
    """Return points compressed: differences of steps and times, and values, byte by byte.

    Bytes of equal weight lie together: those of a regular step or of a value that came from a
    32-bit float are then runs of the same byte.
    """
    columns = np.stack(
        (
            np.diff(points.steps, prepend=np.int64(0)),
            points.values.view(np.int64),
            np.diff(points.times, prepend=np.int64(0)),
        )
    )
    planes = columns.astype("<i8").view(np.uint8).reshape(_COLUMNS, -1, 8).transpose(0, 2, 1)
    return zlib.compress(planes.tobytes(), _EFFORT)


def unpack(data: bytes) -> Points:
    """Return the points that :func:`pack` made bytes of."""
    planes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(_COLUMNS, 8, -1)
    columns = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<i8")[:, :, 0]
    steps, values, times = columns.astype(np.int64)
    return Points(np.cumsum(steps), values.view(np.float64), np.cumsum(times))
