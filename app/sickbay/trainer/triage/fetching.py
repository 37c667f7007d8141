"""Stages one and two: a batch in this process, and with workers."""

import functools
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer.blame.batches import leaves
from sickbay.trainer.job import TriageJob
from sickbay.trainer.loading.job import Job, data_of
from sickbay.trainer.shapes import signature
from sickbay.trainer.traced import loader_text, notes, witness
from sickbay.trainer.traced.arrivals import samples_of
from sickbay.trainer.traced.noted import noted
from sickbay.trainer.triage.bench import torch
from sickbay.trainer.triage.trouble import Trouble, of_error, some

_BATCH = 32
_BATCHES = 2
_DEFAULT_WORKERS = 2
_SEED = 7
_IN_LOADING = {Category.LOADING.value, Category.MEMORY.value}
_DATA_ADVICE = (
    "Look at the sample that is named. Go through all of them with `sickbay scan --loader "
    "module:factory`, decide on what is held, and train on the release."
)


@dataclass
class Source:
    """A job's data: what is fetched of them, and what came.

    Attributes:
        job: the data set under watch, and what its loader does.
        told: called with each sample before it is fetched.
        batches: those that were fetched, and the paths of their samples.
        drop_last: whether a last batch that is not full is left out.
    """

    job: Job
    drop_last: bool = False
    given: Any = None
    told: Callable[[str], None] = lambda _: None
    batches: list[tuple[Any, list[str]]] = field(default_factory=list)

    @functools.cached_property
    def rows(self) -> list[list[int]]:
        """The indexes of the first batches: as the loader draws them, else at random."""
        if getattr(self.given, "batch_sampler", None) is not None:
            return [list(one) for one in itertools.islice(self.given.batch_sampler, _BATCHES)]
        if getattr(self.given, "sampler", None) is not None:
            return [[one] for one in itertools.islice(self.given.sampler, _BATCHES)]
        generator = torch().Generator().manual_seed(_SEED)
        order = torch().randperm(len(self.job.data), generator=generator).tolist()
        size = self.job.batch_size or 1
        return [order[at : at + size] for at in range(0, min(len(order), _BATCHES * size), size)]


def source_of(job: TriageJob, data: Any = None) -> Source:
    """Return a job's data, or others that are loaded in the same way.

    Raises:
        Exception: what the data set raises when it is put under watch.
    """
    given = job.data if data is None else data
    made = data_of(given)
    if isinstance(given, torch().utils.data.DataLoader):
        size, collate = made.batch_size, made.collate
    else:
        size, collate = job.batch_size or _BATCH, job.collate_fn
    workers = job.num_workers if job.num_workers is not None else made.workers
    whole = Job(made.data, collate, size, workers, made.options)
    loader = given if isinstance(given, torch().utils.data.DataLoader) else None
    return Source(whole, bool(getattr(loader, "drop_last", False)), loader)


def one_batch(source: Source) -> str:
    """Stage one: fetch samples one after the other, and put them into batches."""
    job = source.job
    if job.indexed and not len(job.data):
        raise Trouble(
            "The data set is empty.",
            Category.LOADING,
            "Check the root, the split's name and the file extensions that are looked for.",
        )
    if job.indexed:
        for rows in source.rows:
            pairs = [_item(source, index) for index in rows]
            named = [path for path, _ in pairs]
            noted().take([])
            source.batches.append((_batch(job, [item for _, item in pairs], named), named))
    else:
        _from_stream(source)
    batch, named = source.batches[0]
    return f"{len(named)} samples: {'; '.join(signature(batch)) or type(batch).__name__}"


def _item(source: Source, index: int) -> tuple[str, Any]:
    """Fetch a sample; it may say its path itself, once it is there."""
    path = source.job.data.path_of(index)
    source.told(path)
    try:
        item = source.job.data[index]
    except Exception as error:
        raise _of_loading(error, f"Sample {path}") from error
    return source.job.data.path_of(index), item


def _from_stream(source: Source) -> None:
    stream = source.job.stream()
    for _ in range(_BATCHES):
        noted().take([])
        try:
            source.told("the next of the stream")
            items = list(itertools.islice(stream, source.job.batch_size or 1))
        except Exception as error:
            note = notes.on(error)
            at = f"Sample {note.paths[0]}" if note is not None and note.paths else "The data set"
            raise _of_loading(error, at) from error
        if items:
            named = [path for path, _ in noted().take(items)]
            source.batches.append((_batch(source.job, items, named), named))
    if not source.batches:
        raise Trouble("The data set yields nothing.", Category.LOADING)


def _batch(job: Job, items: list[Any], named: list[str]) -> Any:
    try:
        if job.batch_size is None:
            return (job.collate or torch().utils.data.default_convert)(items[0])
        return job.batch(items)
    except Exception as error:
        odd = _odd(job, items, named)
        words = f"; unlike the others: {some(odd)}" if odd else f"; samples: {some(named)}"
        trouble = of_error(error, "Putting samples into a batch", Layer.DATA, "loader-error")
        raise Trouble(
            trouble.message + words,
            Category.LOADING,
            "Make all samples of one shape and type in the transforms, or pad them in a "
            "collate_fn. `sickbay scan --loader module:factory` names all that do not fit.",
        ) from error


def _odd(job: Job, items: list[Any], named: list[str]) -> list[str]:
    """Name the samples whose shapes are unlike most, each with its shape."""
    kinds = [signature(item) for item in items]
    usual = max(kinds, key=kinds.count)
    alone = [f"{path} is {', '.join(kind)}" for path, kind in zip(named, kinds, strict=True)]
    found = [one for one, kind in zip(alone, kinds, strict=True) if kind != usual]
    if found and job.batch_size is not None:
        return [*found, f"where most are {', '.join(usual)}"]
    return []


def with_workers(source: Source, workers: int | None, timeout: float) -> str:
    """Stage two: the same samples, by workers."""
    job = source.job
    count = workers if workers is not None else job.workers or _DEFAULT_WORKERS
    if not count:
        return ""
    _sendable(source)
    rows = source.rows if job.indexed else None
    arrived = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # more workers than cores is the job's business
            for batch in itertools.islice(job.loader(count, timeout, rows), _BATCHES):
                arrived.append(batch)
                source.told(f"batch {len(arrived)} of the workers")
    except Exception as error:
        raise _of_worker(error, count) from error
    if not job.indexed:
        source.batches = [(batch, samples_of(batch)) for batch in arrived] or source.batches
    batches = f"{len(arrived)} batch{'es' if len(arrived) > 1 else ''}"
    return f"{batches} from {_workers(count)}.{_twice(source, arrived, count)}"


def _workers(count: int) -> str:
    return f"{count} worker{'s' if count > 1 else ''}"


def _sendable(source: Source) -> None:
    """Refuse a batch that no worker can send: the loader would wait for it for ever."""
    from multiprocessing.reduction import ForkingPickler  # noqa: PLC0415 (not on every platform)

    batch, named = source.batches[0]
    try:
        ForkingPickler.dumps(batch)
    except Exception as error:
        trouble = of_error(error, "A worker cannot send its batch: pickling it", Layer.DATA)
        raise Trouble(
            f"{trouble.message}; samples: {some(named)}",
            Category.LOADING,
            "Return tensors, numbers and texts only from the data set and its collate_fn, no "
            "open files, generators, locks or local functions.",
        ) from error


def _twice(source: Source, arrived: list[Any], count: int) -> str:
    """Tell of a stream that each worker goes through as a whole."""
    if source.job.indexed or count < 2 or len(arrived) < 2:  # noqa: PLR2004 (two of them)
        return ""
    pairs = list(zip(leaves(arrived[0]), leaves(arrived[1]), strict=False))
    if not pairs or not all(torch().equal(one, other) for one, other in pairs):
        return ""
    return (
        " Note: two workers gave the same samples; share the stream out by "
        "torch.utils.data.get_worker_info(), or each is used several times an epoch."
    )


def _of_loading(error: Exception, what: str) -> Trouble:
    trouble = of_error(error, what, Layer.DATA, FailureKind.LOADER_ERROR)
    category = Category.MEMORY if trouble.category == Category.MEMORY else Category.LOADING
    return Trouble(trouble.message, category, _DATA_ADVICE, Layer.DATA)


def _of_worker(error: Exception, count: int) -> Trouble:
    known = witness.known_of(error)
    note = notes.on(error)
    paths = [one["path"] if isinstance(one, dict) else one for one in known.get("samples", ())]
    named = some(paths or (note.paths if note is not None else ()))
    what = f"With {_workers(count)} the loader" + (f", at {named}," if named else "")
    trouble = of_error(error, what, Layer.DATA, FailureKind.WORKER_KILLED)
    wrapped = loader_text.wrapped(str(error))
    words = f"{what} raised {wrapped.type}: {wrapped.message}" if wrapped else trouble.message
    category = Category.MEMORY if trouble.category == Category.MEMORY else Category.LOADING
    return Trouble(
        notes.without(words),
        category,
        "Without workers the same samples come. Open files, databases and generators in each "
        "worker (in __getitem__ or worker_init_fn) and not before, keep out what cannot be "
        "pickled, and try num_workers=1.",
        Layer.DATA,
    )
