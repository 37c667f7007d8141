"""Which items this thread has fetched since its last batch.

A loader fetches a batch's items and puts them together in one thread, so that what was fetched is
noted there and read when the batch is made. Items stay what they are, and wrappers around the
data set (``Subset``, ``ConcatDataset``) are no obstacle.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sickbay.trainer.traced.board import Slot

MOST = 20_000
"""Items noted between two batches; somebody may go through the data set without a loader."""


@dataclass(slots=True)
class Noted:
    """What one thread has fetched: the item's ``id``, its path and its index, in order.

    ``said`` is the file that the data set itself says is read now, ``slot`` the worker's.
    """

    items: deque[tuple[int, str, Any]] = field(default_factory=lambda: deque(maxlen=MOST))
    said: str | None = None
    slot: Slot | None = None

    def is_last(self, item: Any) -> bool:
        """Whether this is the item that was fetched last."""
        return bool(self.items) and self.items[-1][0] == id(item)

    def take(self, batch: Sequence[Any]) -> list[tuple[str, Any]]:
        """Return path and index of each item of a batch, and forget them.

        Items that something between data set and loader has made anew cannot be told apart; then
        it is all that was fetched.
        """
        noted = list(self.items)
        self.items.clear()
        last = noted[-len(batch) :] if batch else []
        if len(last) == len(batch) and all(
            number == id(item) for (number, _, _), item in zip(last, batch, strict=True)
        ):
            return [(path, index) for _, path, index in last]
        by_id = {number: (path, index) for number, path, index in noted}
        found = [by_id.get(id(item)) for item in batch]
        if batch and None not in found:
            return [one for one in found if one is not None]
        if batch and len(noted) % len(batch):
            noted = last  # somebody has looked at samples in between
        return [(path, index) for _, path, index in noted]


_here = threading.local()


def noted() -> Noted:
    """Return this thread's."""
    try:
        found: Noted = _here.noted
    except AttributeError:
        found = _here.noted = Noted()
    return found
