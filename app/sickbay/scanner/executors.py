"""Where batches of samples are checked: in children of this process, or wherever an executor runs.

Whatever runs them, the decoding itself happens in guarded children, and the same tasks give the
same answers.
"""

import atexit
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from types import TracebackType
from typing import Self, TypeAlias

from sickbay.contract.errors import SickbayError
from sickbay.scanner.cache.versions import versions
from sickbay.scanner.checking import Wait
from sickbay.scanner.evidence import Examined
from sickbay.scanner.guard import Guards
from sickbay.scanner.process import COMMAND
from sickbay.scanner.task import Setup, Task
from sickbay.scanner.where import Place

Command: TypeAlias = tuple[str, ...]
"""How a child that decodes is started; each machine has its own interpreter."""
_AHEAD = 3  # batches in flight for each worker
_LOOK_SECONDS = 5.0  # between two looks whether somebody still works at what we wait for
_THREADS = 256  # of one process that an executor runs us in; a guard starts when it is needed


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Here:
    """Threads of this process, each with a guarded child at hand."""

    share = 1

    def __init__(
        self, workers: int, setup: Setup, place: Place, command: Command | None = None
    ) -> None:
        self.ahead = workers * _AHEAD
        self._place = place
        self._guards = Guards(workers, setup, command or COMMAND)
        self._threads = ThreadPoolExecutor(workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._guards.close()

    def submit(self, tasks: list[Task]) -> Wait:
        """Begin to check a batch."""
        return self._threads.submit(checked, self._guards, self._place, tasks).result


class There:
    """Any executor; what it loses is tried there once more, and then here.

    A pool of processes breaks for good when one of them is killed; then the rest is checked here.
    """

    def __init__(
        self,
        executor: Executor,
        workers: int,
        setup: Setup,
        place: Place,
        *,
        share: int = 1,
        alive: Callable[[], bool] = lambda: True,
        command: Command | None = None,
    ) -> None:
        self.ahead = workers * _AHEAD
        self.share = share
        self._alive = alive
        self._executor = executor
        self._job = Job(json.dumps(setup.to_json()), place, versions(), command)
        self._open: set[Future[list[Examined]]] = set()
        self._here = partial(Here, workers, setup, place, command)
        self._instead: Here | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for future in self._open:
            future.cancel()
        if self._instead is not None:
            self._instead.__exit__(kind, error, trace)

    def submit(self, tasks: list[Task]) -> Wait:
        """Begin to check a batch."""
        if self._instead is not None:
            return self._instead.submit(tasks)
        future = self._sent(tasks)
        return partial(self._wait, future, tasks)

    def _sent(self, tasks: list[Task]) -> "Future[list[Examined]] | None":
        """Give a batch to the executor, or nothing where it takes none any more."""
        try:
            future = self._executor.submit(check_elsewhere, self._job, tasks)
        except Exception:  # noqa: BLE001 (broken, shut down, or its scheduler is gone)
            return None
        self._open.add(future)
        return future

    def _wait(self, future: "Future[list[Examined]] | None", tasks: list[Task]) -> list[Examined]:
        for again in (True, False):
            if future is None:
                break
            try:
                return self._result(future)
            except SickbayError:
                raise
            except Exception:  # noqa: BLE001 (whatever befell the worker; its batch is not lost)
                self._open.discard(future)
                future = self._sent(tasks) if again else None
            finally:
                self._open -= {future}
        if self._instead is None:
            self._instead = self._here()
        return self._instead.submit(tasks)()

    def _result(self, future: "Future[list[Examined]]") -> list[Examined]:
        """Wait as long as there is anybody at work."""
        while not wait((future,), _LOOK_SECONDS).done:
            if not self._alive():
                future.cancel()
                raise Unfit
        return future.result()


@dataclass(frozen=True, slots=True)
class Job:
    """What another process is told of a scan: how, where, by which versions, in which children."""

    setup: str
    place: Place
    versions: tuple[str, ...]
    command: Command | None


@cache
def _guards(setup: str, command: Command) -> Guards:
    """Guards of a process that an executor runs us in; they end with it."""
    guards = Guards(_THREADS, Setup.from_json(json.loads(setup)), command)
    atexit.register(guards.close)
    return guards


class Unfit(Exception):
    """This process would find something else than the one that scans."""


def check_elsewhere(job: Job, tasks: Sequence[Task]) -> list[Examined]:
    """Check a batch in whatever process this is.

    Raises:
        Unfit: other versions look into samples here, or the files cannot be seen from here.
    """
    if versions() != job.versions or not job.place.reachable():
        raise Unfit
    return checked(_guards(job.setup, job.command or COMMAND), job.place, tasks)


def checked(guards: Guards, place: Place, tasks: Sequence[Task]) -> list[Examined]:
    """Bring the files here and check them."""
    return [found for where, some in place.at_hand(tasks) for found in guards.check(where, some)]
