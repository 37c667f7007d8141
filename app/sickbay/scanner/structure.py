"""A first look without decoding: markers, ends, checksums, and runs that no encoder writes.

It costs little more than the hash. What it cannot see: damage within the compressed data of a
picture that is still of one piece, such as a flipped byte or blocks that changed places.
"""

from collections.abc import Callable, Iterator

from PIL import Image

from sickbay.scanner import gif, iso, jpeg_headers, png, webp
from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.markers import PROGRESSIVE, SOS, Walk
from sickbay.scanner.pillow import explained, opened, read_facts

_RUN = 256  # bytes; a disk's block is 512
_STRIDE = 32
_TABLES = 0xC4  # DHT
_AC = 0x10  # class of a table, in its first byte
_STRIPS = ((273, 279), (324, 325))  # TIFF's tags of offsets and byte counts, of strips and tiles


def look(data: bytes, kind: str, evidence: Evidence, *, frames: int) -> None:
    """Fill in what is known of a picture from its structure alone."""
    if kind == "JPEG":
        found = jpeg_headers.facts(data, evidence)
        evidence.fault = jpeg_headers.by_structure(data, found) or _zero_run(data, found)
    elif kind == "PNG":
        png.by_structure(data, evidence)
    else:
        evidence.format = kind
        header = _by_header(data, kind, evidence, frames)
        evidence.fault = _ENDS.get(kind, _nothing)(data) or header


def _by_header(data: bytes, kind: str, evidence: Evidence, frames: int) -> Fault | None:
    """Let Pillow read the header, which decodes nothing."""
    try:
        with opened(data, kind) as image:
            read_facts(image, evidence, kind, frames)
            return _lacking(image, len(data))
    except Exception as error:  # noqa: BLE001 (decoders raise whatever they like)
        return explained(error, "open", kind, data)


def _lacking(image: Image.Image, size: int) -> Fault | None:
    """Whether a TIFF or BMP needs data beyond the end of the file."""
    tags = getattr(image, "tag_v2", {})
    ends = [
        start + count
        for offsets, counts in _STRIPS
        for start, count in zip(tags.get(offsets, ()), tags.get(counts, ()), strict=False)
    ]
    for codec, box, offset, how in getattr(image, "tile", ()) if image.format == "BMP" else ():
        if codec == "raw":  # how: mode, bytes of a row, direction
            ends.append(offset + how[1] * (box[3] - box[1]))
    if max(ends, default=0) <= size:
        return None
    return Fault("image.truncated", f"The {image.format} ends before its picture data do.")


def _nothing(_data: bytes) -> Fault | None:
    return None


_ENDS: dict[str, Callable[[bytes], Fault | None]] = {
    "GIF": gif.fault_of,
    "WEBP": webp.fault_of,
    "AVIF": lambda data: iso.fault_of(data, "AVIF"),
    "HEIF": lambda data: iso.fault_of(data, "HEIF"),
}


def _zero_run(data: bytes, found: Walk) -> Fault | None:
    """Look for a run of zero bytes where zeros stand for something else than plain areas.

    Zero bits are the first code of a table. Where that code says that a block ends, or is one of
    many that are plain, a run of it is a plain area; else it can only be damage. Tables are read
    only where there is a run.
    """
    tables: list[bytes] = []
    for start, end in found.needed[1:]:
        marker, length = data[start + 1], int.from_bytes(data[start + 2 : start + 4], "big")
        begins = start + 2 + length
        body = data[start + 4 : begins]
        if marker == _TABLES:
            tables.append(body)
        elif marker == SOS and (run := _zeros(data, begins, end)) and _tells(body, found, tables):
            return _damaged(*run)
    return None


def _zeros(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Where the first long run of zero bytes begins, and its length."""
    at = data[start:end:_STRIDE].find(bytes(_RUN // _STRIDE))
    first = start + at * _STRIDE
    if at < 0 or data.find(b"\xff\xd9", start, first) >= 0:  # padding behind the picture
        return None
    length = len(data[first:end]) - len(data[first:end].lstrip(b"\0"))
    return (first, length) if length > _RUN - _STRIDE else None


def _damaged(first: int, length: int) -> Fault:
    message = f"The JPEG data hold {length} zero bytes on end, which no encoder writes."
    return Fault("image.damaged", message, {"byte": first})


def _first_codes(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield (class and number, symbol of the first code) of the tables in a DHT segment."""
    at = 0
    while at + 17 < len(body):
        yield body[at], body[at + 17]
        at += 17 + sum(body[at + 1 : at + 17])


def _tells(header: bytes, found: Walk, tables: list[bytes]) -> bool:
    """Whether zeros in a scan are values, not ends of blocks, for one of its components."""
    count = header[0] if header else 0
    if len(header) < 4 + 2 * count:
        return False
    first, _, bits = header[1 + 2 * count : 4 + 2 * count]
    if found.frame == PROGRESSIVE and (first == 0 or bits >> 4):
        return False
    first_codes = dict(code for body in tables for code in _first_codes(body))
    used = {_AC | pick & 15 for pick in header[2 : 2 + 2 * count : 2]}
    return any(first_codes.get(table, 0) & 15 for table in used)
