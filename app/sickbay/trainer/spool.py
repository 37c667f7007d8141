r"""Events on disk until the server has them: a folder for each process, a few files in it.

A file is lines of ``<length> <crc32> <payload>\n``, both numbers as eight hex digits. A line that
was torn by a crash or damaged fails one of them and is skipped. The first line of each file is
the opening, so that each can be sent by itself. A file is deleted once all of it has arrived.
"""

import json
import os
import re
import threading
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from sickbay.trainer.claim import claim, release
from sickbay.trainer.segments import SEGMENT, Segment, in_memory, on_disk

MOST_ON_DISK = 64 << 20
"""Bytes of a rank's spool: a day of ten series at one point a second, five times over."""
MOST_IN_MEMORY = 4 << 20
"""Bytes kept where the disk takes nothing."""
_DISK_AGAIN = 10.0
_SENT_AND_LARGE = SEGMENT // 4
_LINE = re.compile(rb"([0-9a-f]{8}) ([0-9a-f]{8}) (.*)", re.DOTALL)


def framed(payload: bytes) -> bytes:
    """Return one line of a spool."""
    return b"%08x %08x %b\n" % (len(payload), zlib.crc32(payload), payload)


def payloads(data: bytes) -> Iterator[bytes]:
    """Yield what stands in the sound lines of a spool's bytes, in order."""
    for line in data.split(b"\n"):
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        length, checksum, payload = int(found[1], 16), int(found[2], 16), found[3]
        if len(payload) == length and zlib.crc32(payload) == checksum:
            yield payload


@dataclass(frozen=True, slots=True)
class Piece:
    """Events to send next, each as JSON, and how far they reach."""

    events: list[bytes]
    segment: Segment
    end: int


class Spool:
    """The events of one process, written by one thread and sent by another.

    Nothing here raises: where the disk takes nothing, the newest events are kept in memory, and
    when either is full, the oldest go and their points are counted in ``lost``.
    """

    def __init__(self, folder: Path, opening: dict[str, Any], most: int = MOST_ON_DISK) -> None:
        self.folder = folder
        self.lost = 0
        self._most = most
        self._header = framed(json.dumps({"kind": "opening", **opening}).encode())
        self._lock = threading.Lock()
        self._segments: deque[Segment] = deque()
        self._number = 0
        self._disk_failed_at: float | None = None
        self._lock_file: int | None = None

    def append(self, event: bytes, points: int) -> None:
        """Write one event, JSON without line breaks, that holds ``points`` points."""
        line = framed(event)
        with self._lock:
            if self._full(len(line)):
                self._begin()
            if not self._segments[-1].write(line, points):
                self._disk_failed_at = monotonic()
                self._begin()
                self._segments[-1].write(line, points)

    def piece(self, most_events: int, most_bytes: int) -> Piece | None:
        """Return the oldest events that have not arrived yet, or nothing."""
        with self._lock:
            while True:
                self._forget_sent()
                segment = self._segments[0] if self._segments else None
                if segment is None or segment.all_sent:
                    return None
                end, data = segment.unsent(most_events, most_bytes)
                if events := list(payloads(data)):
                    return Piece(events, segment, end)
                self.lost += segment.skip(end)

    def arrived(self, piece: Piece) -> None:
        """Note that the server has these events, or will never take them."""
        with self._lock:
            piece.segment.sent = max(piece.segment.sent, piece.end)
            self._forget_sent()

    @property
    def empty(self) -> bool:
        """Whether everything written so far has arrived."""
        with self._lock:
            return all(segment.all_sent for segment in self._segments)

    def close(self) -> bool:
        """Close the files; delete them where all has arrived. Returns whether that is so."""
        with self._lock:
            empty = all(segment.all_sent for segment in self._segments)
            for segment in self._segments:
                segment.close(remove=segment.all_sent)
            self._segments.clear()
        self._unlock(remove=empty)
        return empty

    def abandon(self) -> None:
        """Let go of the files in a forked child, where they belong to the parent."""
        for segment in self._segments:
            segment.close(remove=False)
        self._unlock(remove=False)

    def _unlock(self, *, remove: bool) -> None:
        lock, self._lock_file = self._lock_file, None
        if lock is not None:
            release(self.folder, lock, remove=remove)

    def _full(self, length: int) -> bool:
        if not self._segments:
            return True
        last = self._segments[-1]
        if last.all_sent and last.size > _SENT_AND_LARGE:
            return True
        if not last.durable and self._may_use_disk():
            return True
        return last.size + length > SEGMENT and not last.bare

    def _may_use_disk(self) -> bool:
        failed = self._disk_failed_at
        return failed is None or monotonic() > failed + _DISK_AGAIN

    def _begin(self) -> None:
        """Begin a new file, or a piece of memory where the disk takes none."""
        self._number += 1
        self._segments.append((self._may_use_disk() and self._file()) or in_memory())
        self._make_room()

    def _file(self) -> Segment | None:
        make_folder(self.folder)
        if self._lock_file is None:
            self._lock_file = claim(self.folder)
        segment = on_disk(self.folder / f"{self._number:06d}.spool", self._header)
        self._disk_failed_at = None if segment else monotonic()
        return segment

    def _make_room(self) -> None:
        """Drop the oldest where what is begun could not be filled within what is allowed."""
        for durable, most in ((True, self._most), (False, MOST_IN_MEMORY)):
            kept = [segment for segment in self._segments if segment.durable is durable]
            size = sum(segment.size for segment in kept)
            while size > most - SEGMENT and len(kept) > 1:
                oldest = kept.pop(0)
                size -= oldest.size
                self.lost += oldest.points_left
                oldest.close(remove=True)
                self._segments.remove(oldest)

    def _forget_sent(self) -> None:
        while len(self._segments) > 1 and self._segments[0].all_sent:
            self._segments.popleft().close(remove=True)


def make_folder(folder: Path) -> None:
    """Make a process's folder, for its owner only; the spool copes where that fails."""
    with suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 (mode of the parents too)
