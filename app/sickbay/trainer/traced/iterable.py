"""The iterable kind of data set; apart, because torch tells it by its class."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from sickbay.trainer.traced.collating import Collate
from sickbay.trainer.traced.dataset import TracedIterator
from sickbay.trainer.traced.fetching import Fetching
from sickbay.trainer.traced.names import Paths

_data: Any = importlib.import_module("torch.utils.data")


class TracedIterable(_data.IterableDataset):
    """A data set with ``__iter__``, whose exceptions name the sample."""

    def __init__(self, dataset: Any, paths: Paths = None, on_bad: str = "raise") -> None:
        super().__init__()
        self.dataset = dataset
        self._fetch = Fetching(dataset, paths, on_bad)

    def __len__(self) -> int:
        return len(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        try:
            inner = iter(self.dataset)
        except Exception as error:  # noqa: BLE001 (raised again)
            self._fetch.stop(error, self._fetch.note("loader-error", ["index:0"], 0))
        return TracedIterator(self._fetch, inner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "dataset":
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def collate(self, collate_fn: Callable[[Any], Any] | None = None) -> Collate:
        """Return the ``collate_fn`` for the loader: the job's own one, or torch's, under watch."""
        self._fetch.here()
        return Collate(self._fetch, collate_fn)

    def path_of(self, index: int) -> str:
        """Return the path of the sample that was fetched last, else its number."""
        return self._fetch.path_of(index)

    def set_epoch(self, epoch: int) -> None:
        """Say the epoch, so that failures tell it; workers that run already learn it too."""
        self._fetch.set_epoch(epoch)
