"""What each worker is fetching right now, in memory that outlives the worker.

A worker that is killed or hangs can tell nothing; the main process reads here what it was at. It
is anonymous memory from ``multiprocessing``, so that it reaches workers that are forked and such
that are spawned, is gone with the job, and has all its pages from the start. A slot has one
writer. A worker that finds no slot free goes on without one.
"""

import contextlib
import json
import multiprocessing
import os
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from multiprocessing.context import get_spawning_popen
from typing import Any

SLOTS = 64
"""Workers that one data set can have at once; 2 MB in all."""
_PATH, _BATCH = 4096, 8192
_CELL, _CELLS = 5120, 4
_SEEDS = 500
_HEAD = struct.Struct("<IiBxxxqdIqQIII")
"""pid, worker, state, index, since, length of path, epoch, seed, written, read, length of batch."""
_NOW = struct.Struct("<BxxxqdI")
"""The part of it that changes with every sample."""
_pack_now = _NOW.pack_into
_WRITTEN, _READ = struct.Struct("<I"), struct.Struct("<I")
_NOW_AT, _SINCE_AT, _EPOCH_AT, _WRITTEN_AT, _READ_AT, _BATCH_AT = 8, 20, 32, 48, 52, 56
_SLOT = 64 + _PATH + _BATCH + _CELL * _CELLS
_SHARED = struct.Struct("<qI")
"""Epoch as it was set (-1: it was not), and how many seeds follow."""
_HINT_AT = 12
"""A number that changes when a worker has left something."""
_START = 16 + 8 * _SEEDS


class State(IntEnum):
    """What a worker is at."""

    IDLE = 0
    FETCHING = 1
    COLLATING = 2


@dataclass(frozen=True, slots=True)
class Now:
    """What a slot says: a worker, and what it is fetching or putting together."""

    pid: int
    worker: int
    state: State
    index: int
    epoch: int | None
    seed: int
    since: float
    path: str
    batch: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The sample that is being fetched, or those of the batch."""
        return self.batch if self.state is State.COLLATING else (self.path,)


class Slot:
    """One worker's place on the board."""

    def __init__(self, memory: memoryview, at: int) -> None:
        self._memory = memory
        self._at = at

    def begin(self, worker: int, epoch: int | None, seed: int) -> None:
        """Take the slot."""
        said = -1 if epoch is None else epoch
        now = (State.IDLE, -1, 0.0, 0)
        head = (os.getpid(), worker, *now, said, seed & (2**64 - 1), 0, 0, 0)
        _HEAD.pack_into(self._memory, self._at, *head)

    def epoch(self, epoch: int | None) -> None:
        """Note the epoch."""
        struct.pack_into("<q", self._memory, self._at + _EPOCH_AT, -1 if epoch is None else epoch)

    def fetching(self, index: int, path: str) -> None:
        """Note which sample comes now."""
        raw = path.encode("utf-8", "surrogateescape")[:_PATH]
        start, length = self._at + 64, len(raw)
        self._memory[start : start + length] = raw
        _pack_now(self._memory, self._at + _NOW_AT, 1, index, time.time(), length)

    def collating(self, paths: Sequence[str]) -> None:
        """Note that a batch is put together; of a large one, its first samples."""
        raw = "\0".join(paths[:_BATCH]).encode("utf-8", "surrogateescape")
        if len(raw) > _BATCH:
            raw = raw[: raw.rfind(b"\0", 0, _BATCH)]
        start = self._at + 64 + _PATH
        self._memory[start : start + len(raw)] = raw
        struct.pack_into("<I", self._memory, self._at + _BATCH_AT, len(raw))
        struct.pack_into("<d", self._memory, self._at + _SINCE_AT, time.time())
        self._memory[self._at + _NOW_AT] = State.COLLATING

    def idle(self) -> None:
        """Note that nothing is being fetched."""
        self._memory[self._at + _NOW_AT] = 0

    def tell(self, record: Mapping[str, Any]) -> None:
        """Leave a record for the main process; more than four at once overwrite the oldest."""
        raw = json.dumps(record).encode()
        if len(raw) > _CELL - 4:
            raw = json.dumps({**record, "traceback": str(record.get("traceback"))[-1500:]}).encode()
        (written,) = _WRITTEN.unpack_from(self._memory, self._at + _WRITTEN_AT)
        start = self._cell(written)
        kept = raw if len(raw) <= _CELL - 4 else b""
        self._memory[start : start + 4 + len(kept)] = struct.pack("<I", len(kept)) + kept
        _WRITTEN.pack_into(self._memory, self._at + _WRITTEN_AT, (written + 1) & 0xFFFFFFFF)
        (hint,) = _WRITTEN.unpack_from(self._memory, _HINT_AT)
        _WRITTEN.pack_into(self._memory, _HINT_AT, (hint + 1) & 0xFFFFFFFF)

    def told(self) -> Iterator[dict[str, Any]]:
        """Fetch the records that were not fetched yet; for the main process."""
        (written,) = _WRITTEN.unpack_from(self._memory, self._at + _WRITTEN_AT)
        (read,) = _READ.unpack_from(self._memory, self._at + _READ_AT)
        for number in range(max(read, written - _CELLS), written):
            start = self._cell(number)
            (length,) = struct.unpack_from("<I", self._memory, start)
            with contextlib.suppress(ValueError):
                yield json.loads(bytes(self._memory[start + 4 : start + 4 + min(length, _CELL)]))
        _READ.pack_into(self._memory, self._at + _READ_AT, written)

    def now(self) -> Now | None:
        """Return what the slot says; nothing where no worker has taken it."""
        pid, worker, state, index, since, path, epoch, seed, _, _, batch = _HEAD.unpack_from(
            self._memory, self._at
        )
        if not pid or state > State.COLLATING:
            return None
        start = self._at + 64
        listed = bytes(self._memory[start + _PATH : start + _PATH + min(batch, _BATCH)])
        return Now(
            pid,
            worker,
            State(state),
            index,
            None if epoch < 0 else epoch,
            seed,
            since,
            os.fsdecode(bytes(self._memory[start : start + min(path, _PATH)])),
            tuple(map(os.fsdecode, listed.split(b"\0"))) if listed else (),
        )

    def free(self) -> bool:
        """Whether a worker may take it: nobody has it, or one who is gone and told all."""
        pid, *_, written, read, _ = _HEAD.unpack_from(self._memory, self._at)
        return not pid or (written == read and not alive(pid))

    def _cell(self, number: int) -> int:
        return self._at + 64 + _PATH + _BATCH + (number % _CELLS) * _CELL


class Board:
    """The slots of one data set's workers."""

    def __init__(self) -> None:
        self._array: Any = multiprocessing.RawArray("B", _START + SLOTS * _SLOT)
        self._see()
        _SHARED.pack_into(self._memory, 0, -1, 0)

    def _see(self) -> None:
        self._memory = memoryview(self._array).cast("B")
        self._lock = threading.Lock()
        self._hint = 0

    def __getstate__(self) -> Any:
        """Travel with a process that is being started; a copy made otherwise has no slots."""
        return self._array if get_spawning_popen() is not None else False

    def __setstate__(self, array: Any) -> None:
        if array is False:
            self.__init__()  # type: ignore[misc]  # a board of its own
            return
        self._array = array
        self._see()

    def claim(self, worker: int, seed: int) -> Slot | None:
        """Take a slot for this worker; processes that start together begin at different ones."""
        first = os.getpid()
        for place in range(SLOTS):
            slot = self._slot((first + place) % SLOTS)
            if slot.free():
                slot.begin(worker, self.epoch(seed - worker), seed)
                return slot
        return None

    def epoch(self, base: int | None = None) -> int | None:
        """Return the epoch: as it was set, else by how many base seeds the workers have had.

        A DataLoader draws a base seed whenever it starts workers, at each epoch's begin unless
        they are persistent.
        """
        said, count = _SHARED.unpack_from(self._memory, 0)
        if said >= 0 or base is None:
            return said if said >= 0 else None
        base &= 2**64 - 1
        bases = list(dict.fromkeys(struct.unpack_from(f"<{min(count, _SEEDS)}Q", self._memory, 16)))
        if base in bases:
            return bases.index(base)
        if count >= _SEEDS:
            return None
        struct.pack_into("<Q", self._memory, 16 + 8 * count, base)
        _SHARED.pack_into(self._memory, 0, said, count + 1)
        return len(bases)

    def set_epoch(self, epoch: int) -> None:
        """Say the epoch, to workers that run already as well."""
        struct.pack_into("<q", self._memory, 0, epoch)

    def told(self, *, hurried: bool = False) -> list[dict[str, Any]]:
        """Fetch what workers have left; for the main process.

        Args:
            hurried: look only whether there is anything, and miss what two workers leave at once.
        """
        (hint,) = _WRITTEN.unpack_from(self._memory, _HINT_AT)
        if hurried and hint == self._hint:
            return []
        self._hint = hint
        with self._lock:
            return [record for slot in self._slots() for record in slot.told()]

    def busy(self) -> list[Now]:
        """Return the workers that are fetching or putting together, the longest first."""
        found = (slot.now() for slot in self._slots())
        at = [now for now in found if now is not None and now.state is not State.IDLE]
        return sorted(at, key=lambda now: now.since)

    def _slots(self) -> Iterator[Slot]:
        return (self._slot(place) for place in range(SLOTS))

    def _slot(self, place: int) -> Slot:
        return Slot(self._memory, _START + place * _SLOT)


def alive(pid: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
