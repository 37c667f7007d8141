"""Physical lines of a file, of bounded length, with their offsets."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from sickbay.scanner.rows import MOST_BYTES, MOST_LINE

_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 20
_MOST_ROWS, _TOGETHER = 200, 16 << 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        number: from 1.
        at: offset of its first byte in the file.
        data: its bytes with the line feed; empty where it is too long to be held.
        size: bytes without the line break.
        sha256: of a line too long to be held, without the line break.
    """

    number: int
    at: int
    data: bytes
    size: int
    sha256: str = ""

    @property
    def text(self) -> str:
        """The line with its line feed; bytes that are not UTF-8 are surrogates."""
        return self.data.decode("utf-8", errors="surrogateescape")


def lines(file: BinaryIO, most: int = MOST_BYTES) -> Iterator[Line]:
    """Yield the lines of a file; a byte order mark before the first is left out.

    A line of more than ``MOST_LINE`` bytes is the last: it is no file of lines any more.

    Args:
        file: read from where it stands, which must be its start.
        most: bytes of a line that is held.
    """
    at, number = 0, 1
    first = file.readline(most)
    if first.startswith(_MARK):
        at, first = len(_MARK), first[len(_MARK) :]
    data = first or file.readline(most)
    while data:
        if len(data) >= most and not data.endswith(b"\n"):
            line, taken = _long(file, data, number, at)
            yield line
            if line.size >= MOST_LINE:
                return
        else:
            taken = len(data)
            yield Line(number, at, data, len(bare(data)))
        at, number = at + taken, number + 1
        data = file.readline(most)


def bare(data: bytes) -> bytes:
    """Return a line without its line break."""
    return data.removesuffix(b"\n").removesuffix(b"\r")


def _long(file: BinaryIO, start: bytes, number: int, at: int) -> tuple[Line, int]:
    """Hash the rest of a line without holding it, its line break left out."""
    digest, held, taken = hashlib.sha256(), start, len(start)
    while taken <= MOST_LINE and not held.endswith(b"\n") and (piece := file.readline(_PIECE)):
        digest.update(held[:-2])  # what may be part of the line break waits
        held = held[-2:] + piece
        taken += len(piece)
    last = bare(held)
    digest.update(last)
    size = taken - (len(held) - len(last))
    return Line(number, at, b"", size, digest.hexdigest()), taken


def some(rows: Iterator[T], size: Callable[[T], int]) -> list[T]:
    """Take the first rows, by which the rest is judged: 200 at most, of bounded size together."""
    taken: list[T] = []
    together = 0
    while (
        len(taken) < _MOST_ROWS and together < _TOGETHER and (row := next(rows, None)) is not None
    ):
        taken.append(row)
        together += size(row)
    return taken
