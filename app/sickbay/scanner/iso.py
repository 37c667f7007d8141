"""Boxes of ISO media files (HEIF, AVIF): is all there, even where no decoder is?"""

from collections.abc import Iterator

from sickbay.scanner.evidence import Fault

_META_HEADER = 4  # version and flags before the boxes inside `meta`


def fault_of(data: bytes, kind: str) -> Fault | None:
    """Return what is provably wrong with the boxes, or nothing where they fit the file."""
    try:
        boxes = dict(_boxes(data, 0, len(data)))
        if b"meta" not in boxes and b"moov" not in boxes:
            return Fault(
                "image.truncated", f"The {kind} file lacks the box that describes its picture."
            )
        for start, end in _extents(data, boxes.get(b"meta")):
            if not 0 <= start <= end <= len(data):
                return Fault("image.truncated", f"The {kind} file ends before its picture data do.")
    except _Broken as broken:
        return Fault("image.truncated", f"The boxes of the {kind} file do not fit it: {broken}.")
    return None


class _Broken(Exception):
    pass


def _boxes(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Yield (type, (start of content, end)) of the boxes between two positions."""
    while at + 8 <= end:
        size, kind, content = (
            int.from_bytes(data[at : at + 4], "big"),
            data[at + 4 : at + 8],
            at + 8,
        )
        if size == 1:
            size, content = int.from_bytes(data[at + 8 : at + 16], "big"), at + 16
        size = size or end - at
        if size < content - at or at + size > end:
            raise _Broken(f"box {kind.decode('latin-1')!r} of {size} bytes at {at}")
        yield kind, (content, at + size)
        at += size


def _extents(data: bytes, meta: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
    """Yield where in the file the items lie, as the `iloc` box states (ISO 14496-12, 8.11.3)."""
    if meta is None:
        return
    located = dict(_boxes(data, meta[0] + _META_HEADER, meta[1])).get(b"iloc")
    if located is None:
        raise _Broken("no box says where the picture lies")
    read = _Fields(data, *located)
    version = read.number(1)
    read.number(3)
    sizes = read.number(2)
    offset_bytes, length_bytes, base_bytes, index_bytes = (
        sizes >> shift & 15 for shift in (12, 8, 4, 0)
    )
    for _ in range(read.number(4 if version > 1 else 2)):
        read.number(4 if version > 1 else 2)
        method = read.number(2) & 15 if version else 0
        read.number(2)
        base = read.number(base_bytes)
        for _ in range(read.number(2)):
            read.number(index_bytes if version else 0)
            start, length = base + read.number(offset_bytes), read.number(length_bytes)
            if method == 0:
                yield start, start + length


class _Fields:
    """Reads big-endian numbers one after another."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self._at, self._end = data, at, end

    def number(self, size: int) -> int:
        if self._at + size > self._end:
            raise _Broken("a box ends too early")
        value = int.from_bytes(self._data[self._at : self._at + size], "big")
        self._at += size
        return value
