"""Everything that only Pillow decodes: GIF, WebP, TIFF, BMP, AVIF, PPM, ICO, TGA, JPEG 2000."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, UnidentifiedImageError

from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.exif import MOST, UPRIGHT

ALLOWED = {
    "JPEG": ("JPEG", "MPO"),
    "PNG": ("PNG",),
    "GIF": ("GIF",),
    "WEBP": ("WEBP",),
    "TIFF": ("TIFF",),
    "BMP": ("BMP", "DIB"),
    "AVIF": ("AVIF",),
    "PPM": ("PPM",),
    "ICO": ("ICO",),
    "TGA": ("TGA",),
    "JPEG2000": ("JPEG2000",),
}
MAX_PIXELS = 89_478_485  # Pillow's own MAX_IMAGE_PIXELS: 1 GiB at three bytes and three copies
DECODED_PIXELS = 100_000_000  # of all frames together; beyond, frames stay unchecked
_ORIENTATION = 0x0112
_ENDS = ("truncated", "Truncated", "not enough", "unexpected end", "EOF", "end of file")
Image.MAX_IMAGE_PIXELS = None  # sizes are judged here, by the budget, not by an exception


def examine(data: bytes, kind: str, evidence: Evidence, *, frames: int) -> None:
    """Fill in what is known of a picture of ``kind``; at most ``frames`` frames are decoded."""
    evidence.fault = load_all(data, kind, evidence, frames=frames)


def load_all(data: bytes, kind: str, evidence: Evidence, *, frames: int) -> Fault | None:
    """Decode every frame within the budget and return what went wrong, or nothing.

    Raises:
        MemoryError: the decoder ran into the memory limit.
    """
    step = "open"
    try:
        with opened(data, kind) as image:
            _facts(image, evidence)
            step = "decode"
            for at in _frames(image, frames):
                image.seek(at)
                image.load()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (decoders raise whatever they like, even SyntaxError)
        return _fault(error, step, kind)
    return None


@contextmanager
def opened(data: bytes, kind: str) -> Iterator[Image.Image]:
    """Open a picture with the decoders of its own kind and no others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data), formats=ALLOWED[kind]) as image:
            yield image


def _facts(image: Image.Image, evidence: Evidence) -> None:
    evidence.format = image.format
    evidence.width, evidence.height = image.size
    evidence.mode = image.mode
    evidence.frames = getattr(image, "n_frames", 1)
    evidence.orientation = _orientation(image)


def _orientation(image: Image.Image) -> int:
    try:
        value = image.getexif().get(_ORIENTATION, UPRIGHT)
    except Exception:  # noqa: BLE001 (broken metadata are no fault of the picture)
        return UPRIGHT
    return value if isinstance(value, int) and UPRIGHT <= value <= MOST else UPRIGHT


def _frames(image: Image.Image, most: int) -> range:
    """Frames to decode: all, as far as their number and pixels stay within the budget."""
    pixels = max(1, image.width * image.height)
    return range(min(getattr(image, "n_frames", 1), most, DECODED_PIXELS // pixels))


def _fault(error: Exception, step: str, kind: str) -> Fault:
    words = f"{type(error).__name__}: {error}"[:200]
    if any(word in words for word in _ENDS):
        return Fault("image.truncated", f"The {kind} data end early: {words}.")
    if step == "open" or isinstance(error, UnidentifiedImageError):
        return Fault("image.undecodable", f"It begins like {kind}, but cannot be opened: {words}.")
    return Fault("image.undecodable", f"The {kind} data cannot be decoded: {words}.")
