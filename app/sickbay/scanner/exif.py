"""The one thing wanted from EXIF: which way up."""

import struct

_ORDER = {b"II*\0": "<", b"MM\0*": ">"}
_ORIENTATION, _SHORT = 0x0112, 3
UPRIGHT, MOST = 1, 8


def orientation(tiff: bytes) -> int:
    """Return EXIF's orientation, 1 to 8; 1 (upright) where it is absent or broken."""
    order = _ORDER.get(tiff[:4])
    if order is None:
        return UPRIGHT
    try:
        (start,) = struct.unpack_from(order + "I", tiff, 4)
        (count,) = struct.unpack_from(order + "H", tiff, start)
        for at in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind, _, value = struct.unpack_from(order + "HHIH", tiff, at)
            if tag == _ORIENTATION:
                return value if kind == _SHORT and UPRIGHT <= value <= MOST else UPRIGHT
    except struct.error:
        pass
    return UPRIGHT
