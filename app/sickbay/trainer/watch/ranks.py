"""What the ranks of a run tell each other at a check, so that all of them stop at the same step.

They have a group of their own, on the CPU, so that nothing of the training's is disturbed. Every
rank must have a watch and observe the same number of steps. A rank that leaves says so without
waiting for the others; where one is gone or silent for ``timeout`` seconds, the rest decide each
for itself from then on, and say so once. So a check never waits longer than that.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.trainer import complaints
from sickbay.trainer.surroundings import distributed
from sickbay.trainer.watch.tensors import torch

_KINDS = tuple(FailureKind)
_QUIET, _FOUND, _LEFT = 0, 1, 2
_ROW = struct.Struct("<qqqQd")
"""What a rank says: found or left, the kind's number, the step, the failure's ref, the value."""
_COLUMNS = _ROW.size // 8


@dataclass(frozen=True, slots=True)
class Word:
    """What one rank found; the first thing, if it found several."""

    rank: int
    kind: FailureKind
    step: int
    ref: str
    value: float


class Ranks:
    """This process and its peers; alone where no process group is up.

    Args:
        timeout: seconds that a check waits for the other ranks at most.
        together: whether the ranks decide together.
    """

    def __init__(self, timeout: float, *, together: bool = True) -> None:
        self.timeout = timeout
        self._together = together
        self._group: Any = None
        self._farewell: Any = None

    @property
    def rank(self) -> int:
        """This process's number."""
        found = distributed()
        return int(found.get_rank()) if found else 0

    def exchange(self, found: Word | None) -> list[Word]:
        """Return what all ranks found, by rank; every rank calls this at its check."""
        group = self._made()
        if group is None:
            return [found] if found else []
        try:
            rows = _rows(self._said(_FOUND if found else _QUIET, found).tolist())
        except Exception as error:  # noqa: BLE001 (a peer that died must not end this rank too)
            self._alone(
                "The ranks no longer answer; each decides for itself from now on: %r", error
            )
            return [found] if found else []
        if any(row[0] == _LEFT for row in rows):
            self._alone("A rank has left; each decides for itself from now on.")
        return [_word(rank, row) for rank, row in enumerate(rows) if row[0] == _FOUND]

    def leave(self) -> None:
        """Say that this rank observes no more; waits for nobody."""
        group, self._together = self._group, False
        if group is not None:
            table = self._table(_LEFT, None)
            self._farewell = table, distributed().all_reduce(table, group=group, async_op=True)
            self._group = None

    def _made(self) -> Any:
        """Return the group of all ranks, made at the first check."""
        dist = distributed()
        if not self._together or dist is None or dist.get_world_size() < 2:  # noqa: PLR2004 (a pair)
            return None
        if self._group is None:
            try:
                self._group = dist.new_group(
                    list(range(dist.get_world_size())),
                    backend="gloo",
                    timeout=timedelta(seconds=self.timeout),
                    use_local_synchronization=True,
                )
            except Exception as error:  # noqa: BLE001 (as above)
                self._alone("The ranks cannot be asked; each decides for itself: %r", error)
        return self._group

    def _said(self, what: int, found: Word | None) -> Any:
        table = self._table(what, found)
        distributed().all_reduce(table, group=self._group)
        return table

    def _table(self, what: int, found: Word | None) -> Any:
        """Return a row for each rank, zeros but for one's own: their sum is everybody's."""
        table = torch().zeros(distributed().get_world_size(), _COLUMNS, dtype=torch().int64)
        table[self.rank] = torch().tensor(_row(what, found))
        return table

    def _alone(self, sentence: str, *details: Any) -> None:
        self._together, self._group = False, None
        complaints.once("ranks", sentence, *details)


def _row(what: int, found: Word | None) -> list[int]:
    if found is None:
        packed = _ROW.pack(what, 0, 0, 0, 0.0)
    else:
        kind, ref = _KINDS.index(found.kind), int(found.ref, 16)
        packed = _ROW.pack(what, kind, found.step, ref, found.value)
    return list(struct.unpack(f"<{_COLUMNS}q", packed))


def _rows(table: Sequence[Sequence[int]]) -> list[tuple[int, int, int, int, float]]:
    return [_ROW.unpack(struct.pack(f"<{_COLUMNS}q", *row)) for row in table]


def _word(rank: int, row: tuple[int, int, int, int, float]) -> Word:
    _, kind, step, ref, value = row
    return Word(rank, _KINDS[kind], step, f"{ref:016x}", value)
