"""The second step of a scan: samples go out in batches and what was found comes back in order."""

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from sickbay.scanner import wire
from sickbay.scanner.evidence import Examined
from sickbay.scanner.spool import Spool
from sickbay.scanner.task import Task
from sickbay.scanner.walking import FOUND, NOTED

Wait: TypeAlias = Callable[[], list[Examined]]
"""Waits for a batch and returns what was found, in the order of its tasks."""
Take: TypeAlias = Callable[[list[Any], Examined], None]
"""Called with the frame of each sample and what was found, in the order of the walk."""
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

    items: list[list[Any]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    weight: float = 0.0
    wait: Wait | None = None

    def add(self, value: list[Any], task: bytes) -> None:
        """Take one item in; at a weight of 1 the batch is full."""
        self.items.append(value)
        self.weight += 1 / _ITEMS
        if value[0] == FOUND:
            self.tasks.append(Task.from_json(json.loads(task)))
            self.weight += 1 / _OF_A_KIND.get(value[2], _FILES) + len(task) / _BYTES


def check_into(
    checked: Spool, walked: Spool, checker: Checker, take: Take, report: Callable[[int], None]
) -> None:
    """Check everything that was walked and spool what was found, in the same order."""
    waiting: deque[_Batch] = deque()
    for batch in _batches(walked, checker.share):
        batch.wait = checker.submit(batch.tasks) if batch.tasks else None
        waiting.append(batch)
        if len(waiting) > checker.ahead:
            report(_taken(checked, waiting.popleft(), take))
    while waiting:
        report(_taken(checked, waiting.popleft(), take))


def _batches(walked: Spool, share: int) -> Iterator[_Batch]:
    batch = _Batch()
    for value, task in walked.frames():
        batch.add(value, task)
        if batch.weight >= share:
            yield batch
            batch = _Batch()
    if batch.items:
        yield batch


def _taken(checked: Spool, batch: _Batch, take: Take) -> int:
    """Spool one batch and return how many samples and skipped it held."""
    results = iter(batch.wait() if batch.wait is not None else ())
    for value in batch.items:
        if value[0] != FOUND:
            checked.write(value)
            continue
        found = next(results)
        take(value, found)
        checked.write([*value, wire.from_examined(found)], found.thumbnail or b"")
    return sum(value[0] != NOTED for value in batch.items)
