"""Zip archives of arrays, read in pieces; what they state is not believed."""

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from sickbay.scanner.arrays import DAMAGED, TRUNCATED, UNLOADABLE, Fault, shown

START = b"PK\x03\x04"
EMPTY = b"PK\x05\x06"
_ENCRYPTED = 0x1
_MAX_RATIO = 100
"""Compressed arrays of noise reach 1.1, of masks some hundred; a bomb a thousand and more."""
_MAX_INFLATED = 512 << 20
"""Bytes that an archive of such a ratio may inflate to all the same."""
_BROKEN = (
    *(zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(ValueError, LookupError, ArithmeticError, RuntimeError),
)
"""What the standard library says of archives that are none."""
_NOT_INFLATED = "Its compressed data cannot be inflated."
_CRC = re.compile("CRC", re.IGNORECASE)


class Archive:
    """An open archive.

    Raises:
        Fault: it is none, it has lost its end, or it is made to do harm.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, *_BROKEN):
            raise self._no_directory(file) from None
        self.members = [one for one in self._zip.infolist() if not one.filename.endswith("/")]
        self._refuse_bomb(size)
        self._refuse_twice()
        self.summed = any(one.CRC for one in self.members)
        """Whether it has checksums; torch can leave them out."""

    @contextmanager
    def open(self, member: zipfile.ZipInfo, item: str | None) -> Iterator[BinaryIO]:
        """Open one member for reading from its beginning to its end.

        Raises:
            Fault: it cannot be read.
        """
        if member.flag_bits & _ENCRYPTED:
            raise Fault(UNLOADABLE, "It is encrypted.", item)
        with _translated(item):
            if not self.summed:
                member.CRC = None  # type: ignore[assignment]
            with self._zip.open(member) as opened:
                yield io.BufferedReader(_Member(opened, item), 1 << 16)

    @staticmethod
    def _no_directory(file: BinaryIO) -> Fault:
        file.seek(0)
        if file.read(len(START)) == START:
            message = "The archive's directory is missing: the file has lost its end."
            return Fault(TRUNCATED, message)
        return Fault(UNLOADABLE, "It is no zip archive.")

    def _refuse_bomb(self, size: int) -> None:
        inflated = sum(one.file_size for one in self.members)
        if inflated > _MAX_INFLATED and inflated > _MAX_RATIO * size:
            raise Fault(
                UNLOADABLE,
                f"It inflates to {inflated:,} bytes, {inflated // size:,} times its size.",
                inflated=inflated,
            )

    def _refuse_twice(self) -> None:
        seen: set[str] = set()
        for one in self.members:
            if one.filename in seen:
                raise Fault(UNLOADABLE, f"It holds {shown(one.filename)!r} twice.")
            seen.add(one.filename)


class _Member(io.RawIOBase):
    """A member whose faults are ours."""

    def __init__(self, opened: IO[bytes], item: str | None) -> None:
        self._opened = opened
        self._item = item

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        with _translated(self._item):
            data = self._opened.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _translated(item: str | None) -> Iterator[None]:
    try:
        yield
    except EOFError:
        raise Fault(TRUNCATED, "The file ends within its data.", item) from None
    except zipfile.BadZipFile as error:
        if _CRC.search(str(error)):
            raise Fault(DAMAGED, "Its checksum does not fit its bytes.", item) from None
        raise Fault(UNLOADABLE, "The archive's directory does not fit its content.", item) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise Fault(UNLOADABLE, _NOT_INFLATED, item) from None  # bzip2 says so without a number
    except _BROKEN:
        raise Fault(UNLOADABLE, _NOT_INFLATED, item) from None
