"""Huffman-coded scans of sequential JPEGs, walked symbol by symbol.

Only for the few pictures with sampling factors that libjpeg-turbo's simple interface refuses:
Pillow decodes those, but hides every warning. It is some hundred times slower than a decoder in
C, so long files are left to Pillow alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_BYTES = 1 << 20  # about two seconds of CPU
_RESTART = re.compile(rb"\xff[\xd0-\xd7]")
_BITS = 16  # longest code
_LAST = 63  # index of a block's last coefficient
_RUN_ONLY = 0xF0  # sixteen zeros and no value


class Bad(Exception):
    """The entropy-coded data are wrong; says how."""


@dataclass(slots=True)
class Frame:
    """What scans refer to: size, sampling factors and tables, as they stand at each scan."""

    width: int = 0
    height: int = 0
    factors: dict[int, tuple[int, int]] = field(default_factory=dict)
    tables: dict[int, list[int]] = field(default_factory=dict)
    restart: int = 0

    def take(self, marker: int, body: bytes) -> None:
        """Take note of a frame header, tables or a restart interval.

        Raises:
            Bad: a table is malformed.
        """
        if marker in (0xC0, 0xC1):
            self.height, self.width = (int.from_bytes(body[at : at + 2], "big") for at in (1, 3))
            for at in range(6, 6 + 3 * body[5], 3):
                self.factors[body[at]] = (body[at + 1] >> 4, body[at + 1] & 15)
        elif marker == 0xC4:  # noqa: PLR2004 (DHT)
            for key, table in _tables(body):
                self.tables[key] = table
        elif marker == 0xDD:  # noqa: PLR2004 (DRI)
            self.restart = int.from_bytes(body[:2], "big")

    def units(self, components: list[int]) -> tuple[int, list[int]]:
        """Number of coded units in a scan, and the blocks of each component in one."""
        widest = max(across for across, _ in self.factors.values())
        highest = max(down for _, down in self.factors.values())
        if len(components) > 1:
            across, down = -(-self.width // (8 * widest)), -(-self.height // (8 * highest))
            return across * down, [
                self.factors[name][0] * self.factors[name][1] for name in components
            ]
        across, down = self.factors[components[0]]
        columns, rows = -(-self.width * across // widest), -(-self.height * down // highest)
        return -(-columns // 8) * -(-rows // 8), [1]


def _tables(body: bytes) -> Iterator[tuple[int, list[int]]]:
    """Yield (class and number, table from 16 bits to length and symbol) of a DHT segment."""
    at = 0
    while at + 17 <= len(body):
        counts, symbols = (
            body[at + 1 : at + 17],
            body[at + 17 : at + 17 + sum(body[at + 1 : at + 17])],
        )
        table, taken = [], iter(symbols)
        for length, count in enumerate(counts, start=1):
            for _, symbol in zip(range(count), taken, strict=False):
                table += [length << 8 | symbol] * (1 << (_BITS - length))
        if len(table) > 1 << _BITS:
            raise Bad("a code table is too full")
        yield body[at], table + [0] * ((1 << _BITS) - len(table))
        at += 17 + len(symbols)


def check_scan(frame: Frame, header: bytes, data: bytes) -> None:
    """Walk one scan's data.

    Args:
        frame: what came before it.
        header: the scan header's content.
        data: entropy-coded bytes up to the next marker that is no restart.

    Raises:
        Bad: a code that does not exist, too few data, or too many.
    """
    names = [header[1 + 2 * at] for at in range(header[0])]
    picks = [header[2 + 2 * at] for at in range(header[0])]
    try:
        units, blocks = frame.units(names)
        unit = [
            (frame.tables[pick >> 4], frame.tables[16 | pick & 15])
            for pick, count in zip(picks, blocks, strict=True)
            for _ in range(count)
        ]
    except KeyError:
        raise Bad("a scan refers to what is not defined") from None
    for piece in _RESTART.split(data) if frame.restart else [data]:
        here = min(units, frame.restart or units)
        units -= here
        _walk(_Bits(piece.rstrip(b"\xff").replace(b"\xff\x00", b"\xff")), unit, here)
    if units:
        raise Bad("the scan's data end early")


def _walk(bits: "_Bits", unit: list[tuple[list[int], list[int]]], count: int) -> None:
    for _ in range(count):
        for first_table, rest_table in unit:
            bits.skip(bits.symbol(first_table) & 15)
            at = 0
            while at < _LAST:
                symbol = bits.symbol(rest_table)
                if symbol & 15:
                    bits.skip(symbol & 15)
                elif symbol != _RUN_ONLY:
                    break
                at += (symbol >> 4) + 1
            if at > _LAST:
                raise Bad("a block has too many coefficients")
        bits.refuse_overrun()
    bits.refuse_rest()


class _Bits:
    """Reads codes from bytes; behind the end come zeros, which are counted."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._value, self._count, self._added = 0, 0, 0

    def symbol(self, table: list[int]) -> int:
        """Read one code and return its symbol."""
        self._fill()
        entry = table[self._value >> (self._count - _BITS)]
        if not entry:
            raise Bad("a code does not exist")
        self._drop(entry >> 8)
        return entry & 255

    def skip(self, count: int) -> None:
        """Pass over the bits of a value."""
        self._fill()
        self._drop(count)

    def refuse_overrun(self) -> None:
        """Raise where zeros behind the end were taken for data."""
        if self._added > self._count:
            raise Bad("the scan's data end early")

    def refuse_rest(self) -> None:
        """Raise where more than the padding of the last byte is left."""
        if self._count - self._added + 8 * (len(self._data) - self._at) >= 8:  # noqa: PLR2004 (bits)
            raise Bad("bytes are left over at a scan's end")

    def _fill(self) -> None:
        if self._count < _BITS:
            piece = self._data[self._at : self._at + 8]
            self._at += len(piece)
            self._added += 8 * (8 - len(piece))
            self._value = self._value << 64 | int.from_bytes(piece.ljust(8, b"\0"), "big")
            self._count += 64

    def _drop(self, count: int) -> None:
        self._count -= count
        self._value &= (1 << self._count) - 1
