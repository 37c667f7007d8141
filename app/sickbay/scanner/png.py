"""PNG: every checksum, every pixel byte, in constant memory.

A wrong CRC of pixel data passes most decoders' full load, a broken zlib stream with fitting CRCs
passes their verify; both are checked here. The stream is inflated piece by piece and counted
against what the header states, so that a picture of any size costs no memory and a bomb shows
itself by its surplus.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.exif import orientation
from sickbay.scanner.limits import MIB
from sickbay.scanner.pillow import opened
from sickbay.scanner.png_data import PIECE, Header, Stream, Wrong, bomb, damaged, read_header

if TYPE_CHECKING:
    from sickbay.scanner.small import Small

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREY_MODES = {1: "1", 16: "I;16"}  # as Pillow names them, by depth
_MODES = {0: "L", 2: "RGB", 3: "P", 4: "LA", 6: "RGBA"}
_AFTER_HEADER = 33  # bytes of signature and header chunk
_KEPT_BYTES, _KEPT_PIXELS = 64 * MIB, 24 * MIB  # of data that are kept to be looked at
_TEXT_CAP = 64 * MIB  # inflated metadata of one chunk; ICC profiles and XMP stay far below
_STORED = (1 << 16) - 1  # bytes of a block at most
_NAME = 4  # letters of a chunk's name
_PIXELS = {b"IDAT", b"fdAT"}
_COMPRESSED = {b"zTXt", b"iTXt", b"iCCP"}


@dataclass(slots=True)
class _Walk:
    data: bytes
    evidence: Evidence
    budget: int
    header: Header | None = None
    stream: Stream | None = None
    faults: list[Fault] = field(default_factory=list)
    palette: bytes = b""
    kept: list[bytes] = field(default_factory=list)
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
            if len(kind) == _NAME and not (kind.isascii() and kind.isalpha()):
                raise Wrong(damaged(f"no chunk begins at byte {at:,}"))
            if kind in _PIXELS and self.header is not None:
                self._pixels(kind, body)
            raise Wrong(_cut(kind, end - len(self.data)))
        if zlib.crc32(view[at + 4 : at + 8 + length]) != int.from_bytes(view[end - 4 : end], "big"):
            self.faults.append(
                damaged(f"the checksum of chunk {kind.decode('latin-1')!r} does not fit")
            )
        if kind in _PIXELS and self.header is not None:
            self._pixels(kind, body)
        else:
            self._take(kind, bytes(body))
        return end

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind == b"IHDR" and self.header is None:
            self._take_header(body)
        elif self.header is None:
            raise Wrong(Fault("image.undecodable", "The PNG does not begin with its header chunk."))
        elif kind == b"fcTL":
            self._frame(body)
        elif kind == b"PLTE":
            self.palette = body
        elif kind == b"acTL":
            self.evidence.frames = max(1, int.from_bytes(body[:4], "big"))
        elif kind == b"eXIf":
            self.evidence.orientation = orientation(body)
        elif kind in _COMPRESSED:
            _check_text(_compressed(kind, body))
        elif kind == b"IEND":
            self.ended = True

    def _take_header(self, body: bytes) -> None:
        self.header = header = read_header(body)
        self.evidence.width, self.evidence.height = header.width, header.height
        grey = _GREY_MODES.get(header.depth) if header.colour == 0 else None
        self.evidence.mode = grey or _MODES[header.colour]
        self.stream = stream = Stream(header.rows(header.width, header.height), self.budget)
        if stream.expected <= _KEPT_BYTES and header.width * header.height <= _KEPT_PIXELS:
            stream.kept = self.kept

    def _pixels(self, kind: bytes, body: memoryview) -> None:
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
            raise Wrong(damaged("a frame is larger than the picture"))
        self.stream = Stream(self.header.rows(width, height), self.budget)

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
    if evidence.fault is None and walk.kept:
        evidence.small = partial(_small, data[len(SIGNATURE) : _AFTER_HEADER], walk)


def by_structure(data: bytes, evidence: Evidence) -> None:
    """Fill in what chunks and their checksums say; pixel data are not inflated."""
    examine(data, evidence, budget=0)
    evidence.unchecked = False


def _small(header: bytes, walk: _Walk) -> "Small | None":
    """Make the picture small from its inflated data, which need not be inflated again.

    Pillow takes them as stored blocks and undoes the filters; it checks no checksum of pixel data.
    """
    from sickbay.scanner import small  # noqa: PLC0415 (NumPy comes with it)

    palette = _chunk(b"PLTE", walk.palette) if walk.palette else b""
    stored = list(_stored(walk.kept))
    length = sum(map(len, stored)).to_bytes(4, "big")
    parts = [SIGNATURE, header, palette, length, b"IDAT", *stored, bytes(4), _chunk(b"IEND", b"")]
    with opened(b"".join(parts), "PNG") as image:
        return small.of_image(image)


def _stored(pieces: list[bytes]) -> Iterator[bytes | memoryview]:
    """Make a zlib stream of blocks that are stored as they are (RFC 1951, 3.2.4).

    It lacks its end, which nobody asks for behind the last row; zlib itself takes as long to make
    one as Pillow to undo the filters.
    """
    yield b"\x78\x01"
    for piece in pieces:
        for at in range(0, len(piece), _STORED):
            block = memoryview(piece)[at : at + _STORED]
            yield struct.pack("<BHH", 0, len(block), len(block) ^ 0xFFFF)
            yield block


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(kind + body).to_bytes(4, "big")
    return len(body).to_bytes(4, "big") + kind + body + checksum


def _cut(kind: bytes, lacking: int) -> Fault:
    return Fault(
        "image.truncated",
        f"The PNG ends within a chunk; at least {lacking:,} bytes are missing.",
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
            size += len(inflate.decompress(left, PIECE))
        except zlib.error:
            return
        left = inflate.unconsumed_tail
    if size > _TEXT_CAP:
        raise Wrong(bomb(f"metadata of {len(data)} bytes inflate to over {_TEXT_CAP}"))
