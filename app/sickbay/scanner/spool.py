"""A scan's own temporary file: frames written once and read back in the same order."""

import marshal
import os
import struct
import tempfile
from collections.abc import Iterator
from typing import Any

from sickbay.contract.errors import StorageFailed

_LENGTHS = struct.Struct(">II")
_BUFFER = 1 << 18


class Spool:
    """An anonymous file of frames, gone when the process is."""

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile(buffering=_BUFFER)  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise _failed(error) from None

    def write(self, value: Any, raw: bytes = b"") -> None:
        """Append one frame: plain values and lists of them, and raw bytes.

        Raises:
            StorageFailed: the disk for temporary files is full.
        """
        body = marshal.dumps(value)
        try:
            self._file.write(_LENGTHS.pack(len(body), len(raw)) + body + raw)
        except OSError as error:
            raise _failed(error) from None

    def frames(self) -> Iterator[tuple[Any, bytes]]:
        """Read all frames from the start."""
        try:
            self._file.flush()
        except OSError as error:
            raise _failed(error) from None
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        with open(self._file.fileno(), "rb", buffering=_BUFFER, closefd=False) as file:
            while head := file.read(_LENGTHS.size):
                length, more = _LENGTHS.unpack(head)
                value = marshal.loads(file.read(length))  # noqa: S302 (our own, and anonymous)
                yield value, file.read(more)

    def close(self) -> None:
        """Give the space back."""
        try:
            self._file.close()
        except OSError as error:
            raise _failed(error) from None


def _failed(error: OSError) -> StorageFailed:
    return StorageFailed(
        f"The folder for temporary files ({tempfile.gettempdir()!r}) cannot be written: "
        f"{error.strerror}; free some space or set TMPDIR."
    )
