"""Types of elements: what they are called, how wide they are, and which may be NaN or infinite.

Types that NumPy lacks are looked at by their bit patterns: bfloat16 is the upper half of a
float32, and a float of eight bits is one of 256 values in a table.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sickbay.scanner.arrays import Elements, Floats

_MAX_NAME = 32
_MAX_FIELDS = 1000
_FLOATS = "fc"


def of_dtype(dtype: np.dtype[Any]) -> Elements:
    """Describe a NumPy type; that of objects is the caller's to refuse."""
    return Elements(_name(dtype), dtype.itemsize * 8, _floats(dtype))


def _name(dtype: np.dtype[Any]) -> str:
    """Another byte order is part of the name: torch and most loaders refuse to mix or take it."""
    if dtype.names is not None:
        return "structured"
    order = "big-endian " if dtype.str[0] == ">" else ""
    return f"{order}{dtype.name}"[:_MAX_NAME]


def _floats(dtype: np.dtype[Any]) -> Floats | None:
    if dtype.kind in _FLOATS:
        return partial(_plain, dtype)
    fields = list(_float_fields(dtype, 0))[:_MAX_FIELDS]
    return partial(_fields, dtype.itemsize, fields) if fields and dtype.itemsize else None


def _float_fields(dtype: np.dtype[Any], at: int) -> "list[tuple[int, np.dtype[Any], int]]":
    """List offset, type and number of the floats in one element of a structured type."""
    base, shape = dtype.subdtype or (dtype, ())
    if base.kind in _FLOATS:
        return [(at, base, int(np.prod(shape, dtype=object)))]
    if base.names is None or shape:  # fields in arrays in fields are not looked at
        return []
    return [
        found
        for kind, offset, *_ in (base.fields or {}).values()
        for found in _float_fields(kind, at + offset)
    ]


def _parts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give the parts of complex numbers as two columns."""
    if values.dtype.kind != "c":
        return values
    half = np.dtype(f"{values.dtype.str[0]}f{values.dtype.itemsize // 2}")
    return np.ascontiguousarray(values).view(half)


def _plain(dtype: np.dtype[Any], buffer: memoryview) -> list[npt.NDArray[Any]]:
    return [_parts(np.frombuffer(buffer, dtype).reshape(-1, 1))]


def _fields(
    size: int, fields: list[tuple[int, np.dtype[Any], int]], buffer: memoryview
) -> list[npt.NDArray[Any]]:
    rows = np.frombuffer(buffer, np.uint8).reshape(-1, size)
    return [
        _parts(np.ascontiguousarray(rows[:, at : at + kind.itemsize * count]).view(kind))
        for at, kind, count in fields
    ]


def _table(not_finite: Mapping[int, float]) -> npt.NDArray[np.float32]:
    values = np.zeros(256, np.float32)
    for pattern, value in not_finite.items():
        values[pattern] = value
    return values


def _looked_up(table: npt.NDArray[np.float32], buffer: memoryview) -> list[npt.NDArray[Any]]:
    return [table[np.frombuffer(buffer, np.uint8)].reshape(-1, 1)]


def _upper_half(order: str, buffer: memoryview) -> list[npt.NDArray[Any]]:
    halves = np.frombuffer(buffer, f"{order}u2")
    return [(halves.astype(np.uint32) << 16).view(np.float32).reshape(-1, 1)]


_NAN, _INF = float("nan"), float("inf")
# Which patterns are not finite: the OCP specification of 8-bit floating point, 2023, and that of
# microscaling formats, 2023; "fnuz" have one NaN where minus zero would be, and no infinity.
_E5M2 = {0x7C: _INF, 0xFC: -_INF, **dict.fromkeys((*range(0x7D, 0x80), *range(0xFD, 0x100)), _NAN)}
_E4M3 = {0x7F: _NAN, 0xFF: _NAN}
_E8M0 = {0xFF: _NAN}
_FNUZ = {0x80: _NAN}
_EIGHT = {
    "float8_e5m2": _E5M2,
    "float8_e4m3fn": _E4M3,
    "float8_e8m0fnu": _E8M0,
    "float8_e5m2fnuz": _FNUZ,
    "float8_e4m3fnuz": _FNUZ,
}
_NUMPY = {
    "bool": "?",
    **{f"uint{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"int{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits // 8}" for bits in (16, 32, 64)},
    "complex64": "c8",
    "complex128": "c16",
}
_ALIKE = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint32": "int32",
    "bits8": "uint8",
    "bits16": "uint16",
}


def named(name: str, order: str = "<") -> Elements | None:
    """Describe a type by torch's name for it; nothing where it is unknown."""
    if name in _NUMPY:
        dtype = np.dtype(_NUMPY[name]).newbyteorder(order)  # type: ignore[arg-type]
        return Elements(name, dtype.itemsize * 8, _floats(dtype))
    if name in _EIGHT:
        return Elements(name, 8, partial(_looked_up, _table(_EIGHT[name])))
    if name == "bfloat16":
        return Elements(name, 16, partial(_upper_half, order))
    if name == "complex32":
        return Elements(name, 32, partial(_halves, order))
    if name in _ALIKE:
        return Elements(name, np.dtype(_NUMPY[_ALIKE[name]]).itemsize * 8)
    return Elements(name, 8) if name in _PACKED else None


def _halves(order: str, buffer: memoryview) -> list[npt.NDArray[Any]]:
    return [np.frombuffer(buffer, f"{order}f2").reshape(-1, 2)]


_PACKED = {
    *("quint4x2", "quint2x4", "bits1x8", "bits2x4", "bits4x2", "float4_e2m1fn_x2"),
    *(f"{sign}int{bits}" for sign in ("u", "") for bits in range(1, 8)),
}
"""Several to a byte, and none that is not finite."""
