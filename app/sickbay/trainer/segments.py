"""One file of a spool, or, where the disk takes none, the same in memory."""

import os
from array import array
from bisect import bisect_right
from contextlib import suppress
from pathlib import Path
from typing import Protocol

SEGMENT = 1 << 20
"""Bytes of a file before the next is begun: what is sent twice at most after a crash."""


class Store(Protocol):
    """Bytes that grow at the end."""

    durable: bool

    def append(self, data: bytes) -> None:
        """Write all of it, or raise ``OSError`` and leave nothing of it."""

    def read(self, start: int, length: int) -> bytes:
        """Return bytes from the middle, fewer where there are no more."""

    def close(self, *, remove: bool) -> None:
        """Let go of it."""


class Segment:
    """Lines in a store, and how far they have been sent."""

    def __init__(self, store: Store, header: int) -> None:
        self._store = store
        self.sent = self.size = self._header = header
        self._ends = array("Q")
        self._points = array("Q")

    @property
    def durable(self) -> bool:
        """Whether it outlives the process."""
        return self._store.durable

    @property
    def bare(self) -> bool:
        """Whether it has no line yet; an event larger than a segment still fits one."""
        return self.size == self._header

    @property
    def all_sent(self) -> bool:
        """Whether every line has arrived."""
        return self.sent == self.size

    @property
    def points_left(self) -> int:
        """Points in the lines that have not arrived."""
        return sum(self._points[bisect_right(self._ends, self.sent) :])

    def write(self, line: bytes, points: int) -> bool:
        """Append a line; returns whether the store took it."""
        try:
            self._store.append(line)
        except OSError:
            return False
        self.size += len(line)
        self._ends.append(self.size)
        self._points.append(points)
        return True

    def unsent(self, most_lines: int, most_bytes: int) -> tuple[int, bytes]:
        """Return the oldest lines that have not arrived and where they end; no bytes if unreadable.

        There must be such lines.
        """
        first = bisect_right(self._ends, self.sent)
        last = bisect_right(self._ends, self.sent + most_bytes, lo=first)
        last = max(first + 1, min(last, first + most_lines))
        end = self._ends[last - 1]
        with suppress(OSError):
            return end, self._store.read(self.sent, end - self.sent)
        return end, b""

    def skip(self, end: int) -> int:
        """Give up on what cannot be read, and return how many points that were."""
        before = self.points_left
        self.sent = end
        return before - self.points_left

    def close(self, *, remove: bool) -> None:
        """Let go of the store, deleting its file where ``remove``."""
        with suppress(OSError):
            self._store.close(remove=remove)


class _File:
    durable = True

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        self._size = 0

    def append(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self._file, length, start)

    def close(self, *, remove: bool) -> None:
        os.close(self._file)
        if remove:
            self._path.unlink()


class _Memory:
    durable = False

    def __init__(self) -> None:
        self._bytes = bytearray()

    def append(self, data: bytes) -> None:
        self._bytes += data

    def read(self, start: int, length: int) -> bytes:
        return bytes(self._bytes[start : start + length])

    def close(self, *, remove: bool) -> None:
        if remove:
            self._bytes = bytearray()


def on_disk(path: Path, header: bytes) -> Segment | None:
    """Begin a file with its header; nothing where the disk refuses."""
    store = None
    try:
        store = _File(path)
        store.append(header)
    except OSError:
        if store is not None:
            with suppress(OSError):
                store.close(remove=True)
        return None
    return Segment(store, len(header))


def in_memory() -> Segment:
    """Begin the same in memory; it needs no header, for it dies with the process."""
    return Segment(_Memory(), 0)
