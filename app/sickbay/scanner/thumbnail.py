"""Small pictures of broken samples, and previews of any.

Here, and only here, damaged data are decoded tolerantly: a reviewer wants to see what is left.
"""

import io

import numpy as np
from PIL import (
    Image,
    ImageFile,
    WebPImagePlugin,  # noqa: F401 (else the first one saved loads all of Pillow's formats)
)

from sickbay.scanner.pillow import opened

MEDIA_TYPE = "image/webp"
_QUALITY, _EFFORT = 75, 0  # effort 0 is four times faster than the default and a tenth larger
_NEVER_LARGER = 64_000_000  # pixels decoded for a preview: 256 MB at four bytes


def thumbnail(data: bytes, kind: str, side: int, *, cut: bool = False) -> bytes | None:
    """Return a WebP picture of at most ``side`` pixels, or nothing where nothing can be shown.

    What a file that is ``cut`` lost is transparent.
    """
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        with opened(data, kind) as image:
            return _reduced(image, side, cut=cut)
    except Exception:  # noqa: BLE001 (nothing to show is an answer, whatever the decoder raised)
        return None
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False


def _reduced(image: Image.Image, side: int, *, cut: bool) -> bytes | None:
    image.draft(None, (side, side))
    if image.width * image.height > _NEVER_LARGER:
        return None
    shown = _displayable(image)
    shown.thumbnail((side, side), Image.Resampling.BOX)
    kept = shown.height - (lost_rows(shown) if cut else 0)
    if kept == 0:
        return None
    if kept < shown.height:
        shown = shown.convert("RGBA")
        shown.paste((0, 0, 0, 0), (0, kept, shown.width, shown.height))
    made = io.BytesIO()
    shown.save(made, "WEBP", quality=_QUALITY, method=_EFFORT)
    return made.getvalue()


def _displayable(image: Image.Image) -> Image.Image:
    """Bring any mode to RGB or RGBA; 16-bit values and floats are stretched to their range."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        values = np.asarray(image, dtype=np.float32)
        low, high = float(values.min()), float(values.max())
        scaled = (values - low) * (255.0 / (high - low)) if high > low else values * 0
        return Image.fromarray(scaled.astype(np.uint8)).convert("RGB")
    alpha = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
    return image.convert("RGBA" if alpha else "RGB")


def lost_rows(image: Image.Image) -> int:
    """Count the rows at the bottom that are one flat colour, as decoders fill in what is lost."""
    pixels = np.asarray(image)
    flat = (pixels == pixels[-1, -1]).all(axis=(1, 2))
    filled = np.flatnonzero(~flat)
    return len(flat) - (int(filled[-1]) + 1 if filled.size else 0)
