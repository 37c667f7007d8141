"""The bytes of a file in pieces, hashed as they pass."""

import hashlib
import io
from collections.abc import Iterator
from typing import BinaryIO

from sickbay.scanner.arrays import TRUNCATED, Fault

PIECE = 1 << 20
"""Bytes read at once: what is looked at several times is still in the processor's cache."""


def pieces(file: BinaryIO, count: int, step: int, item: str | None) -> Iterator[memoryview]:
    """Yield ``count`` bytes from where the file stands, each piece a multiple of ``step`` long."""
    most = max(PIECE // step, 1) * step
    while count:
        data = file.read(min(most, count))
        if len(data) < min(most, count):
            raise Fault(TRUNCATED, "The file ends before the values do.", item)
        count -= len(data)
        yield memoryview(data)


class Hashed(io.RawIOBase):
    """A file whose SHA-256 is made from what its reader reads anyway; the rest is read at the end.

    Where a reader goes back and forth, each byte is hashed once and in order.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._done = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read anywhere."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        """Read, and hash what is new."""
        at = self._file.tell()
        data = self._file.read(size)
        if at <= self._done < at + len(data):
            self._digest.update(memoryview(data)[self._done - at :])
            self._done = at + len(data)
        return data

    def finish(self) -> str:
        """Read what nobody read and return the digest in hexadecimal."""
        self._file.seek(self._done)
        while data := self._file.read(PIECE):
            self._digest.update(data)
        return self._digest.hexdigest()
