"""A picture made small and grey: what its looks and its hash are computed from."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

MOST, SIDE = 8, 48
"""A picture is made eight times smaller, but its longer side not shorter than this."""


def factor(width: int, height: int) -> int:
    """How many times smaller a picture is made: 1, 2, 4 or 8, as JPEG decoders can do."""
    times = max(width, height) // SIDE
    return next((power for power in (8, 4, 2) if times >= power), 1)


def of_pixels(pixels: NDArray[np.uint8]) -> Image.Image:
    """Make an already small picture grey: one channel, three (RGB) or four (inverted CMYK)."""
    channels = pixels.shape[2]
    if channels == 1:
        return Image.fromarray(pixels[:, :, 0])
    if channels == 4:  # noqa: PLR2004 (as Adobe writes it into JPEGs)
        return Image.fromarray(255 - pixels, "CMYK").convert("L")
    return Image.fromarray(pixels).convert("L")


def of_image(image: Image.Image) -> Image.Image | None:
    """Make a decoded picture small and grey; nothing where its values have no known scale."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return None
    if image.mode in ("1", "P", "PA", "CMYK", "YCbCr", "LAB"):  # those do not reduce
        image = image.convert("L" if image.mode == "1" else "RGB")
    return image.reduce(factor(*image.size)).convert("L")
