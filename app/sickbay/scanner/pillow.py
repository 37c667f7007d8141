"""Everything that only Pillow decodes: GIF, WebP, TIFF, BMP, AVIF, PPM, ICO, TGA, JPEG 2000."""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

from PIL import Image, UnidentifiedImageError

from sickbay.scanner import gif, iso, webp
from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.exif import MOST, UPRIGHT

if TYPE_CHECKING:
    from sickbay.scanner.small import Small

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
DECODED_BYTES = 400 << 20  # of a decoder's own and Pillow's pixels together; see Limits.memory
_BYTES_A_PIXEL = {"AVIF": 12, "HEIF": 12, "WEBP": 12, "JPEG2000": 24}  # measured, rounded up
_PLAIN_BYTES = 4
_FRAMES_BYTES = 1 << 30  # of all decoded frames of one file together; bounds time, not memory
_PIXELS_A_BYTE = 4096  # no decoder here makes more of one byte (LZW: 4096 pixels of 12 bits)
_ORIENTATION = 0x0112
_ENDS = ("truncated", "Truncated", "not enough", "unexpected end", "EOF", "end of file")
Image.MAX_IMAGE_PIXELS = None  # sizes are judged here, by the budget, not by an exception


def examine(data: bytes, kind: str, evidence: Evidence, *, frames: int) -> None:
    """Fill in what is known of a picture of ``kind``; at most ``frames`` frames are decoded."""
    evidence.format = kind
    stated = webp.size(data) if kind == "WEBP" else None  # it claims memory when it is opened
    if stated is not None and not _affordable(stated, kind, data):
        evidence.width, evidence.height = stated
        evidence.fault = _unseen(evidence, kind, data)
    else:
        evidence.fault = load_all(data, kind, evidence, frames=frames)


def load_all(data: bytes, kind: str, evidence: Evidence, *, frames: int) -> Fault | None:
    """Decode every frame within the budget and return what went wrong, or nothing.

    Raises:
        MemoryError: the decoder ran into the memory limit.
    """
    step = "open"
    try:
        with opened(data, kind) as image:
            read_facts(image, evidence, kind, frames)
            if not _affordable(image.size, kind, data):
                return _unseen(evidence, kind, data)
            step = "decode"
            for at in range(_frames_to_decode(evidence, frames)):
                image.seek(at)
                image.load()
                if at == 0:
                    evidence.small = _small(image)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 (decoders raise whatever they like, even SyntaxError)
        return explained(error, step, kind, data)
    return gif.fault_of(data) if kind == "GIF" else None


def _small(image: Image.Image) -> "Callable[[], Small | None]":
    """Make the small copy at once: by the time somebody asks, the frame may be another."""
    from sickbay.scanner import small  # noqa: PLC0415 (NumPy comes with it)

    made = small.of_image(image)
    return lambda: made


def _affordable(size: tuple[int, int], kind: str, data: bytes) -> bool:
    pixels = size[0] * size[1]
    return pixels * _BYTES_A_PIXEL.get(kind, _PLAIN_BYTES) + 2 * len(data) <= DECODED_BYTES


def _frames_to_decode(evidence: Evidence, most: int) -> int:
    """All frames, as far as their number and their pixels together stay within bounds."""
    return min(evidence.frames, most, _FRAMES_BYTES // max(1, evidence.pixels * 4) + 1)


def _unseen(evidence: Evidence, kind: str, data: bytes) -> Fault | None:
    """Judge a picture too large to decode: is it there, and can the file hold what it states?"""
    evidence.unchecked = True
    if (structure := _STRUCTURES.get(kind)) is not None and (fault := structure(data)) is not None:
        return fault
    if kind == "GIF" or evidence.pixels <= _PIXELS_A_BYTE * len(data):
        return None  # a GIF's canvas is only a statement, its frames may be small
    stated = f"{evidence.width} x {evidence.height} pixels in {len(data)} bytes"
    return Fault("image.bomb", f"The {kind} header states {stated}.")


_STRUCTURES: dict[str, Callable[[bytes], Fault | None]] = {
    "AVIF": partial(iso.fault_of, kind="AVIF"),
    "HEIF": partial(iso.fault_of, kind="HEIF"),
    "GIF": gif.fault_of,
    "WEBP": webp.fault_of,
}


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


def read_facts(image: Image.Image, evidence: Evidence, kind: str, most: int) -> None:
    """Fill in what Pillow reads from an opened picture's headers."""
    evidence.format = image.format
    evidence.width, evidence.height = image.size
    evidence.mode = image.mode
    evidence.frames = _pages(image, most) if kind == "TIFF" else getattr(image, "n_frames", 1)
    evidence.orientation = _orientation(image)


def _pages(image: Image.Image, most: int) -> int:
    """Count a TIFF's pages up to a limit: Pillow's own count takes minutes for 100,000."""
    count = 1
    while count < most:
        try:
            image.seek(count)
        except EOFError:
            break
        count += 1
    image.seek(0)
    return count


def _orientation(image: Image.Image) -> int:
    try:
        value = image.getexif().get(_ORIENTATION, UPRIGHT)
    except Exception:  # noqa: BLE001 (broken metadata are no fault of the picture)
        return UPRIGHT
    return value if isinstance(value, int) and UPRIGHT <= value <= MOST else UPRIGHT


def explained(error: Exception, step: str, kind: str, data: bytes) -> Fault:
    """Say what an exception of a decoder means."""
    words = f"{type(error).__name__}: {error}"[:200]
    if isinstance(error, UnidentifiedImageError):
        return _unidentified(kind, data)
    if any(word in words for word in _ENDS):
        return Fault("image.truncated", f"The {kind} data end early: {words}.")
    if (cut := _cut(kind, data)) is not None:
        return cut
    verb = "opened" if step == "open" else "decoded"
    return Fault("image.undecodable", f"It begins like {kind}, but cannot be {verb}: {words}.")


def _unidentified(kind: str, data: bytes) -> Fault:
    """Tell a variant that Pillow lacks from a broken file."""
    if kind == "TIFF" and (variant := _tiff_variant(data)):
        return Fault("image.unsupported", f"A TIFF variant that no decoder here reads: {variant}.")
    if kind == "AVIF":
        lacking = Fault("image.unsupported", "An AVIF variant that no decoder here reads.")
        return iso.fault_of(data, kind) or lacking
    unknown = Fault("image.undecodable", f"It begins like {kind}, but no decoder opens it.")
    return _cut(kind, data) or unknown


def _cut(kind: str, data: bytes) -> Fault | None:
    """Say of what no decoder opens that it ends before its container says it does."""
    if kind == "TIFF" and _directory(data) >= len(data):
        return Fault("image.truncated", "The TIFF ends before the directory of its first page.")
    structure = _STRUCTURES.get(kind)
    return None if structure is None else structure(data)


def _directory(data: bytes) -> int:
    """Return where a classic TIFF has its first directory; 0 for others."""
    if data.startswith(b"II*\0"):
        return int.from_bytes(data[4:8], "little")
    return int.from_bytes(data[4:8], "big") if data.startswith(b"MM\0*") else 0


def _tiff_variant(data: bytes) -> str | None:
    """Ask the decoder itself; a missing palette is a variant too, others imply a default one."""
    from PIL import TiffImagePlugin  # noqa: PLC0415 (slow to load, and hardly ever needed)

    try:
        TiffImagePlugin.TiffImageFile(io.BytesIO(data)).close()
    except SyntaxError as error:
        cause = error.__cause__ or error
        if "unknown pixel mode" in str(cause) or isinstance(cause, KeyError):
            return str(cause)[:100]
    except Exception:  # noqa: BLE001 (any other failure is that of a broken file)
        return None
    return None
