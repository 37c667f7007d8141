"""The markers of a JPEG: all its facts, without a decoder."""

import re
from dataclasses import dataclass, field

from sickbay.scanner.exif import orientation

EOI, SOS = 0xD9, 0xDA
SEQUENTIAL = {0xC0, 0xC1}
PROGRESSIVE = 0xC2
NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_NEEDED = _FRAMES | {0xC4, 0xCC, 0xDB, 0xDD, SOS, 0xEE}  # what a decoder cannot do without
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length


@dataclass(slots=True)
class Walk:
    """What the markers say; positions in bytes from the start of the file.

    ``factors`` are sampling factors, across and down, of each component; ``stray`` counts bytes
    between segments behind the first scan.
    """

    frame: int = 0
    precision: int = 8
    width: int = 0
    height: int = 0
    components: int = 0
    component_ids: tuple[int, ...] = ()
    factors: tuple[tuple[int, int], ...] = ()
    orientation: int = 1
    pictures: int = 1
    end: int | None = None
    scans: int = 0
    scan_components: int = 0
    interleaved: bool = False
    stray: int = 0
    bad_scan: str = ""
    broken_segment: bool = False
    needed: list[tuple[int, int]] = field(default_factory=lambda: [(0, 2)])
    samples_a_pixel: float = 1.0
    missing_bits: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def unit(self) -> tuple[int, int]:
        """Blocks in a coded unit of the first scan, across and down."""
        if not self.interleaved:
            return 1, 1
        return max(both[0] for both in self.factors), max(both[1] for both in self.factors)

    def clean(self, data: bytes) -> bytes:
        """Build the file anew from what a decoder cannot do without."""
        return b"".join([*(data[start:end] for start, end in self.needed), b"\xff\xd9"])


def walk(data: bytes) -> Walk:
    """Read all markers up to the end marker, or to where the data stop."""
    found, at, size = Walk(), 2, len(data)
    while (start := data.find(b"\xff", at)) >= 0:
        if found.scans:
            found.stray += start - at
        at = start + 1
        while at < size and data[at] == 0xFF:  # noqa: PLR2004 (padding)
            at += 1
        if at == size:
            break
        marker, at = data[at], at + 1
        if marker == EOI:
            found.end = at
            break
        if marker == 0 or marker in _BARE:
            continue
        length = int.from_bytes(data[at : at + 2], "big")
        if length < 2 or at + length > size:  # noqa: PLR2004 (the length counts itself)
            found.broken_segment = True
            break
        at = _segment(data, marker, at, length, found)
    return found


def _segment(data: bytes, marker: int, at: int, length: int, found: Walk) -> int:
    """Take note of one segment and return where the next marker is looked for."""
    end = at + length
    if marker == SOS:
        _read_scan(data[at + 2 : end], found)
        end = _end_of_scan(data, end, found)
    elif marker in _FRAMES and not found.frame:
        _read_frame(marker, data[at + 2 : end], found)
    elif marker == 0xE1 and data.startswith(b"Exif\0\0", at + 2, end):  # noqa: PLR2004 (APP1)
        found.orientation = orientation(data[at + 8 : end])
    elif marker == 0xE2 and data.startswith(b"MPF\0", at + 2, end):  # noqa: PLR2004 (APP2)
        found.pictures = max(found.pictures, _pictures(data[at + 6 : end]))
    if marker in _NEEDED:
        found.needed.append((at - 2, end))
    return end


def _end_of_scan(data: bytes, start: int, found: Walk) -> int:
    """Where the next marker stands; nobody looks for it where it can only be the last one."""
    whole_in_one = found.frame in SEQUENTIAL and found.scan_components == found.components
    if whole_in_one and data.endswith(b"\xff\xd9"):
        return len(data) - 2
    following = NEXT_MARKER.search(data, start)
    return following.start() if following else len(data)


def _read_frame(marker: int, body: bytes, found: Walk) -> None:
    if len(body) < 6:  # noqa: PLR2004 (precision, height, width, number of components)
        return
    found.frame, found.precision = marker, body[0]
    found.height, found.width = int.from_bytes(body[1:3], "big"), int.from_bytes(body[3:5], "big")
    found.components = body[5]
    found.component_ids = tuple(body[6 : 6 + 3 * body[5] : 3])
    found.factors = tuple((both >> 4, both & 15) for both in body[7 : 7 + 3 * body[5] : 3])
    samples = [across * down for across, down in found.factors]
    found.samples_a_pixel = sum(samples) / max([1, *samples])
    if marker == PROGRESSIVE:
        found.missing_bits = {(component, 0): 99 for component in found.component_ids}


def _read_scan(body: bytes, found: Walk) -> None:
    """Check what a scan says of itself; for progressive frames note what it brings."""
    found.scans += 1
    found.scan_components = count = body[0] if body else 0
    if found.scans == 1:
        found.interleaved = 1 < count == found.components
    if len(body) < 4 + 2 * count:
        found.bad_scan = "a scan's header is too short"
        return
    first, last, bits = body[1 + 2 * count : 4 + 2 * count]
    if found.frame in SEQUENTIAL and (first, last, bits) != (0, 63, 0):
        found.bad_scan = "a scan's header breaks the standard"
    if found.frame == PROGRESSIVE and first == 0:
        for component in body[1 : 1 + 2 * count : 2]:
            found.missing_bits[component, 0] = bits & 15


def _pictures(body: bytes) -> int:
    """Number of pictures in an MP index (CIPA DC-007, tag B001)."""
    order = "little" if body[:2] == b"II" else "big"
    at = body.find(b"\xb0\x01" if order == "big" else b"\x01\xb0")
    return int.from_bytes(body[at + 8 : at + 12], order) if at >= 0 else 1  # type: ignore[arg-type]
