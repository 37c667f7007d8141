"""PNG: every checksum, every pixel byte, in constant memory.

A wrong CRC of pixel data passes most decoders' full load, a broken zlib stream with fitting CRCs
passes their verify; both are checked here. The stream is inflated piece by piece and counted
against what the header states, so that a picture of any size costs no memory and a bomb shows
itself by its surplus.
"""

import struct
import zlib
from dataclasses import dataclass, field

from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.exif import orientation
from sickbay.scanner.limits import MIB

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}}
_GREY_MODES = {1: "1", 16: "I;16"}  # as Pillow names them, by depth
_MODES = {0: "L", 2: "RGB", 3: "P", 4: "LA", 6: "RGBA"}
_ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)
_PIECE = 1 * MIB
_MAX_FILTER = 4
_TOO_LONG = 1 << 31
_SURPLUS = 1 * MIB  # inflated bytes behind the last row that are sloppiness, not a bomb
_TEXT_CAP = 64 * MIB  # inflated metadata of one chunk; ICC profiles and XMP stay far below
_COMPRESSED = {b"zTXt", b"iTXt", b"iCCP"}


class Wrong(Exception):
    """Raised within this module to end the walk with a fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(slots=True)
class _Header:
    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    def rows(self, width: int, height: int) -> list[tuple[int, int]]:
        """(bytes of a row with its filter byte, number of rows) of each pass."""
        bits = self.depth * _CHANNELS[self.colour]
        sizes = (
            [(-(-(width - x) // dx), -(-(height - y) // dy)) for x, y, dx, dy in _ADAM7]
            if self.interlaced
            else [(width, height)]
        )
        return [(1 + -(-w * bits // 8), h) for w, h in sizes if w > 0 and h > 0]


@dataclass(slots=True)
class _Stream:
    """Pixel data of one frame, inflated as they come and thrown away."""

    passes: list[tuple[int, int]]
    budget: int
    inflate: "zlib._Decompress" = field(default_factory=zlib.decompressobj)
    seen: int = 0
    bad_filter: bool = False

    @property
    def expected(self) -> int:
        return sum(row * count for row, count in self.passes)

    def feed(self, data: bytes) -> None:
        """Inflate and count.

        Raises:
            Wrong: the stream is broken, or goes on far beyond the last row.
        """
        while data and self.seen < self.budget:
            try:
                piece = self.inflate.decompress(data, _PIECE)
            except zlib.error as error:
                raise Wrong(_damaged(f"its compressed data are broken ({error})")) from None
            self._count(piece)
            data = self.inflate.unconsumed_tail

    def _count(self, piece: bytes) -> None:
        self._look_at_filters(piece)
        self.seen += len(piece)
        if self.seen > 2 * self.expected + _SURPLUS:
            raise Wrong(
                _bomb(f"pixel data of {self.expected} bytes inflate to {self.seen} and more")
            )

    def _look_at_filters(self, piece: bytes) -> None:
        """The first byte of each row names its filter; there are five."""
        start, base = self.seen, 0
        for row, count in self.passes:
            stop = base + row * count
            if start < stop and start + len(piece) > base:
                offset = (base - start) % row if start > base else base - start
                first = piece[offset : stop - start : row]
                self.bad_filter |= bool(first) and max(first) > _MAX_FILTER
            base = stop

    def fault(self) -> Fault | None:
        """What is wrong once all data have come."""
        if self.seen >= self.budget or not self.seen:
            return None
        if self.seen < self.expected:
            return Fault(
                "image.truncated",
                "The pixel data of the PNG end early.",
                {"expected_bytes": self.expected, "found_bytes": self.seen},
            )
        if self.bad_filter:
            return _damaged("a row names a filter that does not exist")
        if self.seen == self.expected and not self.inflate.eof:
            return Fault("image.truncated", "The compressed data of the PNG lack their end.")
        return None


def _damaged(what: str) -> Fault:
    return Fault("image.damaged", f"The PNG is wrong: {what}.")


def _bomb(what: str) -> Fault:
    return Fault("image.bomb", f"The PNG inflates too far: {what}.")


@dataclass(slots=True)
class _Walk:
    data: bytes
    evidence: Evidence
    budget: int
    header: _Header | None = None
    stream: _Stream | None = None
    faults: list[Fault] = field(default_factory=list)
    palette: bool = False
    main_done: bool = False
    ended: bool = False

    def run(self) -> None:
        at = len(SIGNATURE)
        while at < len(self.data) and not self.ended:
            at = self._chunk(at)
        self._close_stream()
        if self.ended:
            self.evidence.trailing = len(self.data[at:].strip(b"\0\xff\r\n"))
        self._conclude()

    def _chunk(self, at: int) -> int:
        view = memoryview(self.data)
        length, kind = int.from_bytes(view[at : at + 4], "big"), bytes(view[at + 4 : at + 8])
        body, end = view[at + 8 : at + 8 + length], at + 12 + length
        if end > len(self.data):
            if kind in (b"IDAT", b"fdAT") and self.header:
                self._pixels(kind, bytes(body))
            raise Wrong(_cut(kind, end - len(self.data)))
        if zlib.crc32(view[at + 4 : at + 8 + length]) != int.from_bytes(view[end - 4 : end], "big"):
            self.faults.append(
                _damaged(f"the checksum of chunk {kind.decode('latin-1')!r} does not fit")
            )
        self._take(kind, bytes(body))
        return end

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind == b"IHDR" and self.header is None:
            self._read_header(body)
        elif self.header is None:
            raise Wrong(Fault("image.undecodable", "The PNG does not begin with its header chunk."))
        elif kind in (b"IDAT", b"fdAT"):
            self._pixels(kind, body)
        elif kind == b"fcTL":
            self._frame(body)
        elif kind == b"PLTE":
            self.palette = True
        elif kind == b"acTL":
            self.evidence.frames = max(1, int.from_bytes(body[:4], "big"))
        elif kind == b"eXIf":
            self.evidence.orientation = orientation(body)
        elif kind in _COMPRESSED:
            _check_text(_compressed(kind, body))
        elif kind == b"IEND":
            self.ended = True

    def _read_header(self, body: bytes) -> None:
        self.header = header = _header(body)
        self.evidence.width, self.evidence.height = header.width, header.height
        grey = _GREY_MODES.get(header.depth) if header.colour == 0 else None
        self.evidence.mode = grey or _MODES[header.colour]
        self.stream = _Stream(header.rows(header.width, header.height), self.budget)

    def _pixels(self, kind: bytes, body: bytes) -> None:
        if self.stream is not None:
            self.stream.feed(body[4:] if kind == b"fdAT" else body)
            self.main_done |= kind == b"IDAT"

    def _frame(self, body: bytes) -> None:
        """Begin the next frame of an animation; the first may be the still picture itself."""
        if self.header is None or not self.main_done:
            return
        self._close_stream()
        width, height = int.from_bytes(body[4:8], "big"), int.from_bytes(body[8:12], "big")
        if not (0 < width <= self.header.width and 0 < height <= self.header.height):
            raise Wrong(_damaged("a frame is larger than the picture"))
        self.stream = _Stream(self.header.rows(width, height), self.budget)

    def _close_stream(self) -> None:
        if self.stream is not None:
            self.budget -= min(self.stream.seen, self.budget)
            self.evidence.unchecked |= self.budget == 0
            if fault := self.stream.fault():
                self.faults.append(fault)
        self.stream = None

    def _conclude(self) -> None:
        if self.header is None or not self.main_done:
            raise Wrong(Fault("image.truncated", "The PNG holds no pixel data."))
        if self.header.colour == 3 and not self.palette:  # noqa: PLR2004 (palette colour)
            raise Wrong(Fault("image.undecodable", "The PNG needs a palette and has none."))
        if not self.ended and not self.faults:
            self.faults.append(Fault("image.truncated", "The PNG lacks its end chunk."))


def examine(data: bytes, evidence: Evidence, *, budget: int) -> None:
    """Fill in what is known of a PNG; at most ``budget`` bytes of pixel data are inflated."""
    evidence.format = "PNG"
    walk = _Walk(data, evidence, budget)
    try:
        walk.run()
    except Wrong as wrong:
        walk.faults.append(wrong.fault)
    evidence.fault = walk.faults[0] if walk.faults else None


def _header(body: bytes) -> _Header:
    """Read the header chunk as the standard has it (PNG 3rd edition, 11.2.1).

    Raises:
        Wrong: it states what no picture can be.
    """
    try:
        width, height, depth, colour, *methods, interlace = struct.unpack(">IIBBBBB", body)
    except struct.error:
        raise Wrong(_impossible("is not of 13 bytes")) from None
    if not 0 < width < _TOO_LONG or not 0 < height < _TOO_LONG:
        raise Wrong(_impossible(f"states {width} x {height} pixels"))
    if depth not in _DEPTHS.get(colour, ()) or any(methods) or interlace > 1:
        raise Wrong(_impossible("names a depth, colour or method that does not exist"))
    return _Header(width, height, depth, colour, bool(interlace))


def _impossible(what: str) -> Fault:
    return Fault("image.undecodable", f"The header of the PNG {what}.")


def _cut(kind: bytes, lacking: int) -> Fault:
    return Fault(
        "image.truncated",
        f"The PNG ends within a chunk; at least {lacking} bytes are missing.",
        {"chunk": kind.decode("latin-1"), "missing_bytes": lacking},
    )


def _compressed(kind: bytes, body: bytes) -> bytes:
    """Return the compressed part of a chunk of metadata, or nothing where it has none."""
    _, _, rest = body.partition(b"\0")
    if kind != b"iTXt":
        return rest[1:]
    return rest[2:].partition(b"\0")[2].partition(b"\0")[2] if rest[:1] == b"\1" else b""


def _check_text(data: bytes) -> None:
    """Inflate compressed metadata up to the cap; what does not inflate is the reader's loss.

    Raises:
        Wrong: the metadata are a bomb.
    """
    inflate, size, left = zlib.decompressobj(), 0, data
    while left and size <= _TEXT_CAP:
        try:
            size += len(inflate.decompress(left, _PIECE))
        except zlib.error:
            return
        left = inflate.unconsumed_tail
    if size > _TEXT_CAP:
        raise Wrong(_bomb(f"metadata of {len(data)} bytes inflate to over {_TEXT_CAP}"))
