"""Values that are not finite, found while an array's bytes pass by."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sickbay.scanner.arrays import Array, product


@dataclass(slots=True)
class NotFinite:
    """How many stored values of an array are not finite, and where the first one is."""

    nan: int = 0
    positive: int = 0
    negative: int = 0
    first: int | None = None

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return self.first is not None

    def look(self, values: npt.NDArray[Any], at: int) -> None:
        """Look at values of elements, (elements, values each), the first being element ``at``."""
        finite = np.isfinite(values)
        if finite.all():
            return
        rows = ~finite.all(axis=1)
        first = at + int(rows.argmax())
        self.first = first if self.first is None else min(self.first, first)
        bad = values[rows]
        self.nan += int(np.isnan(bad).any(axis=1).sum())
        self.positive += int(np.isposinf(bad).any(axis=1).sum())
        self.negative += int(np.isneginf(bad).any(axis=1).sum())


@dataclass(slots=True)
class Watch:
    """Looks at one array in the bytes of its stream, in constant memory where it lies densely."""

    array: Array
    found: NotFinite = field(default_factory=NotFinite)
    _gathered: bytearray | None = None

    def __post_init__(self) -> None:
        if not _is_dense(self.array):
            self._gathered = bytearray()

    def look(self, buffer: memoryview, at: int) -> None:
        """Look at the bytes that begin at ``at`` in the stream; they come in order."""
        begin, size = self.array.begin, self.array.elements.size
        low, high = max(at, begin), min(at + len(buffer), begin + self._span * size)
        if low >= high:
            return
        part = buffer[low - at : high - at]
        if self._gathered is None:
            self._values(part, (low - begin) // size)
        else:
            self._gathered += part

    def end(self) -> None:
        """Look at what had to be gathered first."""
        if self._gathered:
            shape, strides = _looked_at(self.array)
            size = self.array.elements.size
            raw = np.frombuffer(self._gathered, f"V{size}")
            steps = tuple(step * size for step in strides)
            values = np.lib.stride_tricks.as_strided(raw, shape, steps, writeable=False)
            self._values(memoryview(values.tobytes()), 0)

    def index(self) -> list[int]:
        """Where the first one is, an index for each axis."""
        at = self.found.first or 0
        shape, strides = _looked_at(self.array)
        if self._gathered is not None:
            return [int(side) for side in np.unravel_index(at, shape)]
        index = [0] * len(shape)
        for axis in sorted(range(len(shape)), key=lambda one: -strides[one]):
            if shape[axis] > 1:
                index[axis], at = divmod(at, strides[axis])
        return index

    @property
    def _span(self) -> int:
        """Elements from the first to the last one that belongs to it."""
        return span(self.array)

    def _values(self, part: memoryview, at: int) -> None:
        floats = self.array.elements.floats
        for values in floats(part) if floats is not None else ():
            self.found.look(values, at)


def span(array: Array) -> int:
    """Elements of its stream from an array's first to its last."""
    if not array.count:
        return 0
    shape, strides = _looked_at(array)
    return 1 + sum((side - 1) * step for side, step in zip(shape, strides, strict=True))


def _looked_at(array: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides without repetition: along a stride of 0 is one value, many times."""
    strides = array.strides
    if strides is None:
        strides = tuple(product(array.shape[axis + 1 :]) for axis in range(len(array.shape)))
    shape = tuple(
        side if step else min(side, 1) for side, step in zip(array.shape, strides, strict=True)
    )
    return shape, strides


def _is_dense(array: Array) -> bool:
    """Whether it fills its span without a gap, in whatever order of axes."""
    if array.strides is None or not array.count:
        return True
    wanted = 1
    for step, side in sorted(zip(*reversed(_looked_at(array)), strict=True)):
        if side > 1 and step != wanted:
            return False
        wanted *= side
    return True
