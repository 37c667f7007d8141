"""Columns of numbers without copies, and runs of equal keys in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    from array import array

Column: TypeAlias = NDArray[Any]
NONE = -1


def column(numbers: "array[int] | array[float] | bytearray", dtype: DTypeLike) -> Column:
    """Look at an array's numbers as a column, without copying them."""
    return np.frombuffer(numbers, dtype=dtype) if len(numbers) else np.empty(0, dtype=dtype)


def changes(keys: Sequence[Column]) -> Column:
    """Return where, in columns of equal length, the key differs from the one before it."""
    starts = np.ones(len(keys[0]), dtype=np.bool_)
    if len(starts):
        np.any([key[1:] != key[:-1] for key in keys], axis=0, out=starts[1:])
    return starts


@dataclass(frozen=True, slots=True)
class Runs:
    """Samples whose keys are equal, in groups of two and more.

    Attributes:
        members: numbers of samples, group by group.
        starts: where each group begins in ``members``, and at last where the last ends.
        of: the group of each sample, ``NONE`` where it is alone.
    """

    members: Column
    starts: Column
    of: Column

    def group(self, number: int) -> Column:
        """Return the members of one group."""
        return self.members[self.starts[number] : self.starts[number + 1]]


def repeated(keys: Sequence[Column], within: Column, among: Column) -> Runs:
    """Group samples by equal keys; in a group they are ordered by ``within``, then by number.

    Args:
        keys: one column or more, that all must be equal.
        within: what orders the members of a group.
        among: which samples take part.
    """
    order = np.flatnonzero(among).astype(np.int32)
    order = order[np.lexsort((within[order], *(key[order] for key in keys)))]
    starts = np.flatnonzero(changes([key[order] for key in keys]))
    sizes = np.diff(starts, append=len(order))
    several = sizes > 1
    members = order[np.repeat(several, sizes)]
    sizes = sizes[several]
    of = np.full(len(among), NONE, dtype=np.int32)
    of[members] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Runs(members, np.concatenate(([0], np.cumsum(sizes))), of)
