"""First bytes of a file, as hex and text side by side."""

from dataclasses import dataclass

_PER_LINE = 16
_PRINTABLE = range(0x20, 0x7F)


@dataclass(frozen=True, slots=True)
class DumpLine:
    """Sixteen bytes."""

    offset: str
    hex: str
    text: str


def dump(head: str) -> tuple[DumpLine, ...]:
    """Lay out bytes given in hex, sixteen a line; what is not hex gives no line."""
    try:
        data = bytes.fromhex(head)
    except ValueError:
        return ()
    return tuple(_line(at, data[at : at + _PER_LINE]) for at in range(0, len(data), _PER_LINE))


def _line(at: int, data: bytes) -> DumpLine:
    text = "".join(chr(byte) if byte in _PRINTABLE else "." for byte in data)
    return DumpLine(f"{at:05x}", data.hex(" ").ljust(3 * _PER_LINE - 1), text)
