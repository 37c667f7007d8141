"""WebP's container: its size before a decoder claims memory for it, and whether all is there."""

from sickbay.scanner.evidence import Fault

_FIRST = 12  # bytes before the first chunk
_FLAG_BYTES = 20  # and its header


def size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels, or nothing where the header is unknown."""
    kind, body = data[_FIRST : _FIRST + 4], data[_FLAG_BYTES : _FLAG_BYTES + 10]
    if len(body) < 10:  # noqa: PLR2004 (the longest header below)
        return None
    if kind == b"VP8X":
        return (
            1 + int.from_bytes(body[4:7], "little"),
            1 + int.from_bytes(body[7:10], "little"),
        )
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        sides = (int.from_bytes(body[at : at + 2], "little") & 0x3FFF for at in (6, 8))
        return next(sides), next(sides)
    return None


def fault_of(data: bytes) -> Fault | None:
    """Return a fault where the container states more bytes than there are."""
    lacking = int.from_bytes(data[4:8], "little") + 8 - len(data)
    if lacking <= 0:
        return None
    return Fault("image.truncated", f"The WebP lacks its last {lacking} bytes.")
