"""A scan's own temporary file: frames written once and read back in the same order."""

import os
import tempfile
from collections.abc import Iterator
from typing import Any

from sickbay.contract.errors import StorageFailed
from sickbay.scanner import wire


class Spool:
    """An anonymous file of frames, gone when the process is."""

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile(buffering=1 << 18)  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise _failed(error) from None

    def write(self, value: Any, raw: bytes = b"") -> None:
        """Append one frame.

        Raises:
            StorageFailed: the disk for temporary files is full.
        """
        try:
            self._file.write(wire.pack(value, raw))
        except OSError as error:
            raise _failed(error) from None

    def frames(self) -> Iterator[tuple[Any, bytes]]:
        """Read all frames from the start."""
        try:
            self._file.flush()
        except OSError as error:
            raise _failed(error) from None
        os.lseek(self._file.fileno(), 0, os.SEEK_SET)
        reader = wire.Reader(self._file.fileno())
        while True:
            try:
                yield reader.frame()
            except wire.Closed:
                return

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
