"""Files of arrays: readers that run no code, load no library that does, and stream the values.

Each reader takes an open file and yields :class:`Stream`: bytes in order, and the arrays that
lie in them. Whatever is wrong with the file is a :class:`Fault`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

import numpy.typing as npt

TRUNCATED, UNLOADABLE = "array.truncated", "array.unloadable"
DAMAGED, TRAILING = "array.damaged", "array.trailing-data"
MAX_AXES = 64  # as NumPy and torch have them
MAX_SIDE = (1 << 63) - 1
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

Floats: TypeAlias = Callable[[memoryview], list[npt.NDArray[Any]]]
"""Gives the floating-point values in whole elements of a buffer, each array (elements, values)."""


class Fault(Exception):
    """What is wrong with a file or one array of it, in one plain sentence."""

    def __init__(self, code: str, message: str, item: str | None = None, **detail: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.item, self.detail = code, message, item, detail


@dataclass(frozen=True, slots=True)
class Elements:
    """A type of elements.

    Attributes:
        name: as people write it, at most 32 printable characters.
        bits: of one element.
        floats: how to get at values that may be NaN or infinite; nothing where none can be.
    """

    name: str
    bits: int
    floats: Floats | None = None

    @property
    def size(self) -> int:
        """Bytes of one element, 0 where it has less than one."""
        return self.bits // 8


@dataclass(frozen=True, slots=True)
class Array:
    """One array of a file.

    Attributes:
        item: its name, nothing where the file is one array.
        shape: lengths of its axes.
        elements: their type.
        begin: where its bytes begin in its stream.
        strides: elements to go on by along each axis; nothing where it lies in C order.
    """

    item: str | None
    shape: tuple[int, ...]
    elements: Elements
    begin: int = 0
    strides: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """Elements."""
        return product(self.shape)


@dataclass(frozen=True, slots=True)
class Stream:
    """Bytes that follow one another, and the arrays that lie in them.

    ``step`` is the number of bytes, or a multiple of it, that no element straddles. Reading
    ``pieces`` may raise :class:`Fault`.
    """

    arrays: tuple[Array, ...]
    pieces: Callable[[int], Iterator[memoryview]]
    step: int = 1


Reader: TypeAlias = Callable[[BinaryIO, int], Iterator["Stream | Fault"]]
"""Reads an open file of a size in bytes; faults that end the reading are raised, others yielded."""


def product(shape: tuple[int, ...]) -> int:
    """Elements of an array of this shape, as an integer that cannot overflow."""
    count = 1
    for side in shape:
        count *= side
    return count


def checked_shape(value: Any, item: str | None = None) -> tuple[int, ...]:
    """Return a shape that a file states, or refuse what no array can have."""
    sides = tuple(value) if isinstance(value, list | tuple) else (None,)
    if len(sides) > MAX_AXES or not all(
        type(side) is int and 0 <= side <= MAX_SIDE for side in sides
    ):
        raise Fault(UNLOADABLE, "The shape it states is none that an array can have.", item)
    return sides


def shown(name: str, most: int = 255) -> str:
    r"""Write a name that a file holds as records allow: odd characters as escapes, cut to fit."""
    plain = name[:most].encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROL.sub(lambda odd: f"\\x{ord(odd[0]):02x}", plain)[:most]
