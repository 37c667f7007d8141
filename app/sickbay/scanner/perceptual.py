"""A hash of what a picture shows: copies of it have nearly the same one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_SIDE, _KEPT = 32, 8
_PLAIN, _TELLING = 1.0, 32
"""A frequency tells something from one grey value on; half of them must."""


def _cosines() -> NDArray[np.float32]:
    """The first rows of the orthonormal discrete cosine transform (type II) of 32 values."""
    angles = np.pi * np.outer(np.arange(_KEPT), 2 * np.arange(_SIDE) + 1) / (2 * _SIDE)
    rows: NDArray[Any] = np.cos(angles) * np.sqrt(2 / _SIDE)
    rows[0] /= np.sqrt(2)
    return rows.astype(np.float32)


_COSINES = _cosines()


def perceptual_hash(small: Image.Image, size: tuple[float, float]) -> int | None:
    """Hash a small grey picture to 64 bits.

    The hash is pHash's: which of the lowest 8 x 8 frequencies of the picture at 32 x 32 pixels
    exceed their median (C. Zauner, "Implementation and Benchmarking of Perceptual Image Hash
    Functions", 2010). The triangle filter matters: with a box copies of other sizes go astray.

    Args:
        small: the picture.
        size: its width and height without what decoders pad the last column and row with.

    Returns:
        The hash, or nothing where the frequencies hardly differ, so that it would be of noise.
    """
    tiny = small.resize((_SIDE, _SIDE), Image.Resampling.BILINEAR, (0, 0, *size))
    low = (_COSINES @ np.asarray(tiny, np.float32) @ _COSINES.T).ravel()
    parted = np.partition(low, low.size // 2)
    middle = (parted[low.size // 2 - 1] + parted[low.size // 2]) / 2
    apart = np.abs(low - middle)
    if np.count_nonzero(apart > _PLAIN) < _TELLING:
        return None
    return int.from_bytes(np.packbits(low > middle).tobytes(), "big")
