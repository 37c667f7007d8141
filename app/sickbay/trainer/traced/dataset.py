"""Data sets whose samples are known by their paths, whatever happens to them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sickbay.trainer.traced import names
from sickbay.trainer.traced.collating import Collate
from sickbay.trainer.traced.fetching import Fetching
from sickbay.trainer.traced.names import Paths
from sickbay.trainer.traced.skipping import Skipped

_MOST_IN_A_ROW = 100
"""Failures after which an iterable data set is taken for one that will not go on."""


class TracedMap:
    """A data set with ``__getitem__``, whose exceptions name the sample."""

    def __init__(self, dataset: Any, paths: Paths = None, on_bad: str = "raise") -> None:
        self.dataset = dataset
        self._fetch = Fetching(dataset, paths, on_bad)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        fetch = self._fetch
        path = fetch.names.of(index)
        fetch.begin(index, path)
        try:
            item = self.dataset[index]
        except IndexError as error:
            if self._beyond(index):
                fetch.idle()
                raise
            item = fetch.bad(error, path, index)
        except Exception as error:  # noqa: BLE001 (raised again, or the policy is to skip)
            item = fetch.bad(error, path, index)
        fetch.got(item, path, index)
        return item

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":
            return self._many if hasattr(self.dataset, "__getitems__") else None
        if name.startswith("__") or name == "dataset":
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def collate(self, collate_fn: Callable[[Any], Any] | None = None) -> Collate:
        """Return the ``collate_fn`` for the loader: the job's own one, or torch's, under watch."""
        self._fetch.here()
        return Collate(self._fetch, collate_fn, self._another)

    def path_of(self, index: Any) -> str:
        """Return a sample's path, as far as it is known by its index."""
        return self._fetch.path_of(index)

    def set_epoch(self, epoch: int) -> None:
        """Say the epoch, so that failures tell it; workers that run already learn it too."""
        self._fetch.set_epoch(epoch)

    def _beyond(self, index: Any) -> bool:
        """Whether an index error only ends a loop over the data set."""
        return isinstance(index, int) and hasattr(self.dataset, "__len__") and index >= len(self)

    def _another(self, index: int) -> Any:
        return self[index % len(self)]

    def _many(self, indices: Sequence[Any]) -> list[Any]:
        """Fetch a batch at once; where that fails, one by one, to see which it is."""
        fetch = self._fetch
        paths = [fetch.names.of(index) for index in indices]
        fetch.begin(-1, paths[0] if paths else "")
        fetch.collating(paths)
        try:
            items = list(self.dataset.__getitems__(indices))
        except Exception as error:  # noqa: BLE001 (raised again below, or the policy is to skip)
            return self._one_by_one(error, indices, paths)
        for item, path, index in zip(items, paths, indices, strict=False):
            fetch.got(item, path, index)
        fetch.idle()
        return items

    def _one_by_one(
        self, error: Exception, indices: Sequence[Any], paths: Sequence[str]
    ) -> list[Any]:
        items = [
            self._alone(error, index, path) for index, path in zip(indices, paths, strict=True)
        ]
        if not any(isinstance(item, Skipped) for item in items):
            self._fetch.stop(error, self._fetch.note("loader-error", paths))
        for item, path, index in zip(items, paths, indices, strict=True):
            self._fetch.got(item, path, index)
        return items

    def _alone(self, error: Exception, index: Any, path: str) -> Any:
        """Fetch one of a batch that failed; where it fails too, it is the cause."""
        try:
            return self.dataset[index]
        except Exception:  # noqa: BLE001 (the batch's own exception is what is raised)
            return self._fetch.bad(error, path, index)


class TracedIterator:
    """The items of an iterable data set, one after the other."""

    def __init__(self, fetch: Fetching, inner: Iterator[Any]) -> None:
        self._fetch = fetch
        self._inner = inner
        self._count = 0
        self._in_a_row = 0
        self._last: Skipped | None = None
        self._after = ""

    def __iter__(self) -> "TracedIterator":
        return self

    def __next__(self) -> Any:
        fetch = self._fetch
        fetch.begin(self._count, f"index:{self._count}")
        try:
            item = next(self._inner)
        except StopIteration:
            fetch.idle()
            self._ended()
            raise
        except Exception as error:  # noqa: BLE001 (raised again, or the policy is to skip)
            return self._bad(error)
        path = fetch.names.of_item(item, self._count)
        if fetch.names.vague(path):
            path = names.in_generator(self._inner) or path
        fetch.got(item, path, self._count)
        self._after, self._last, self._in_a_row = path, None, 0
        self._count += 1
        return item

    def _bad(self, error: Exception) -> Skipped:
        path = f"index:{self._count}"
        item = self._fetch.bad(error, path, self._count, after=self._after)
        self._in_a_row += 1
        if self._in_a_row > _MOST_IN_A_ROW:
            self._stop(item)
        self._fetch.got(item, path, self._count)
        self._last = item
        self._count += 1
        return item

    def _ended(self) -> None:
        """Refuse to take for the end what is only a generator that broke."""
        if self._last is not None:
            self._stop(self._last)

    def _stop(self, skipped: Skipped) -> None:
        note = self._fetch.note("loader-error", [one["path"] for one in skipped.record["samples"]])
        self._fetch.stop(skipped.error, note, policy="an iterable that does not go on stops")
