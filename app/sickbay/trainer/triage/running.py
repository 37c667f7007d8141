"""All stages in order, up to the first that fails."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import sickbay.trainer as kit
from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.report import Passed, Report, Stage
from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer import random_states
from sickbay.trainer.job import TriageJob, job_of
from sickbay.trainer.plain import text
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.fetching import Source, one_batch, source_of, with_workers
from sickbay.trainer.triage.trouble import Trouble, of_error, said_by

STAGES = (
    "the job is made",
    "one batch",
    "workers",
    "batch contents",
    "train and validation",
    "forward",
    "loss",
    "backward",
    "a few steps",
    "mixed precision",
    "export",
)
TITLE = "Triage"
STEPS = 20
TIMEOUT = 120.0
_MOST_WORDS = 2000
"""Characters of a stage's message."""
_ALL_WELL = "All stages passed. Go through all samples with `sickbay scan --loader` next."


@dataclass(frozen=True, slots=True)
class Options:
    """How to take a job apart.

    Attributes:
        steps: of the stage that trains on one batch.
        workers: of the loader; its own number, or two, where nothing is said; 0 for none.
        timeout: seconds that a worker's batch may take.
        device: where the model is tried; where it is, if nothing is said.
    """

    steps: int = STEPS
    workers: int | None = None
    timeout: float = TIMEOUT
    device: str | None = None


@dataclass(slots=True)
class Watcher:
    """Who is told how far it is: a stage begins, something goes on, a stage ended."""

    begins: Callable[[str], None] = lambda _: None
    alive: Callable[[], None] = lambda: None
    at: Callable[[str], None] = lambda _: None
    ended: Callable[[Stage], None] = lambda _: None


class _Skip(Exception):
    """A stage does not apply; why is its text."""


class _Job:
    """A job on its way through the stages."""

    def __init__(self, made: Any, options: Options, watcher: Watcher) -> None:
        self._made = made
        self._options = options
        self._watcher = watcher
        self._job: TriageJob
        self._source: Source
        self._bench: Bench

    def stages(self) -> Iterator[tuple[str, Callable[[], str]]]:
        """Return the stages, each with what it does; that returns what it saw."""
        acts = (
            self._make,
            lambda: one_batch(self._source),
            self._workers,
            self._contents,
            self._between,
            self._forward,
            self._loss,
            self._backward,
            self._steps,
            self._precision,
            self._export,
        )
        yield from zip(STAGES, acts, strict=True)

    def _make(self) -> str:
        made, own = self._made, False
        if callable(made) and not hasattr(made, "data") and not hasattr(made, "named_parameters"):
            own = True
            try:
                made = made()
            except Exception as error:
                raise _not_made(error) from error
        self._job = job_of(made)
        if self._options.device == "cuda" and not torch().cuda.is_available():
            raise BadInput("There is no CUDA device here; leave out --device, or take cpu.")
        try:
            self._source = source_of(self._job)
            self._source.told = self._watcher.at
            self._bench = Bench(self._job, self._options.device, own=own, alive=self._watcher.alive)
        except SickbayError:
            raise
        except Exception as error:
            raise _not_made(error) from error
        ready = [one for one in self._bench.model.parameters() if not hasattr(one, "materialize")]
        count = sum(one.numel() for one in ready)
        return f"{type(self._job.model).__name__}, {count:,} parameters, on {self._bench.device}."

    def _workers(self) -> str:
        said = with_workers(self._source, self._options.workers, self._options.timeout)
        if not said:
            raise _Skip("No workers were asked for.")
        return said

    def _contents(self) -> str:
        from sickbay.trainer.triage.contents import contents  # noqa: PLC0415 (when it is its turn)

        return contents(self._source, self._bench)

    def _between(self) -> str:
        from sickbay.trainer.triage.between import between  # noqa: PLC0415 (as above)

        if self._job.validation is None:
            raise _Skip("No validation data were given.")
        other = source_of(self._job, self._job.validation)
        other.told = self._watcher.at
        try:
            return between(self._source, other)
        except Trouble:
            raise
        except Exception as error:
            raise of_error(error, "A sample", Layer.DATA, "loader-error") from error

    def _forward(self) -> str:
        from sickbay.trainer.triage.passes import forward  # noqa: PLC0415 (as above)

        return forward(self._source, self._bench)

    def _loss(self) -> str:
        from sickbay.trainer.triage.passes import loss  # noqa: PLC0415 (as above)

        return loss(self._bench)

    def _backward(self) -> str:
        from sickbay.trainer.triage.gradients import backward  # noqa: PLC0415 (as above)

        return backward(self._bench)

    def _steps(self) -> str:
        from sickbay.trainer.triage.steps import steps  # noqa: PLC0415 (as above)

        return steps(self._bench, self._options.steps)

    def _precision(self) -> str:
        from sickbay.trainer.triage.precision import precision  # noqa: PLC0415 (as above)

        return precision(self._bench)

    def _export(self) -> str:
        from sickbay.trainer.triage.export import export  # noqa: PLC0415 (as above)

        if not self._job.export:
            raise _Skip("The model is not to be exported.")
        if self._job.step is not None:
            raise _Skip("How the model is called is known to the job's own step only.")
        return export(self._bench)


def run(made: Any, options: Options, watcher: Watcher | None = None) -> Report:
    """Take a job apart; see ``triage``.

    Raises:
        BadInput: the job is none, or there is no torch here.
    """
    try:
        torch()
    except ModuleNotFoundError:
        raise BadInput("Triage needs torch: run this where the job runs.") from None
    watcher = watcher or Watcher()
    with (
        random_states.restored(random_states.take()),
        _drawn_anew(made),
        torch().enable_grad(),
    ):
        report = _through(_Job(made, options, watcher), watcher)
    kit.run().report(report)
    return report


@contextmanager
def _drawn_anew(made: Any) -> Iterator[None]:
    """Set the generators of the job's own loaders back, if it has some."""
    loaders = [getattr(made, name, None) for name in ("data", "validation")]
    if isinstance(made, tuple | list | dict):
        loaders = list(made.values() if isinstance(made, dict) else made)
    places = [place for one in loaders for place in (one, getattr(one, "sampler", None))]
    found = [getattr(place, "generator", None) for place in places]
    kept = [(one, one.get_state()) for one in found if isinstance(one, torch().Generator)]
    try:
        yield
    finally:
        for generator, state in kept:
            generator.set_state(state)


def _through(job: _Job, watcher: Watcher) -> Report:
    done: list[Stage] = []
    for name, act in job.stages():
        watcher.begins(name)
        began = time.monotonic()
        try:
            stage = _stage(name, Passed.PASSED, act(), began)
        except _Skip as why:
            stage = Stage(name, Passed.SKIPPED, str(why))
        except SickbayError:
            raise
        except Exception as error:  # noqa: BLE001 (what a job does is unforeseen; its report is not lost)
            trouble = _trouble(error)
            stage = _stage(name, Passed.FAILED, trouble.message, began)
            watcher.ended(stage)
            return failed([*done, stage], trouble)
        watcher.ended(stage)
        done.append(stage)
    return Report(TITLE, Passed.PASSED, tuple(done), advice=_ALL_WELL)


def _trouble(error: Exception) -> Trouble:
    return error if isinstance(error, Trouble) else of_error(error, "This stage", Layer.MODEL)


def _stage(name: str, outcome: Passed, message: str, began: float) -> Stage:
    with suppress(UnicodeEncodeError):  # a name that is not UTF-8 is shown as everywhere else
        message = message.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return Stage(name, outcome, text(message, _MOST_WORDS), time.monotonic() - began)


def failed(done: list[Stage], trouble: Trouble) -> Report:
    """Return the report that ends with the stage that failed; the others were not reached."""
    left = STAGES[len(done) :]
    stages = (*done, *(Stage(name, Passed.SKIPPED, "Not reached.") for name in left))
    return Report(TITLE, Passed.FAILED, stages, trouble.layer, trouble.category, trouble.advice)


def _not_made(error: Exception) -> Trouble:
    trouble = of_error(error, "The factory", Layer.MODEL)
    category = next((one for one in Category if one.value == trouble.category), None)
    if category is None:
        category = Category.INITIALISATION
    layer = Layer.DATA if category is Category.LOADING else None
    return Trouble(trouble.message or said_by(error), category, "", layer)
