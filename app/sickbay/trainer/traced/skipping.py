"""Samples that were left out because their fetching failed: counted, by class, and said.

A skip is decided in a worker and travels to the main process with the batch that lacks the
sample. There each path is told once as a failure, and the count is said on the console and noted
on the run at the first, second, fourth, eighth … skip, and when the run ends.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import sickbay.trainer as kit
from sickbay.trainer import complaints
from sickbay.trainer.complaints import harmless
from sickbay.trainer.traced import arrivals, telling, witness
from sickbay.trainer.traced.arrivals import Facts

_MOST_PATHS = 10_000
_MOST_LABELS = 2_000_000
_MOST_SHOWN = 12


class Skipped:
    """Stands for a sample that could not be fetched; ``Traced.collate`` takes it out."""

    def __init__(self, record: Mapping[str, Any], error: Exception) -> None:
        self.record = record
        self.error = error


class Balance:
    """Which class a sample is of, and how many there are of it."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._totals: Counter[Any] | None = None

    def of(self, index: Any, path: str) -> dict[str, Any]:
        """Return the class of a sample, and the size of the class where the data set says it."""
        label = self._label(index)
        if label is None:
            parent = path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2]
            return {"class": parent or "unknown"}
        return {"class": self._name(label), "of": self._sizes().get(label)}

    def _label(self, index: Any) -> Any:
        with suppress(Exception):
            return _plain(self._labels()[index])
        with suppress(Exception):
            return _plain(self._dataset.samples[index][1])
        return None

    def _labels(self) -> Any:
        found = getattr(self._dataset, "targets", None)
        return found if found is not None else self._dataset.labels

    def _name(self, label: Any) -> str:
        with suppress(Exception):
            return str(self._dataset.classes[label])
        return str(label)

    def _sizes(self) -> Counter[Any]:
        if self._totals is None:
            self._totals = Counter()
            with suppress(Exception):
                labels = self._labels()
                if len(labels) <= _MOST_LABELS:
                    self._totals = Counter(map(_plain, labels))
        return self._totals


class _Tally:
    """The skips of this process's loaders so far."""

    def __init__(self) -> None:
        self.count = self.said = 0
        self.classes: Counter[str] = Counter()
        self.sizes: dict[str, int] = {}
        self.paths: set[str] = set()

    def add(self, record: Mapping[str, Any]) -> bool:
        """Count a skip; whether it is its path's first."""
        self.count += 1
        name = str(record.get("class"))
        self.classes[name] += 1
        size = record.get("of")
        if isinstance(size, int):
            self.sizes[name] = size
        path = "".join(str(one["path"]) for one in record["samples"])
        if path in self.paths or len(self.paths) >= _MOST_PATHS:
            return False
        self.paths.add(path)
        return True

    def words(self) -> str:
        shown = self.classes.most_common(_MOST_SHOWN)
        parts = [
            f"{name} {count}" + (f" (of {self.sizes[name]})" if name in self.sizes else "")
            for name, count in shown
        ]
        more = len(self.classes) - len(shown)
        return ", ".join(parts) + (f", {more} more classes" if more else "")


_tally = _Tally()


@harmless(None)
def take(facts: Facts) -> None:
    """Count and tell what a batch lacks."""
    for record in facts.skipped:
        if _tally.add(record):
            telling.pass_on_one({**record, "policy": "skip"})
        if _tally.count & (_tally.count - 1) == 0:
            say()


@harmless(None)
def say() -> None:
    """Say how many were skipped, of which classes, unless that was said."""
    if _tally.count == _tally.said:
        return
    before, _tally.said = _tally.said, _tally.count
    words = f"{len(_tally.paths)} different ones, by class: {_tally.words()}"
    complaints.log.warning("%d samples were skipped so far (%s)", _tally.count, words)
    kit.run().change("skipped samples", before, _tally.count, words)
    if not before:
        kit.run().alert("Samples are being skipped", words)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


arrivals.arrived.append(take)
witness.leaving.append(say)
