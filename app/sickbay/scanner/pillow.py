"""Everything that only Pillow decodes: GIF, WebP, TIFF, BMP, AVIF, PPM, ICO, TGA, JPEG 2000."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from PIL import Image, TiffImagePlugin, UnidentifiedImageError

from sickbay.scanner import gif
from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.exif import MOST, UPRIGHT
from sickbay.scanner.iso import fault_of

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
    "HEIF": ("HEIF",),
}
MAX_PIXELS = 89_478_485  # Pillow's own MAX_IMAGE_PIXELS: 1 GiB at three bytes and three copies
DECODED_BYTES = 400 << 20  # of a decoded picture and its file together; within the memory limit
_FRAMES_BYTES = 1 << 30  # of all decoded frames of one file together; bounds time, not memory
_PIXELS_A_BYTE = 4096  # no decoder here makes more of one byte (LZW: 4096 pixels of 12 bits)
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
            frames_decoded = _frames(image, frames, len(data))
            for at in frames_decoded:
                image.seek(at)
                image.load()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (decoders raise whatever they like, even SyntaxError)
        return _fault(error, step, kind, data)
    if kind == "GIF" and (fault := gif.fault_of(data)):
        return fault
    return None if frames_decoded else _unseen(evidence, kind, data)


def _unseen(evidence: Evidence, kind: str, data: bytes) -> Fault | None:
    """Judge a picture too large to decode: can the file hold what it states?"""
    evidence.unchecked = True
    if kind == "GIF":  # its canvas is only a statement; frames may be small
        return None
    if evidence.pixels <= _PIXELS_A_BYTE * len(data):
        return None
    stated = f"{evidence.width} x {evidence.height} pixels in {len(data)} bytes"
    return Fault("image.bomb", f"The {kind} header states {stated}.")


@cache
def heif_installed() -> bool:
    """Whether the extra ``heif`` is there; if so, Pillow learns the format."""
    try:
        from pillow_heif import register_heif_opener  # noqa: PLC0415 (an extra)
    except ImportError:
        return False
    register_heif_opener()
    return True


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


def _frames(image: Image.Image, most: int, file_bytes: int) -> range:
    """Frames to decode: all, as far as their number and size stay within the budget."""
    frame = max(1, image.width * image.height * 4)
    if frame + 2 * file_bytes > DECODED_BYTES:
        return range(0)
    return range(min(getattr(image, "n_frames", 1), most, _FRAMES_BYTES // frame + 1))


def _fault(error: Exception, step: str, kind: str, data: bytes) -> Fault:
    words = f"{type(error).__name__}: {error}"[:200]
    if isinstance(error, UnidentifiedImageError):
        return _unidentified(kind, data)
    if any(word in words for word in _ENDS):
        return Fault("image.truncated", f"The {kind} data end early: {words}.")
    verb = "opened" if step == "open" else "decoded"
    return Fault("image.undecodable", f"It begins like {kind}, but cannot be {verb}: {words}.")


def _unidentified(kind: str, data: bytes) -> Fault:
    """Tell a variant that Pillow lacks from a broken file."""
    if kind == "TIFF" and (variant := _tiff_variant(data)):
        return Fault("image.unsupported", f"A TIFF variant that no decoder here reads: {variant}.")
    if kind == "AVIF":
        lacking = Fault("image.unsupported", "An AVIF variant that no decoder here reads.")
        return fault_of(data, kind) or lacking
    return Fault("image.undecodable", f"It begins like {kind}, but no decoder opens it.")


def _tiff_variant(data: bytes) -> str | None:
    """Ask the decoder itself; a missing palette is a variant too, others imply a default one."""
    try:
        TiffImagePlugin.TiffImageFile(io.BytesIO(data)).close()
    except SyntaxError as error:
        cause = error.__cause__ or error
        if "unknown pixel mode" in str(cause) or isinstance(cause, KeyError):
            return str(cause)[:100]
    except Exception:  # noqa: BLE001 (any other failure is that of a broken file)
        return None
    return None
