"""Where a scan's records go: a file here; a server or the local database elsewhere."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol, runtime_checkable

from sickbay.contract.errors import BadInput, StorageFailed
from sickbay.contract.finding import (
    FileRecord,
    Record,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
    to_line,
)
from sickbay.contract.paths import SamplePath

Stat = tuple[int, int, int]
_BEGINS = b'{"classes":['
"""How the records of a scan begin, as ``to_line`` writes the header."""


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


@runtime_checkable
class LineSink(Sink, Protocol):
    """A sink that takes records as they are written, which spares making them again."""

    def line(
        self, path: SamplePath, line: bytes, thumbnail: bytes | None, stat: Stat | None
    ) -> None:
        """Take one record, of a sample or a file, as ``to_line`` wrote it."""


class NdjsonSink:
    """Writes records as lines of JSON, and puts the file in place only when it is whole.

    Raises:
        BadInput: at once, where the path is no place for a file.
        StorageFailed: from any method, where the disk is full or the folder cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._part = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}.part")
        self._file: IO[bytes] | None = None
        self._refuse_bad_place()

    def header(self, record: ScanRecord) -> None:
        """Begin the file; not sooner, lest a scan finds it in its own root."""
        try:
            self._file = self._part.open("xb")
        except OSError as error:
            raise self._failed(error) from None
        self._write(record)

    def sample(self, record: SampleRecord, thumbnail: bytes | None, stat: Stat | None) -> None:
        """Write a sample; a file of lines has no place for its thumbnail."""
        del thumbnail, stat
        self._write(record)

    def file(self, record: FileRecord) -> None:
        """Write a file's own findings."""
        self._write(record)

    def line(
        self, path: SamplePath, line: bytes, thumbnail: bytes | None, stat: Stat | None
    ) -> None:
        """Write a record as it is."""
        del path, thumbnail, stat
        self._write_line(line)

    def finish(self, record: SummaryRecord) -> None:
        """Write the summary and put the file in place, durably."""
        self._write(record)
        try:
            with self._opened() as file:
                file.flush()
                os.fsync(file.fileno())
            self._part.replace(self._path)
        except OSError as error:
            raise self._failed(error) from None

    def abort(self) -> None:
        """Remove what was written so far."""
        if self._file is not None:
            with suppress(OSError):  # a full disk refuses the rest of the buffer once more
                self._file.close()
            self._part.unlink(missing_ok=True)

    def _refuse_bad_place(self) -> None:
        """Say what is wrong before a long scan, not after."""
        shown = repr(str(self._path))
        if self._path.exists() and not self._path.is_file():
            raise BadInput(f"{shown} is no regular file; name a file for the records.")
        if self._path.exists() and not self._holds_records():
            raise BadInput(f"{shown} is a file of another kind, and is kept; name a new file.")
        if not self._path.parent.is_dir():
            raise BadInput(f"There is no folder for {shown}; make it, or name another file.")
        if not os.access(self._path.parent, os.W_OK):
            raise StorageFailed(f"The folder of {shown} cannot be written; name another file.")

    def _holds_records(self) -> bool:
        """Whether the file is an earlier scan's, or empty: anything else may be an original."""
        try:
            with self._path.open("rb") as file:
                return file.read(len(_BEGINS)) in (b"", _BEGINS)
        except OSError:
            return False

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            raise BadInput("A scan's records begin with a header.")
        return self._file

    def _write(self, record: Record) -> None:
        self._write_line(to_line(record))

    def _write_line(self, line: bytes) -> None:
        try:
            self._opened().write(line)
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> StorageFailed:
        return StorageFailed(
            f"The records cannot be written to {str(self._path)!r}: {error.strerror}; "
            "nothing was put in its place."
        )
