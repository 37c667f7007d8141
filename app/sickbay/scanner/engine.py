"""The scan: walk, check in guarded children, look at the whole, write records in order.

Nothing a file does ends a scan, and found = clean + held + skipped, always. The first pass spools
what each file gave and keeps some seventy bytes a sample; the second adds what only the whole set
can tell and streams the records, in order of raw path, to the sink. The same data give the same
records, whatever the executor and the number of workers.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Depth, ScanRecord, SummaryRecord
from sickbay.scanner.cache import Cache, Earlier
from sickbay.scanner.checking import Checking
from sickbay.scanner.checks.whole import FirstPass
from sickbay.scanner.cluster import SHARE, connected
from sickbay.scanner.executors import Command, Here, There, processors
from sickbay.scanner.out import Out
from sickbay.scanner.sink import Sink
from sickbay.scanner.sources import layouts
from sickbay.scanner.sources.choose import AUTO, Choice, choose
from sickbay.scanner.spool import Spool
from sickbay.scanner.task import Setup
from sickbay.scanner.trees import Tree
from sickbay.scanner.trees.opened import opened
from sickbay.scanner.walking import walk_into
from sickbay.scanner.writing import note, write_out

__all__ = ["Progress", "Step", "processors", "scan"]


class Step(StrEnum):
    """What a scan is at."""

    WALKING = "finding files"
    CHECKING = "checking"
    WRITING = "comparing and writing"


Progress = Callable[[Step, int, int], None]
"""Called now and then with the step, how many samples are done in it, and how many are found."""


def scan(
    root: str | os.PathLike[str],
    *,
    dataset: str,
    sink: Sink,
    layout: str = "imagefolder",
    workers: int | None = None,
    setup: Setup | None = None,
    progress: Progress | None = None,
    executor: Executor | str | None = None,
    chosen: Callable[[Choice], None] | None = None,
    cache: Cache | None = None,
    command: Command | None = None,
) -> SummaryRecord:
    """Scan one data set and write its records to ``sink``.

    Args:
        root: the folder that holds the samples, or a URL that fsspec reads.
        dataset: the data set's name.
        sink: where records go; it is finished at the end, aborted on any error.
        layout: one of ``LAYOUTS``, or ``auto``, which looks.
        workers: decoding processes; as many as there are processors by default.
        setup: how to check: limits, policy and depth.
        progress: called now and then, see :data:`Progress`.
        executor: runs the batches elsewhere, or ``dask://HOST:PORT``; threads of this process by
            default.
        chosen: called with the layout that ``auto`` chose, and why.
        cache: what earlier scans found, so that only what changed is read.
        command: how to start the children that decode.

    Returns:
        The totals, as written to the sink.

    Raises:
        BadInput: no such layout, or the root is missing, empty, unreadable or no folder.
        StorageFailed: the sink or the folder for temporary files cannot be written.
    """
    try:
        tree = opened(root)
        name = _chosen(tree, chosen) if layout == AUTO else layout
        count = workers or processors()
        job = _Job(tree, count, setup or Setup(), progress, executor, command)
        with _opened(cache, tree, name, dataset) as earlier:
            return job.run(sink, dataset, name, earlier)
    except BaseException:
        sink.abort()
        raise


def _chosen(tree: Tree, told: Callable[[Choice], None] | None) -> str:
    choice = choose(tree)
    if told is not None:
        told(choice)
    return choice.name


@contextmanager
def _opened(cache: Cache | None, tree: Tree, layout: str, dataset: str) -> Iterator[Earlier | None]:
    if cache is None:
        yield None
        return
    with cache.of(tree.real, layout, dataset) as earlier:
        yield earlier


@dataclass(slots=True)
class _Job:
    """One scan's steps, in the order of its methods."""

    tree: Tree
    workers: int
    setup: Setup
    progress: Progress | None
    executor: Executor | str | None
    command: Command | None
    found: int = 0
    done: int = 0

    def run(self, sink: Sink, dataset: str, layout: str, earlier: Earlier | None) -> SummaryRecord:
        """Write the records of the last scan where nothing changed since, else scan."""
        self._report(Step.WALKING, 0)
        if earlier is None:
            return self._scan(Out(sink), dataset, layout, None)
        same = earlier.same(self.tree, self.setup)
        out = Out(sink, earlier.keeper, same)
        if (records := earlier.again(same)) is None:
            return self._scan(out, dataset, layout, earlier)
        summary = out.again(records, self._walking)
        earlier.counts.reused = summary.clean + summary.held
        return summary

    def _scan(self, out: Out, dataset: str, layout: str, earlier: Earlier | None) -> SummaryRecord:
        with closing(Spool()) as walked, closing(Spool()) as checked:
            self.walk(walked, layout, earlier)
            first = self.check(checked, walked, earlier)
            return self.write(checked, first, out, dataset, layout)

    def walk(self, walked: Spool, layout: str, earlier: Earlier | None) -> None:
        """Find all samples, and the classes."""
        source = layouts.source(layout, self.tree, self.setup.policy, self.setup.tables)
        keys = None if earlier is None else partial(earlier.keys, self.tree)
        self.found = walk_into(walked, source, self.setup.policy, self._walking, keys)
        if not self.found and next(walked.frames(), None) is None:
            raise BadInput(f"The folder {self.tree.where!r} is empty; there is nothing to scan.")
        self.setup = replace(self.setup, classes=source.classes)
        if earlier is not None:
            earlier.begin(self.setup)

    def check(self, checked: Spool, walked: Spool, earlier: Earlier | None) -> FirstPass:
        """Check all samples."""
        first = FirstPass()
        self._report(Step.CHECKING, 0)
        try:
            with self._checker() as checker:
                Checking(checker, partial(note, first), self._checking, earlier).run(
                    walked, checked
                )
        except BaseException:
            first.names.close()
            raise
        return first

    @contextmanager
    def _checker(self) -> Iterator[Here | There]:
        place = self.tree.files
        with ExitStack() as stack:
            if self.executor is None:
                yield stack.enter_context(Here(self.workers, self.setup, place, self.command))
                return
            there = partial(There, setup=self.setup, place=place, command=self.command)
            if not isinstance(self.executor, str):
                yield stack.enter_context(there(self.executor, self.workers))
                return
            cluster = stack.enter_context(connected(self.executor, place, self.setup.tokenizer))
            yield stack.enter_context(
                there(cluster.executor, cluster.threads, share=SHARE, alive=cluster.alive)
            )

    def write(
        self, checked: Spool, first: FirstPass, out: Out, dataset: str, layout: str
    ) -> SummaryRecord:
        """Look at the whole set and write the records."""
        setup = self.setup
        header = ScanRecord(
            dataset, layout, setup.classes, setup.policy.to_json(), Depth(setup.depth)
        )
        self._report(Step.WRITING, self.found)
        return write_out(checked, first, setup.policy, out, header)

    def _walking(self, found: int) -> None:
        self.found = found
        self._report(Step.WALKING, 0)

    def _checking(self, count: int) -> None:
        self.done += count
        self._report(Step.CHECKING, self.done)

    def _report(self, step: Step, done: int) -> None:
        if self.progress is not None:
            self.progress(step, done, self.found)
