"""Pictures for tests: they look like photographs to a codec, are small, and come from a seed."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image


def picture(seed: int = 0, size: tuple[int, int] = (160, 120), mode: str = "RGB") -> Image.Image:
    """Soft shapes and two patches, grain over them, so that scan data fill the file evenly."""
    rng = np.random.default_rng(seed)
    width, height = size
    coarse = rng.uniform(30, 225, size=(max(2, height // 24), max(2, width // 24), 3))
    soft = Image.fromarray(coarse.astype(np.uint8)).resize(size, Image.Resampling.BICUBIC)
    bare = np.array(soft, dtype=np.float64)
    bare[height // 5 : 2 * height // 5, width // 5 : width // 2] -= 90
    bare[height // 2 : 4 * height // 5, 3 * width // 5 : 4 * width // 5] += 90
    grain = rng.normal(scale=12, size=(height, width, 3))
    pixels = np.clip(bare + grain, 0, 255).astype(np.uint8)
    return Image.fromarray(pixels).convert(mode)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    """Encode with Pillow."""
    made = io.BytesIO()
    image.save(made, kind, **options)
    return made.getvalue()


def jpeg(
    seed: int = 0, size: tuple[int, int] = (160, 120), mode: str = "RGB", **options: Any
) -> bytes:
    """A sound JPEG."""
    return encoded(picture(seed, size, mode), "JPEG", **{"quality": 85, **options})


def png(
    seed: int = 0, size: tuple[int, int] = (160, 120), mode: str = "RGB", **options: Any
) -> bytes:
    """A sound PNG."""
    return encoded(picture(seed, size, mode), "PNG", **options)


def gif(frames: int = 3, size: tuple[int, int] = (64, 48)) -> bytes:
    """A sound GIF of several frames."""
    pictures = [picture(seed, size, "P") for seed in range(frames)]
    return encoded(pictures[0], "GIF", save_all=True, append_images=pictures[1:])


def truncated(data: bytes, share: float = 0.6, *, end_marker: bool = False) -> bytes:
    """Cut off the end; with ``end_marker`` a JPEG hides it from lenient decoders."""
    return data[: int(len(data) * share)] + (b"\xff\xd9" if end_marker else b"")


def zeroed(data: bytes, at: float = 0.5, count: int = 512) -> bytes:
    """Overwrite a block with zero bytes, as failing disks do."""
    start = int(len(data) * at)
    return data[:start] + bytes(count) + data[start + count :]


def chunk(kind: bytes, body: bytes) -> bytes:
    """One PNG chunk with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def raw_png(width: int, height: int, pixels: bytes, *, depth: int = 8, colour: int = 2) -> bytes:
    """A PNG with just these (already filtered, not yet compressed) rows."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(pixels, 1))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


def with_bad_checksum(data: bytes, kind: bytes = b"IDAT") -> bytes:
    """Flip a bit of one chunk's checksum; its data stay as they are."""
    at = data.index(kind) - 4
    last = at + 12 + int.from_bytes(data[at : at + 4], "big") - 1
    return data[:last] + bytes([data[last] ^ 1]) + data[last + 1 :]


def write(root: Path, name: str, data: bytes) -> Path:
    """Put a file below ``root``, with the folders above it."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
