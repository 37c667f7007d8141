"""PNG's header, and its pixel data as they are inflated."""

import struct
import zlib
from dataclasses import dataclass, field

from sickbay.scanner.evidence import Fault
from sickbay.scanner.limits import MIB

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}}
_ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)
PIECE = 1 * MIB
_MAX_FILTER = 4
_TOO_LONG = 1 << 31
_SURPLUS = 1 * MIB  # inflated bytes behind the last row that are sloppiness, not a bomb


class Wrong(Exception):
    """Ends the walk of a PNG with a fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


@dataclass(slots=True)
class Header:
    """What the header chunk states."""

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
class Stream:
    """Pixel data of one frame, inflated as they come; kept while they are wanted and not many."""

    passes: list[tuple[int, int]]
    budget: int
    kept: list[bytes] | None = None
    inflate: "zlib._Decompress" = field(default_factory=zlib.decompressobj)
    seen: int = 0
    bad_filter: bool = False

    @property
    def expected(self) -> int:
        """Bytes of all rows with their filter bytes."""
        return sum(row * count for row, count in self.passes)

    def feed(self, data: bytes | memoryview) -> None:
        """Inflate and count.

        Raises:
            Wrong: the stream is broken, or goes on far beyond the last row.
        """
        while data and self.seen < self.budget:
            try:
                piece = self.inflate.decompress(data, PIECE)
            except zlib.error as error:
                raise Wrong(damaged(f"its compressed data are broken ({error})")) from None
            self._count(piece)
            data = self.inflate.unconsumed_tail

    def _count(self, piece: bytes) -> None:
        self._look_at_filters(piece)
        self.seen += len(piece)
        if self.kept is not None:
            self.kept.append(piece)
        if self.seen > 2 * self.expected + _SURPLUS:
            raise Wrong(
                bomb(f"pixel data of {self.expected} bytes inflate to {self.seen} and more")
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
            return damaged("a row names a filter that does not exist")
        if self.seen == self.expected and not self.inflate.eof:
            return Fault("image.truncated", "The compressed data of the PNG lack their end.")
        return None


def damaged(what: str) -> Fault:
    """A fault of data that are there."""
    return Fault("image.damaged", f"The PNG is wrong: {what}.")


def bomb(what: str) -> Fault:
    """A fault of data that become too many."""
    return Fault("image.bomb", f"The PNG inflates too far: {what}.")


def read_header(body: bytes) -> Header:
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
    return Header(width, height, depth, colour, bool(interlace))


def _impossible(what: str) -> Fault:
    return Fault("image.undecodable", f"The header of the PNG {what}.")
