"""The ``.npy`` format, versions 1 to 3, by its specification (NumPy enhancement proposal 1).

NumPy's own reader unpickles where it is let, and has no public way to read a header of version 3;
this one reads the header as a literal and never anything as code.
"""

import ast
import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from sickbay.scanner.arrays import (
    TRAILING,
    TRUNCATED,
    UNLOADABLE,
    Array,
    Fault,
    Stream,
    checked_shape,
)
from sickbay.scanner.arrays.elements import of_dtype
from sickbay.scanner.arrays.pieces import pieces

MAGIC = b"\x93NUMPY"
_LENGTHS = {1: "<H", 2: "<I", 3: "<I"}  # of the header, by version
_MAX_HEADER = 10_000  # characters: where numpy.load stops as well, lest parsing be an attack
_KEYS = {"descr", "fortran_order", "shape"}
_LONG = re.compile(r"(?<=\d)L\b")  # integers as Python 2 wrote them


def read(file: BinaryIO, size: int) -> Iterator[Stream | Fault]:
    """Read a file that is one array."""
    yield from read_array(file, size)


def read_array(file: BinaryIO, size: int, item: str | None = None) -> Iterator[Stream | Fault]:
    """Read one array of ``size`` bytes with its header, at the place where ``file`` stands."""
    header, used = _header(file, size, item)
    dtype = _dtype(header["descr"], item)
    array = _array(header, dtype, item)
    wanted, there = array.count * dtype.itemsize, size - used
    if there < wanted:
        raise Fault(
            TRUNCATED,
            f"The header states {wanted:,} bytes of values; {there:,} are there.",
            item,
            stated=wanted,
            there=there,
        )
    yield Stream(
        (array,),
        lambda step: pieces(file, wanted, step, item),
        dtype.itemsize or 1,
    )
    if there > wanted:
        yield _trailing(file, there - wanted, item)


def _header(file: BinaryIO, size: int, item: str | None) -> tuple[dict[str, Any], int]:
    """Return the header and how many bytes it took."""
    start = file.read(8)
    if not start.startswith(MAGIC[: len(start)]):
        raise Fault(UNLOADABLE, "It does not begin as a NumPy array does.", item)
    if len(start) < 8:  # noqa: PLR2004 (magic and version)
        raise _cut(item)
    form = _LENGTHS.get(start[6])
    if form is None:
        raise Fault(UNLOADABLE, f"Its format is version {start[6]}, which is unknown.", item)
    width = struct.calcsize(form)
    stated = file.read(width)
    if len(stated) < width:
        raise _cut(item)
    (length,) = struct.unpack(form, stated)
    if 8 + width + length > size:
        raise _cut(item)
    if length > _MAX_HEADER:
        raise Fault(
            UNLOADABLE, f"Its header of {length:,} bytes is longer than loaders take.", item
        )
    text = file.read(length).decode("utf-8" if start[6] > 2 else "latin-1", "replace")  # noqa: PLR2004 (version)
    return _parsed(text, item), 8 + width + length


def _cut(item: str | None) -> Fault:
    return Fault(TRUNCATED, "It ends within the header.", item)


def _parsed(text: str, item: str | None) -> dict[str, Any]:
    try:
        value = ast.literal_eval(_LONG.sub("", text).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise Fault(UNLOADABLE, "Its header cannot be read.", item)
    return value


def _dtype(descr: Any, item: str | None) -> np.dtype[Any]:
    try:
        dtype = np.lib.format.descr_to_dtype(descr)
    except Exception:  # noqa: BLE001 (whatever NumPy says of a hostile description)
        raise Fault(UNLOADABLE, "The type of values that it states is unknown.", item) from None
    if dtype.hasobject:
        raise Fault(UNLOADABLE, "It holds pickled objects, which run code when loaded.", item)
    return dtype


def _array(header: dict[str, Any], dtype: np.dtype[Any], item: str | None) -> Array:
    shape = checked_shape(header["shape"], item)
    strides = None
    if header["fortran_order"] is True:
        sides = [1, *(max(side, 1) for side in shape)]
        strides = tuple(int(np.prod(sides[: at + 1], dtype=object)) for at in range(len(shape)))
    elif header["fortran_order"] is not False:
        raise Fault(UNLOADABLE, "Its header cannot be read.", item)
    return Array(item, shape, of_dtype(dtype), strides=strides)


def _trailing(file: BinaryIO, count: int, item: str | None) -> Fault:
    another = file.read(len(MAGIC)) == MAGIC
    what = "with another array, which numpy.load does not see" if another else "that are no values"
    return Fault(TRAILING, f"{count:,} bytes follow the values, {what}.", item, bytes=count)
