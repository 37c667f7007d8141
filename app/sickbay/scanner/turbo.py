"""libjpeg-turbo, strictly: the first warning ends the decode and says what is wrong.

Only baseline, extended, progressive and sequential arithmetic frames of 8 bits may come here:
simplejpeg 1.9.0 corrupts memory on others.
"""

from dataclasses import dataclass

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from sickbay.scanner.markers import Walk


@dataclass(frozen=True, slots=True)
class Decoded:
    """Pixels, height x width x channels, or the warning instead of them."""

    pixels: NDArray[np.uint8] | None
    warning: str = ""


def decode(data: bytes, found: Walk, times: int, *, strict: bool = True) -> Decoded:
    """Decode ``times`` smaller: all data are read, whatever the size.

    Chroma is repeated, not interpolated. Four channels stay as they are: for CMYK there is no way
    to colours.

    Raises:
        MemoryError: libjpeg-turbo ran into the memory limit.
    """
    try:
        pixels = simplejpeg.decode_jpeg(
            data,
            colorspace={1: "GRAY", 4: "CMYK"}.get(found.components, "RGB"),
            fastupsample=True,
            min_height=-(-found.height // times),
            min_width=-(-found.width // times),
            min_factor=times,
            strict=strict,
        )
    except ValueError as error:
        if "nsufficient memory" in str(error):
            raise MemoryError from None
        return Decoded(None, str(error))
    return Decoded(pixels)
