"""Files of arrays for tests, and what is found in one without a child."""

import io
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.scanner.recorded import codes

from sickbay.scanner import Examined, Setup
from sickbay.scanner.examine import array
from sickbay.scanner.examine.folder import FilesGiven
from sickbay.scanner.task import Task

NAN, INF = float("nan"), float("inf")


def examined(data: bytes, name: str = "a.npy", setup: Setup | None = None) -> Examined:
    raw = name.encode()
    return array.examine(FilesGiven({raw: data}), Task(raw, "array"), setup or Setup(), 0)


def said(data: bytes, name: str = "a.npy", setup: Setup | None = None) -> list[str]:
    return codes(examined(data, name, setup).findings)


def npy(values: npt.NDArray[Any], version: tuple[int, int] | None = None) -> bytes:
    made = io.BytesIO()
    np.lib.format.write_array(made, values, version=version)
    return made.getvalue()


def npz(*, compressed: bool = False, **arrays: npt.NDArray[Any]) -> bytes:
    made = io.BytesIO()
    if compressed:
        np.savez_compressed(made, allow_pickle=True, **arrays)
    else:
        np.savez(made, allow_pickle=True, **arrays)
    return made.getvalue()


def header(text: str, values: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """A `.npy` file with any header at all."""
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text.encode() + values


def tensors(stated: Mapping[str, Any], values: bytes) -> bytes:
    """A `.safetensors` file with any header at all."""
    text = json.dumps(stated).encode()
    return struct.pack("<Q", len(text)) + text + values


def tensor(dtype: str, values: bytes, *shape: int) -> bytes:
    return tensors(
        {"x": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(values)]}}, values
    )
