"""Where this process stands in the loading: the main process, or one of a loader's workers."""

import os
import sys
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

from sickbay.trainer.traced.board import Board, Slot

boards: "weakref.WeakSet[Board]" = weakref.WeakSet()
"""The boards whose workers belong to this process."""
_latest: deque[Board] = deque(maxlen=8)
"""Some of them, kept: a data set may be gone before what its workers left is fetched."""


@dataclass(frozen=True, slots=True)
class Place:
    """One process: the worker's number and seed in a worker, nothing in the main process."""

    pid: int
    worker: int | None
    seed: int
    slot: Slot | None

    @property
    def remote(self) -> bool:
        """Whether what is told here has to travel to the main process."""
        return self.worker is not None


def worker_info() -> Any:
    """Return what torch knows of the worker that this is, or nothing."""
    data: Any = sys.modules.get("torch.utils.data")
    return data.get_worker_info() if data is not None else None


def remote() -> bool:
    """Whether this is a worker's process."""
    info = worker_info()
    return info is not None and getattr(info, "worker_method", None) != "thread"


def found(board: Board) -> Place:
    """Find out where this process stands, and take a slot where it is a worker."""
    if remote():
        info = worker_info()
        return Place(os.getpid(), info.id, info.seed, board.claim(info.id, info.seed))
    boards.add(board)
    _latest.append(board)
    return Place(os.getpid(), None, 0, None)


def seeds(place: Place) -> dict[str, int]:
    """Return the seed that the transforms draw from here."""
    info = worker_info()
    if info is not None:
        return {"worker": info.seed}
    torch: Any = sys.modules.get("torch")
    return {"torch": torch.initial_seed()} if torch is not None else {"worker": place.seed}
