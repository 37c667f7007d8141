"""Where a scan's records go: a file here; a server or the local database elsewhere."""

import os
import tempfile
from pathlib import Path
from typing import IO, Protocol

from sickbay.contract.errors import StorageFailed
from sickbay.contract.finding import (
    FileRecord,
    Record,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
    to_line,
)

Stat = tuple[int, int, int]


class Sink(Protocol):
    """What takes in the records of one scan, in order; nothing counts before ``finish``."""

    def header(self, record: ScanRecord) -> None:
        """Begin."""

    def sample(self, record: SampleRecord, thumbnail: bytes | None, stat: Stat | None) -> None:
        """Take one sample, a held one's WebP thumbnail, and (device, inode, ctime in ns)."""

    def file(self, record: FileRecord) -> None:
        """Take a file or folder that is no sample and has findings of its own."""

    def finish(self, record: SummaryRecord) -> None:
        """End: from here on these are the results in force."""

    def abort(self) -> None:
        """Forget what came; the results before stay in force."""


class NdjsonSink:
    """Writes records as lines of JSON, and puts the file in place only when it is whole.

    Raises:
        StorageFailed: from any method, where the disk is full or the folder cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._file = self._opened()

    def header(self, record: ScanRecord) -> None:
        """Write the header."""
        self._write(record)

    def sample(self, record: SampleRecord, thumbnail: bytes | None, stat: Stat | None) -> None:
        """Write a sample; a file of lines has no place for its thumbnail."""
        del thumbnail, stat
        self._write(record)

    def file(self, record: FileRecord) -> None:
        """Write a file's own findings."""
        self._write(record)

    def finish(self, record: SummaryRecord) -> None:
        """Write the summary and put the file in place, durably."""
        self._write(record)
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            Path(self._file.name).replace(self._path)
        except OSError as error:
            raise self._failed(error) from None

    def abort(self) -> None:
        """Remove what was written so far."""
        try:
            self._file.close()
        except OSError:
            pass  # a full disk refuses the rest of the buffer once more
        finally:
            Path(self._file.name).unlink(missing_ok=True)

    def _opened(self) -> IO[bytes]:
        try:
            return tempfile.NamedTemporaryFile(
                dir=self._path.parent, prefix=f".{self._path.name}.", delete=False
            )
        except OSError as error:
            raise self._failed(error) from None

    def _write(self, record: Record) -> None:
        try:
            self._file.write(to_line(record))
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> StorageFailed:
        return StorageFailed(
            f"The records cannot be written to {str(self._path)!r}: {error.strerror}; "
            "nothing was put in its place."
        )
