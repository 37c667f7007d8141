"""The ways a picture goes bad, done on purpose, each named by the finding code it earns."""

import io
import struct
import zlib
from collections.abc import Callable

from PIL import Image

END_OF_IMAGE = b"\xff\xd9"
_HTML = b"<!DOCTYPE html>\n<html><head><title>429 Too Many Requests</title></head></html>\n"


def jpeg(picture: Image.Image, **options: object) -> bytes:
    """Encode as a camera would."""
    return _encoded(picture, "JPEG", quality=88, **options)


def cut(picture: Image.Image) -> bytes:
    """``image.truncated``: the download stopped at 60 %."""
    whole = jpeg(picture)
    return whole[: len(whole) * 6 // 10]


def cut_early(picture: Image.Image) -> bytes:
    """``image.truncated``: the download stopped at 35 %."""
    whole = jpeg(picture)
    return whole[: len(whole) * 35 // 100]


def cut_and_closed(picture: Image.Image) -> bytes:
    """``image.truncated``: half a file with an end marker glued on; lenient decoders accept it."""
    whole = jpeg(picture)
    return whole[: len(whole) // 2] + END_OF_IMAGE


def block_zeroed(picture: Image.Image) -> bytes:
    """``image.damaged``: a disk block in the middle reads as zeros."""
    whole = jpeg(picture)
    middle = len(whole) // 2
    return whole[:middle] + bytes(512) + whole[middle + 512 :]


def checksum_wrong(picture: Image.Image) -> bytes:
    """``image.damaged``: a PNG whose pixel data no longer fit their checksum."""
    whole = bytearray(_encoded(picture, "PNG"))
    whole[
        whole.index(b"IDAT") + 4 + struct.unpack_from(">I", whole, whole.index(b"IDAT") - 4)[0]
    ] ^= 1
    return bytes(whole)


def page_instead(picture: Image.Image) -> bytes:
    """``image.undecodable``: the server's error page, saved under the picture's name."""
    del picture
    return _HTML


def zeros(picture: Image.Image) -> bytes:
    """``image.undecodable``: the file was reserved but never written."""
    return bytes(len(jpeg(picture)) // 4)


def nothing(picture: Image.Image) -> bytes:
    """``file.empty``."""
    del picture
    return b""


def bomb(picture: Image.Image) -> bytes:
    """``image.bomb``: a small PNG whose pixel data inflate far beyond its size."""
    del picture
    header = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(64 << 20), 9)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def png_named_jpg(picture: Image.Image) -> bytes:
    """``image.wrong-extension``."""
    return _encoded(picture, "PNG")


def rotated(picture: Image.Image) -> bytes:
    """``image.exif-rotated``: the camera was held upright."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return jpeg(picture, exif=exif)


def grey(picture: Image.Image) -> bytes:
    """``image.odd-mode``: one channel in a colour set."""
    return jpeg(picture.convert("L"))


def print_colours(picture: Image.Image) -> bytes:
    """``image.odd-mode``: four channels, as for a printing press."""
    return jpeg(picture.convert("CMYK"))


BAD: tuple[Callable[[Image.Image], bytes], ...] = (
    cut,
    cut_early,
    cut_and_closed,
    block_zeroed,
    page_instead,
    zeros,
    nothing,
    bomb,
)
"""What must be held; ``checksum_wrong`` as well, in a file named ``.png``."""

UNUSUAL: tuple[Callable[[Image.Image], bytes], ...] = (png_named_jpg, rotated, grey, print_colours)
"""What is valid, and must not be held."""


def _encoded(picture: Image.Image, format_name: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format_name, **options)
    return buffer.getvalue()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
