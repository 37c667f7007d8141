"""The ``.safetensors`` format, as strictly as its own library reads it.

Eight bytes of length, a JSON object of that length, then the values: every byte of them belongs
to exactly one tensor.
"""

import json
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from sickbay.scanner.arrays import (
    TRUNCATED,
    UNLOADABLE,
    Array,
    Elements,
    Fault,
    Stream,
    checked_shape,
    shown,
)
from sickbay.scanner.arrays.elements import named
from sickbay.scanner.arrays.pieces import pieces

MAX_HEADER = 100_000_000
"""Bytes; the format's own limit."""
_LENGTH = struct.Struct("<Q")
_TYPES = {
    "BOOL": "bool",
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "BF16": "bfloat16",
    "C64": "complex64",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
}
_PACKED = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}  # bits; none of their values is not finite


def looks_like(head: bytes) -> bool:
    """Whether a file begins as one of this format does."""
    if len(head) <= _LENGTH.size:
        return False
    (length,) = _LENGTH.unpack_from(head)
    return 0 < length <= MAX_HEADER and head[_LENGTH.size : _LENGTH.size + 1] == b"{"


def read(file: BinaryIO, size: int) -> Iterator[Stream | Fault]:
    """Read the tensors of a file."""
    header, begin = _header(file, size)
    arrays, end = [], 0
    stated = sorted(
        ((_offsets(one, name), name, one) for name, one in header.items()), key=_by_place
    )
    for (first, last), name, one in stated:
        if first != end:
            raise Fault(UNLOADABLE, "Its values overlap others, or leave a gap.", shown(name))
        arrays.append(_array(one, name, first, last - first))
        end = last
    there = size - begin
    if there < end:
        message = f"The header states {end:,} bytes of values; {there:,} are there."
        raise Fault(TRUNCATED, message, stated=end, there=there)
    if there > end:
        message = f"{there - end:,} bytes follow the values, which loaders of this format refuse."
        raise Fault(UNLOADABLE, message, bytes=there - end)
    for array, ((first, last), _, _) in zip(arrays, stated, strict=True):
        yield Stream((array,), partial(_pieces, file, last - first), array.elements.size or 1)


def _by_place(stated: tuple[tuple[int, int], str, Any]) -> tuple[tuple[int, int], str]:
    return stated[:2]


def _pieces(file: BinaryIO, count: int, step: int) -> Iterator[memoryview]:
    return pieces(file, count, step, None)


def _header(file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """Return what is stated of each tensor, and where the values begin."""
    start = file.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        raise Fault(TRUNCATED, "It ends within the header.")
    (length,) = _LENGTH.unpack(start)
    if length > MAX_HEADER:
        raise Fault(UNLOADABLE, "It does not begin as a file of this format does.")
    if _LENGTH.size + length > size:
        raise Fault(TRUNCATED, "It ends within the header.")
    header = _parsed(file.read(length))
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise Fault(UNLOADABLE, "Its header's metadata are no texts.")
    return header, _LENGTH.size + length


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        value = None
    if data[:1] != b"{" or not isinstance(value, dict):
        raise Fault(UNLOADABLE, "Its header cannot be read.")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _offsets(one: Any, name: str) -> tuple[int, int]:
    offsets = one.get("data_offsets") if isinstance(one, dict) else None
    if (
        not isinstance(offsets, list)
        or len(offsets) != 2  # noqa: PLR2004 (begin and end)
        or not all(type(offset) is int for offset in offsets)
        or not 0 <= offsets[0] <= offsets[1]
    ):
        raise Fault(
            UNLOADABLE, "The place of its values is not stated as it should be.", shown(name)
        )
    return offsets[0], offsets[1]


def _array(one: dict[str, Any], name: str, first: int, size: int) -> Array:
    item, dtype = shown(name), one.get("dtype")
    elements = _elements(dtype) if isinstance(dtype, str) else None
    if elements is None:
        raise Fault(UNLOADABLE, "The type of values that it states is unknown.", item)
    array = Array(item, checked_shape(one.get("shape"), item), elements)
    if array.count * elements.bits != size * 8:
        message = f"Its shape and type need other than the {size:,} bytes it has."
        raise Fault(UNLOADABLE, message, item, begin=first)
    return array


def _elements(dtype: str) -> Elements | None:
    if dtype in _PACKED:
        return Elements(dtype.lower(), _PACKED[dtype])
    return named(_TYPES[dtype]) if dtype in _TYPES else None
