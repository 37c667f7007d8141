"""Which samples each step used, from the training's thread to events."""

import math
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from sickbay.contract.blame import MAX_STEPS, MAX_USED, Batches, Sample
from sickbay.trainer.places import below

MOST_WAITING = 200_000
"""Samples that wait for the writer at most, each counted as often as it was used."""
_MOST_PATHS = 300_000
"""Characters of the paths in one event: with the columns, well below what a body may be."""
Used: TypeAlias = tuple[int, tuple[Any, ...], Any]
"""A step, its samples, and their losses or nothing."""


class Waiting:
    """Steps that wait for the writer; ``append`` and ``popleft`` of a deque take no lock."""

    def __init__(self) -> None:
        self.root: str | None = None
        self._steps: deque[Used] = deque()
        self._samples = 0
        self._last: tuple[int, tuple[Any, ...]] | None = None

    def put(self, step: int, samples: Sequence[Any], losses: Any) -> bool:
        """Leave one step; whether there was room for it.

        A step that is told again, as by a loop and by a watch, is sent once while it waits: with
        the losses, whoever knew them. One that is on its way already is sent again for them only.
        """
        kept = tuple(samples)
        again = self._last == (step, kept)
        if again and (losses is None or self._completed(step, kept, losses)):
            return True
        if self._samples + len(kept) > MOST_WAITING or len(kept) > MAX_USED:
            return False
        self._samples += len(kept)
        self._last = step, kept
        self._steps.append((step, kept, losses))
        return True

    def _completed(self, step: int, samples: tuple[Any, ...], losses: Any) -> bool:
        """Put losses to the newest step that waits; not where the writer has it by now."""
        try:
            self._steps.pop()
        except IndexError:
            return False
        self._steps.append((step, samples, losses))
        return True

    def take(self) -> Iterator[Batches]:
        """Fetch what waits, as bodies of events."""
        found = [self._steps.popleft() for _ in range(len(self._steps))]
        self._samples -= sum(len(samples) for _, samples, _ in found)
        return _bodies(found, self.root)


def _bodies(steps: Sequence[Used], root: str | None) -> Iterator[Batches]:
    made = _Columns()
    for step, samples, losses in steps:
        if not made.takes(len(samples)):
            yield made.body()
            made = _Columns()
        made.add(step, [below(one, root) for one in samples], _numbers(losses, len(samples)))
    if made.steps:
        yield made.body()


def _numbers(losses: Any, count: int) -> list[float]:
    """Return one loss a sample; NaN where they are not known or make no sense."""
    try:
        listed = losses.tolist() if hasattr(losses, "tolist") else list(losses or ())
        numbers = [float(one) for one in listed]
    except Exception:  # noqa: BLE001 (a foreign object may raise anything)
        numbers = []
    return numbers if len(numbers) == count else [math.nan] * count


class _Columns:
    def __init__(self) -> None:
        self.steps, self._counts, self._samples = array("q"), array("q"), array("q")
        self._losses = array("d")
        self._places: dict[bytes, int] = {}
        self._paths: list[Sample] = []
        self._size = 0

    def takes(self, samples: int) -> bool:
        """Whether a step of so many samples still fits; an empty one takes any."""
        if not self.steps:
            return True
        room = len(self._samples) + samples <= MAX_USED and len(self.steps) < MAX_STEPS
        return room and self._size < _MOST_PATHS

    def add(self, step: int, paths: Sequence[Any], losses: Sequence[float]) -> None:
        self.steps.append(step)
        self._counts.append(len(paths))
        self._losses.extend(losses)
        for path in paths:
            place = self._places.setdefault(path.raw, len(self._paths))
            if place == len(self._paths):
                self._paths.append(Sample(path.text, path.base64))
                self._size += len(path.text) + len(path.base64 or "")
            self._samples.append(place)

    def body(self) -> Batches:
        known = any(not math.isnan(one) for one in self._losses)
        losses = self._losses if known else array("d")
        return Batches(self.steps, self._counts, self._samples, tuple(self._paths), losses)
