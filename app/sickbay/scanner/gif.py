"""GIF, block by block: do its blocks end within the file?"""

from sickbay.scanner.evidence import Fault

_SCREEN = 13  # bytes of signature and screen descriptor
_IMAGE = 10  # bytes of an image descriptor with its introducer
_EXTENSION, _PICTURE = 0x21, 0x2C
_HAS_TABLE, _TABLE_SIZE = 0x80, 0x07


def fault_of(data: bytes) -> Fault | None:
    """Return a fault where a block runs beyond the end; a missing trailer alone is none."""
    at = _SCREEN + _table(data, 10)
    while at < len(data):
        if data[at] == _EXTENSION:
            at = _sub_blocks(data, at + 2)
        elif data[at] == _PICTURE:
            empty = not _has_pixels(data, at)
            at = _sub_blocks(data, at + _IMAGE + _table(data, at + 9) + 1)
            if empty and at > len(data):
                return None  # of no pixels none is missing
        else:
            return None  # the trailer, or what decoders take for one
    if at > len(data):
        return Fault("image.truncated", "The GIF ends within a block.")
    return None


def _has_pixels(data: bytes, at: int) -> bool:
    """Whether the picture whose descriptor begins at a position has a width and a height."""
    return data[at + 5 : at + 7] != b"\0\0" and data[at + 7 : at + 9] != b"\0\0"


def _table(data: bytes, at: int) -> int:
    """Bytes of the colour table that the flags at a position announce."""
    flags = data[at] if at < len(data) else 0
    return 3 << (flags & _TABLE_SIZE) + 1 if flags & _HAS_TABLE else 0


def _sub_blocks(data: bytes, at: int) -> int:
    """Position behind a chain of sub-blocks; beyond the file where the chain is cut."""
    while at < len(data) and data[at]:
        at += data[at] + 1
    return at + 1
