"""The second step of a scan: samples go out in batches and what was found comes back in order."""

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from sickbay.scanner import wire
from sickbay.scanner.cache import Earlier
from sickbay.scanner.cache.kept import NOTHING
from sickbay.scanner.evidence import Examined
from sickbay.scanner.spool import Spool
from sickbay.scanner.task import Task
from sickbay.scanner.walking import FOUND, NOTED

Wait: TypeAlias = Callable[[], list[Examined]]
"""Waits for a batch and returns what was found, in the order of its tasks."""
Take: TypeAlias = Callable[[list[Any], Examined], None]
"""Called with the frame of each sample and what was found, in the order of the walk."""
Item: TypeAlias = tuple[list[Any], bytes, Examined | None]
"""A frame, its sample's signature for the cache, and what was found where that is known."""
_decode = json.JSONDecoder().decode
_ITEMS = 4096  # of any sort in a batch: what needs no check waits behind what does
_BYTES = 1 << 20  # of tasks in a batch
_OF_A_KIND = {"row": 512}
_FILES = 32  # a death repeats none of the others, and 32 pictures are some 50 ms


class Checker(Protocol):
    """Checks batches of samples somewhere."""

    ahead: int
    """Batches in flight."""
    share: int
    """How many times larger than usual a batch is."""

    def submit(self, tasks: list[Task]) -> Wait:
        """Begin to check a batch."""
        ...


@dataclass(slots=True)
class _Batch:
    """Items one after another, and what of them is to be checked."""

    items: list[Item] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    weight: float = 0.0
    wait: Wait | None = None

    def add(self, item: Item, task: bytes) -> None:
        """Take one item in; at a weight of 1 the batch is full."""
        value, _, known = item
        self.items.append(item)
        self.weight += 1 / _ITEMS
        if known is not None:
            self.weight += len(known.thumbnail or b"") / _BYTES
        elif value[0] == FOUND:
            self.tasks.append(Task.from_json(_decode(task.decode("ascii"))))
            self.weight += 1 / _OF_A_KIND.get(value[2], _FILES) + len(task) / _BYTES


@dataclass(frozen=True, slots=True)
class Checking:
    """Samples on their way from one spool to the other.

    Attributes:
        checker: checks them.
        take: sees each.
        report: is told how many more samples and skipped are done.
        earlier: what need not be checked again, where there is a cache.
    """

    checker: Checker
    take: Take
    report: Callable[[int], None]
    earlier: Earlier | None = None

    def run(self, walked: Spool, checked: Spool) -> None:
        """Check everything that was walked and spool what was found, in the same order."""
        waiting: deque[_Batch] = deque()
        for batch in self._batches(walked):
            batch.wait = self.checker.submit(batch.tasks) if batch.tasks else None
            waiting.append(batch)
            if len(waiting) > self.checker.ahead:
                self._done(checked, waiting.popleft())
        while waiting:
            self._done(checked, waiting.popleft())
        if self.earlier is not None:
            self.earlier.end()

    def _batches(self, walked: Spool) -> Iterator[_Batch]:
        batch = _Batch()
        for value, task in walked.frames():
            batch.add((value, *self._known(value, task)), task)
            if batch.weight >= self.checker.share:
                yield batch
                batch = _Batch()
        if batch.items:
            yield batch

    def _known(self, value: list[Any], task: bytes) -> tuple[bytes, Examined | None]:
        if self.earlier is None or value[0] != FOUND:
            return NOTHING, None
        return self.earlier.find(value[1].encode("latin-1"), value[2], value[-2], task)

    def _done(self, checked: Spool, batch: _Batch) -> None:
        results = iter(batch.wait() if batch.wait is not None else ())
        for value, signature, known in batch.items:
            if value[0] != FOUND:
                checked.write(value)
                continue
            found = self._came(value, signature, next(results)) if known is None else known
            self.take(value, found)
            frame = [*value, signature.hex(), wire.from_examined(found)]
            checked.write(frame, found.thumbnail or b"")
        if self.earlier is not None:
            self.earlier.keeper.flush()
        self.report(sum(value[0] != NOTED for value, _, _ in batch.items))

    def _came(self, value: list[Any], signature: bytes, found: Examined) -> Examined:
        if self.earlier is None:
            return found
        return self.earlier.came(value[1].encode("latin-1"), signature, found)
