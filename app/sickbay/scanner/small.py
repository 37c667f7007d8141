"""A picture made small and grey: what its looks and its hash are computed from."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Grey: TypeAlias = NDArray[np.uint8]
"""Height x width."""
_SIDE, _ENOUGH = 48, 64
_LUMA = np.array((0.299, 0.587, 0.114), np.float32)  # ITU-R BT.601, as JPEG has it
_COLOURS, _INKS = 3, 4  # channels of RGB and CMYK


@dataclass(frozen=True, slots=True)
class Small:
    """The copy, 48 to 127 pixels at its longer side where the picture has as many.

    ``width`` and ``height`` are its true size: its last column and row may be partly padding.
    """

    grey: Grey
    width: float
    height: float


def factor(width: int, height: int) -> int:
    """How many times smaller a decoder makes a picture: 1, 2, 4 or 8, as for JPEG it can."""
    times = max(width, height) // _SIDE
    return next((power for power in (8, 4, 2) if times >= power), 1)


def of_pixels(pixels: NDArray[np.uint8], width: int, height: int) -> Small:
    """Make a copy of what was decoded :func:`factor` times smaller.

    Args:
        pixels: height x width x channels: one, three (RGB) or four (inverted CMYK).
        width: of the whole picture.
        height: likewise.
    """
    return _reduced(_grey(pixels), factor(width, height), width, height)


def of_image(image: Image.Image) -> Small | None:
    """Make a copy of a decoded picture; nothing where its values have no known scale."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return None
    if image.mode in ("1", "P", "PA", "CMYK", "YCbCr", "LAB"):  # those do not reduce
        image = image.convert("L" if image.mode == "1" else "RGB")
    times = factor(*image.size)
    return _reduced(image.reduce(times).convert("L"), times, *image.size)


def _grey(pixels: NDArray[np.uint8]) -> Grey | Image.Image:
    channels = pixels.shape[2]
    if channels == _INKS:  # as Adobe writes it into JPEGs
        return Image.fromarray(255 - pixels, "CMYK").convert("L")
    if channels < _COLOURS:
        return pixels[:, :, 0]
    if max(pixels.shape) < 2 * _ENOUGH:
        return (pixels.astype(np.float32) @ _LUMA).astype(np.uint8)
    return Image.fromarray(pixels).convert("L")


def _reduced(grey: Grey | Image.Image, times: int, width: int, height: int) -> Small:
    """Make large copies smaller still."""
    size = grey.size if isinstance(grey, Image.Image) else grey.shape
    more = max(size) // _ENOUGH
    if more > 1:
        image = grey if isinstance(grey, Image.Image) else Image.fromarray(grey)
        grey, times = image.reduce(more), times * more
    array = np.asarray(grey)
    down, across = array.shape
    return Small(array, min(across, width / times), min(down, height / times))
