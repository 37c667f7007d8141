"""Files of checksummed blocks: what is torn or damaged ends the reading, and is never believed."""

import hashlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

_HEAD = struct.Struct(">I16s")
_FULL = 1 << 18
MAX_BLOCK = 1 << 28


class Blocks:
    """A new file that grows by blocks; every method may raise ``OSError``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.fdopen(_private(path), "wb", buffering=0)
        self._waiting: list[bytes] = []
        self._size = 0
        self._whole = _whole()

    def add(self, frame: bytes) -> None:
        """Append a frame; it is on the disk once its block is full or flushed."""
        self._waiting.append(frame)
        self._size += len(frame)
        if self._size >= _FULL:
            self.flush()

    def flush(self) -> None:
        """Write what waits as one block."""
        if self._waiting:
            body = b"".join(self._waiting)
            self._waiting, self._size = [], 0
            checksum = _checksum(body)
            self._whole.update(checksum)
            self._write(_HEAD.pack(len(body), checksum) + body)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def checksum(self) -> bytes:
        """Checksum of all that is written."""
        return self._whole.digest()

    def close(self) -> None:
        """Close the file, whatever still waits."""
        self._file.close()


def write_new(path: Path, data: bytes) -> None:
    """Write a small new file, for its owner alone; may raise ``OSError``."""
    with os.fdopen(_private(path), "wb") as file:
        file.write(data)


def checksum_of(path: Path) -> bytes:
    """Return the checksum of what is whole in a file, as its writer gave it."""
    whole = _whole()
    for checksum, _ in _read(path, believed=False):
        whole.update(checksum)
    return whole.digest()


def blocks(path: Path, *, believed: bool = False) -> Iterator[bytes]:
    """Yield the blocks of a file up to its end, or to the first that is torn or damaged.

    A file that is not there or cannot be read has none.

    Args:
        path: the file.
        believed: its checksum was asked for a moment ago, so that no block is checked again.
    """
    return (body for _, body in _read(path, believed=believed))


def _read(path: Path, *, believed: bool) -> Iterator[tuple[bytes, bytes]]:
    try:
        with path.open("rb", buffering=0) as file:
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                length, checksum = _HEAD.unpack(head)
                body = file.read(length) if length <= MAX_BLOCK else b""
                if len(body) != length or not (believed or _checksum(body) == checksum):
                    return
                yield checksum, body
    except OSError:
        return


def _whole() -> "hashlib.blake2b":
    return hashlib.blake2b(digest_size=16)


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:16]


def _private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
