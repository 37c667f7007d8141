"""Files that are whole or not there, whenever the process that writes them dies."""

import hashlib
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

PART = ".part"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: hex SHA-256 and number of bytes."""

    sha256: str
    size: int


class _Hashing:
    """A file to write into, once through; what torch needs of one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self.size += len(data)
        self._file.write(data)
        return len(data)

    def flush(self) -> None:
        self._file.flush()


def write(path: Path, save: Callable[[Any], object]) -> Written:
    """Write a file under another name, have it on disk, then give it its name.

    Args:
        path: its name; what was there before is replaced at once.
        save: writes the content into the file it is given.

    Raises:
        OSError: it could not be written; then what was there before still is.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")
    try:
        with part.open("xb") as file:
            hashing = _Hashing(file)
            save(hashing)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    sync(path.parent)
    return Written(hashing.digest.hexdigest(), hashing.size)


def sync(folder: Path) -> None:
    """Have a folder's names on disk, where the system can do that."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def sweep(folder: Path, older_than: float = 0.0) -> None:
    """Delete what a process that died left unfinished, so many seconds ago at least."""
    for part in folder.glob(f".*{PART}"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime >= older_than:
                part.unlink()


def sha256(path: Path) -> str:
    """Return the hex SHA-256 of a file.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
