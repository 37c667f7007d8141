"""A picture made small and grey: what its looks and its hash are computed from."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Grey: TypeAlias = NDArray[np.uint8]
"""Height x width."""
_SIDE = 48
_LUMA = np.array((0.299, 0.587, 0.114), np.float32)  # ITU-R BT.601, as JPEG has it


def factor(width: int, height: int) -> int:
    """How many times smaller a picture is made: 1, 2, 4 or 8, as JPEG decoders can do.

    Its longer side keeps 48 pixels.
    """
    times = max(width, height) // _SIDE
    return next((power for power in (8, 4, 2) if times >= power), 1)


def of_pixels(pixels: NDArray[np.uint8]) -> Grey:
    """Make an already small picture grey: one channel, three (RGB) or four (inverted CMYK)."""
    channels = pixels.shape[2]
    if channels == 1:
        return pixels[:, :, 0]
    if channels == 4:  # noqa: PLR2004 (as Adobe writes it into JPEGs)
        return np.asarray(Image.fromarray(255 - pixels, "CMYK").convert("L"))
    return (pixels.astype(np.float32) @ _LUMA).astype(np.uint8)


def of_image(image: Image.Image) -> Grey | None:
    """Make a decoded picture small and grey; nothing where its values have no known scale."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return None
    if image.mode in ("1", "P", "PA", "CMYK", "YCbCr", "LAB"):  # those do not reduce
        image = image.convert("L" if image.mode == "1" else "RGB")
    return np.asarray(image.reduce(factor(*image.size)).convert("L"))
