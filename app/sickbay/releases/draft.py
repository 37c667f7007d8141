"""A release's files while they are written, in a folder that is nobody's release yet.

Every file is hashed while it is written and synced when it is done; the folder gets its final
name in one rename. A process that dies leaves a folder that the next making sweeps away.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sickbay.contract.errors import Busy, StorageFailed
from sickbay.contract.version import FileEntry

WAIT_SECONDS = 60
"""How long a making waits for another one of the same state."""
_DRAFT = ".making-"
_BUFFER = 1 << 20


class HashedFile:
    """A new file of a draft; a context manager that syncs it at the end."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.size = 0
        self.rows = 0
        self._digest = hashlib.sha256()
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(handle, "wb", buffering=_BUFFER)

    def write(self, line: bytes) -> None:
        """Append one line."""
        self._file.write(line)
        self._digest.update(line)
        self.size += len(line)
        self.rows += 1

    @property
    def entry(self) -> FileEntry:
        """What is to be stated of the file, once it is written."""
        return FileEntry(self.name, self._digest.hexdigest(), self.size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._file:
            if kind is None:
                self._file.flush()
                os.fsync(self._file.fileno())


@contextmanager
def alone(releases: Path) -> Iterator[None]:
    """Let one making at a time work on a state's releases, across threads and processes.

    Raises:
        Busy: another one is at work for longer than a minute.
        StorageFailed: the folder cannot be used.
    """
    with storage_errors():
        releases.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(releases / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(lock)
        yield
    finally:
        os.close(lock)


@contextmanager
def new_folder(releases: Path) -> Iterator[Path]:
    """Give an empty folder for a draft, and remove what is left of it and of older ones."""
    for forgotten in releases.glob(f"{_DRAFT}*"):
        shutil.rmtree(forgotten, ignore_errors=True)
    with storage_errors():
        folder = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=releases))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raise StorageFailed where the operating system refuses to store something."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(
            f"The release could not be stored: {error.strerror}. No release was made. "
            "Make room or check the state folder, then try again."
        ) from error


def put_in_place(folder: Path, target: Path) -> None:
    """Give a finished draft its final name, durably."""
    sync(folder)
    folder.rename(target)
    sync(target.parent)


def sync(folder: Path) -> None:
    """Make a folder's entries durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _wait_for(lock: int) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Busy("Another release is being made. Try again in a moment.") from None
            time.sleep(0.05)
        else:
            return
