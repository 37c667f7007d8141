"""The safetensors format: each type looked at, nothing believed that does not fit."""

import struct
from typing import Any

import numpy as np
import pytest
from tests.scanner.array_files import NAN, examined, said, tensor, tensors


@pytest.mark.parametrize(
    ("dtype", "pattern", "sound"),
    [
        ("F64", "<f8", 1.0),
        ("F32", "<f4", 1.0),
        ("F16", "<f2", 1.0),
        ("C64", "<c8", 1.0),
    ],
)
def test_tensors_of_safetensors_are_looked_at(dtype: str, pattern: str, sound: float) -> None:
    values = np.full((2, 3), sound, pattern)
    assert said(tensor(dtype, values.tobytes(), 2, 3), "a.safetensors") == []
    values[1, 1] = NAN
    (finding,) = examined(tensor(dtype, values.tobytes(), 2, 3), "a.safetensors").findings
    assert (finding.code, finding.item, finding.detail["first"]) == (
        "array.not-finite",
        "x",
        [1, 1],
    )


@pytest.mark.parametrize(
    ("dtype", "sound", "nan", "infinite"),
    [
        ("BF16", b"\x80\x3f", b"\xc0\x7f", b"\x80\x7f"),
        ("F8_E5M2", b"\x7b", b"\x7d", b"\x7c"),
        ("F8_E4M3", b"\x7e", b"\xff", None),
        ("F8_E8M0", b"\xfe", b"\xff", None),
        ("F8_E5M2FNUZ", b"\x7f", b"\x80", None),
        ("F8_E4M3FNUZ", b"\xff", b"\x80", None),
    ],
)
def test_types_that_numpy_lacks_are_looked_at_by_their_bits(
    dtype: str, sound: bytes, nan: bytes, infinite: bytes | None
) -> None:
    assert said(tensor(dtype, sound * 5, 5), "a.safetensors") == []
    (finding,) = examined(tensor(dtype, sound * 2 + nan, 3), "a.safetensors").findings
    assert (finding.detail["nan"], finding.detail["first"]) == (1, [2])
    if infinite is not None:
        (finding,) = examined(tensor(dtype, infinite + sound, 2), "a.safetensors").findings
        assert (finding.detail["positive_infinity"], finding.detail["first"]) == (1, [0])


def test_values_of_four_bits_need_half_the_bytes() -> None:
    found = examined(tensor("F4", bytes(4), 2, 4), "a.safetensors")
    assert (found.findings, found.arrays[0].dtype) == ((), "f4")


def one(**changed: Any) -> bytes:
    return tensors(
        {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changed}}, bytes(8)
    )


@pytest.mark.parametrize(
    "data",
    [
        one(data_offsets=[0, 4]),
        one(data_offsets=[4, 8]),
        one(data_offsets=[8, 0]),
        one(data_offsets=[-4, 4]),
        one(data_offsets=[0]),
        one(data_offsets="0:8"),
        one(data_offsets=[0, 8.0]),
        one(dtype="F33"),
        one(dtype=None),
        one(shape=[3]),
        one(shape=[-2]),
        one(shape=None),
        one() + b"\0",
        tensors({"x": 3}, b""),
        tensors({"__metadata__": {"x": 1}}, b""),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 5) + b"{{{{{",
        struct.pack("<Q", 4000) + b"[" * 4000,
        struct.pack("<Q", 1 << 60) + b"{}",
        tensors(
            {
                "a": {"dtype": "U8", "shape": [6], "data_offsets": [0, 6]},
                "b": {"dtype": "U8", "shape": [4], "data_offsets": [4, 8]},
            },
            bytes(8),
        ),
        struct.pack("<Q", 19) + b'{"a":{},"a":{}}    ',
    ],
)
def test_a_header_of_safetensors_that_does_not_fit_is_unloadable(data: bytes) -> None:
    assert said(data, "a.safetensors") == ["array.unloadable"]


def test_safetensors_that_end_early_are_truncated() -> None:
    whole = one()
    for length in range(1, len(whole)):
        assert said(whole[:length], "a.safetensors") == ["array.truncated"], length
