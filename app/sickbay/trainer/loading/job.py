"""What ``module:factory`` makes: a data set, a loader, or a data set with its collate."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.trainer.job import whole_job
from sickbay.trainer.traced import Traced
from sickbay.trainer.traced.collating import Collate

_BATCH = 32
_TAKEN = ("worker_init_fn", "multiprocessing_context", "pin_memory")
"""Options of a loader that are kept when it is made anew."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job's data: under watch, with what its loader does."""

    data: Any
    collate: Callable[[Any], Any] | None
    batch_size: int | None
    workers: int | None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def indexed(self) -> bool:
        """Whether its samples can be fetched by index, so that one may go on behind a bad one."""
        return not isinstance(self.data, _torch_data().IterableDataset)

    def batch(self, items: list[Any]) -> Any:
        """Put items together as the job does."""
        if self.batch_size is None:
            return items[0]
        return (self.collate or _torch_data().default_collate)(items)

    def loader(self, workers: int, timeout: float, batches: list[list[int]] | None) -> Any:
        """Make a loader with workers, of these batches of indexes, or of all."""
        chosen: dict[str, Any] = {"batch_size": self.batch_size}
        if batches is not None and self.batch_size is not None:
            chosen = {"batch_sampler": batches}
        elif batches is not None:
            chosen["sampler"] = [index for batch in batches for index in batch]
        return _torch_data().DataLoader(
            self.data,
            collate_fn=self.data.collate(self.collate),
            num_workers=workers,
            timeout=timeout,
            **chosen,
            **self.options,
        )

    def stream(self) -> Iterator[Any]:
        """Go through an iterable data set."""
        return iter(self.data)


def job_of(spec: str) -> Job:
    """Import a factory and call it.

    Raises:
        BadInput: there is no such factory, or what it makes is no data set.
        Exception: what the module or the factory raises.
    """
    module, _, name = spec.partition(":")
    if not module or not name:
        raise BadInput(f"--loader is module:factory, not {spec!r}.")
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 (sys.path holds text)
    try:
        factory = getattr(importlib.import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BadInput(f"--loader {spec}: {error}.") from None
    return _job(factory() if callable(factory) else factory, spec)


def _job(made: Any, spec: str) -> Job:
    if (whole := whole_job(made)) is not None:
        found = data_of(whole.data, whole.collate_fn)
        size = found.batch_size if whole.batch_size is None else whole.batch_size
        workers = found.workers if whole.num_workers is None else whole.num_workers
        return replace(found, batch_size=size, workers=workers)
    dataset, collate = made if isinstance(made, tuple) and len(made) == 2 else (made, None)  # noqa: PLR2004 (a pair)
    if not hasattr(dataset, "__getitem__") and not hasattr(dataset, "__iter__"):
        raise BadInput(f"--loader {spec} made a {type(made).__name__}, which is no data set.")
    return data_of(dataset, collate)


def data_of(data: Any, collate: Callable[[Any], Any] | None = None) -> Job:
    """Put a data set, or a loader's, under watch, with what its loader does."""
    if isinstance(data, _torch_data().DataLoader):
        return _of_loader(data)
    return Job(_traced(data), collate, _BATCH, None)


def _of_loader(loader: Any) -> Job:
    collate = loader.collate_fn
    if isinstance(collate, Collate):
        collate = collate.own
    size = loader.batch_size
    if size is None and loader.batch_sampler is not None:
        size = getattr(loader.batch_sampler, "batch_size", _BATCH)
    options = {name: getattr(loader, name) for name in _TAKEN}
    return Job(_traced(loader.dataset), collate, size, loader.num_workers, options)


def _traced(dataset: Any) -> Any:
    return (
        dataset
        if hasattr(type(dataset), "collate") and hasattr(dataset, "_fetch")
        else Traced(dataset)
    )


def _torch_data() -> Any:
    return importlib.import_module("torch.utils.data")
