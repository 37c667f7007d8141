"""What the markers of a JPEG say of it, and what they prove before any decoder sees it."""

from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.markers import PROGRESSIVE, Walk, walk
from sickbay.scanner.pillow import DECODED_BYTES

_HUFFMAN = {0xC0, 0xC1, 0xC2}
_MODES = {1: "L", 3: "RGB", 4: "CMYK"}
_PADDING = b"\x00\xff\r\n"
_PIXELS_A_BYTE = 512  # a block of 64 pixels takes at least one bit
_MAKER_TRAILERS = (b"SEFH", b"\xff\xd8\xff")  # Samsung's; a further JPEG, as gain maps are


def facts(data: bytes, evidence: Evidence) -> Walk:
    """Fill in what the markers say."""
    found = walk(data)
    evidence.format = "MPO" if found.pictures > 1 else "JPEG"
    evidence.frames = 1  # the second picture of an MPO is no animation
    evidence.orientation = found.orientation
    if found.frame:
        evidence.width, evidence.height = found.width, found.height
        evidence.mode = _MODES.get(found.components)
    if found.end is not None and found.pictures == 1:
        evidence.trailing = _trailing(data[found.end :].strip(_PADDING))
    evidence.unchecked = too_large(found)
    return found


def by_structure(data: bytes, found: Walk) -> Fault | None:
    """Judge without decoding: without an end marker nobody knows what is missing."""
    fault = by_headers(data, found) or later_scans(data, found)
    if fault is None and found.end is None:
        return cut(data, found, "it has no end marker")
    return fault


def by_headers(data: bytes, found: Walk) -> Fault | None:
    """Judge what no decoder needs to see."""
    if not found.frame or not found.scans:
        return _without_picture(data, found)
    if found.frame in _HUFFMAN and found.width * found.height > _PIXELS_A_BYTE * len(data):
        size = f"{found.width} x {found.height}"
        return cut(data, found, f"{size} pixels cannot be held in {len(data)} bytes")
    return None


def _without_picture(data: bytes, found: Walk) -> Fault:
    if found.frame:
        return Fault("image.truncated", "The JPEG ends before its first scan.")
    if found.end is None and len(data) < 65536:  # noqa: PLR2004 (one segment may be that long)
        return Fault("image.truncated", "The JPEG ends within its headers.")
    return Fault("image.undecodable", "The JPEG has no frame header.")


def later_scans(data: bytes, found: Walk) -> Fault | None:
    """All that is there decodes; is all there?

    A missing end marker alone loses no pixel and is no fault. A progressive picture is whole when
    every component came down to its last bit.
    """
    if found.broken_segment:
        return cut(data, found, "a segment goes on beyond the end of the file")
    if fault := strayed(found):
        return fault
    if any(found.missing_bits.values()):
        return Fault("image.truncated", "Later scans of the progressive JPEG are missing.")
    return None


def strayed(found: Walk) -> Fault | None:
    """Bytes behind the first scan that no segment holds: the marker of theirs is gone."""
    if not found.stray:
        return None
    stray = f"{found.stray} bytes between its scans belong to none"
    return Fault("image.damaged", f"The JPEG data are wrong: {stray}.")


def cut(data: bytes, found: Walk, warning: str) -> Fault:
    """Say that the data end early, and in what words a decoder said it."""
    return Fault(
        "image.truncated",
        f"The JPEG data end early: {warning}.",
        {"bytes": len(data), "end_marker": found.end is not None},
    )


def too_large(found: Walk) -> bool:
    """Whether all coefficients, which progressive decoding keeps at once, exceed the budget."""
    coefficients = found.width * found.height * found.samples_a_pixel
    return found.frame == PROGRESSIVE and 2 * coefficients > DECODED_BYTES


def _trailing(rest: bytes) -> int:
    """Count bytes behind the end that no maker of cameras is known to put there."""
    return 0 if rest.startswith(_MAKER_TRAILERS) else len(rest)
