"""The scan: walk, check in guarded children, look at the whole, write records in order.

Nothing a file does ends a scan, and found = clean + held + skipped, always. The first pass spools
what each file gave and keeps eight bytes a content and a name; the second adds what only the
whole set can tell and streams the records, in order of raw path, to the sink. The same data give
the same records, whatever the executor and the number of workers.
"""

import atexit
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from sickbay.contract.defects import Severity
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord, Finding, SampleRecord, ScanRecord, SummaryRecord
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner import wire
from sickbay.scanner.checks.files import unsafe_name
from sickbay.scanner.checks.sets import SET_CHECKS, FirstPass, WholeSet
from sickbay.scanner.evidence import Examined
from sickbay.scanner.guard import Below, Guards, Where
from sickbay.scanner.sink import Sink
from sickbay.scanner.sources import Item, Noted, Skipped, Source, layouts
from sickbay.scanner.sources.choose import AUTO, Choice, choose
from sickbay.scanner.spool import Spool
from sickbay.scanner.task import Setup, Task
from sickbay.scanner.trees import Tree
from sickbay.scanner.trees.local import LocalTree

Progress = Callable[[int, int], None]
_BATCH = 32  # files a request; a death repeats none of the others
_AHEAD = 3  # batches in flight for each worker
_FOUND, _SKIPPED, _NOTED = range(3)  # what a frame of a spool is about


def scan(
    root: str | os.PathLike[str],
    *,
    dataset: str,
    sink: Sink,
    layout: str = "imagefolder",
    workers: int | None = None,
    setup: Setup | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    chosen: Callable[[Choice], None] | None = None,
) -> SummaryRecord:
    """Scan one data set and write its records to ``sink``.

    Args:
        root: the folder that holds the samples.
        dataset: the data set's name.
        sink: where records go; it is finished at the end, aborted on any error.
        layout: one of ``LAYOUTS``, or ``auto``, which looks.
        workers: decoding processes; as many as there are processors by default.
        setup: how to check: limits, policy and depth.
        progress: called with (files done, files found) now and then.
        executor: runs the batches elsewhere; threads of this process by default.
        chosen: called with the layout that ``auto`` chose, and why.

    Returns:
        The totals, as written to the sink.

    Raises:
        BadInput: no such layout, or the root is missing, empty, unreadable or no folder.
        StorageFailed: the sink or the folder for temporary files cannot be written.
    """
    try:
        tree = LocalTree(root)
        name = _chosen(tree, chosen) if layout == AUTO else layout
        source = layouts.layout(name).read(tree, (setup or Setup()).policy)
        job = _Job(os.fspath(root), workers or processors(), setup or Setup(), progress)
        with closing(Spool()) as walked, closing(Spool()) as checked:
            _walk_into(walked, job, source)
            job.setup = replace(job.setup, classes=source.classes)
            _check_into(checked, walked, job, executor)
            return _write_out(checked, job, sink, ScanRecord(dataset, name, source.classes))
    except BaseException:
        sink.abort()
        raise


def _chosen(tree: Tree, told: Callable[[Choice], None] | None) -> str:
    choice = choose(tree)
    if told is not None:
        told(choice)
    return choice.name


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class _Job:
    root: str
    workers: int
    setup: Setup
    progress: Progress | None
    found: int = 0
    done: int = 0
    first: FirstPass = field(default_factory=FirstPass)

    def report(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, self.found)


def _walk_into(spool: Spool, job: _Job, source: Source) -> None:
    for item in source.items():
        spool.write(_walked(item, job.setup.policy))
        job.found += not isinstance(item, Noted)
    if not job.found:
        raise BadInput(f"The folder {job.root!r} is empty; there is nothing to scan.")


def _walked(item: Item, policy: Policy) -> list[Any]:
    name = item.raw.decode("latin-1")
    if isinstance(item, Noted):
        return [_NOTED, name, wire.from_findings(policy.applied(item.findings))]
    if isinstance(item, Skipped):
        given = policy.applied([] if item.finding is None else [item.finding])
        return [_SKIPPED, name, item.reason, wire.from_findings(given)]
    findings = policy.applied(item.findings)
    held = any(finding.severity is Severity.BLOCK for finding in findings)
    task = Task(item.raw, item.kind, item.side, item.given, held)
    listed = item.listed and [SamplePath(item.listed[0]).text, item.listed[1]]
    return [_FOUND, task.to_json(), item.split, item.label, listed, wire.from_findings(findings)]


def _check_into(checked: Spool, walked: Spool, job: _Job, executor: Executor | None) -> None:
    """Check in batches and spool what was found, in the order of the walk."""
    job.report(0)
    where = Below(str(Path(job.root).absolute()))
    if executor is not None:
        _run(checked, walked, job, executor, partial(_check_elsewhere, job.setup, where))
        return
    with (
        closing(Guards(job.workers, job.setup)) as guards,
        ThreadPoolExecutor(job.workers) as threads,
    ):
        _run(checked, walked, job, threads, partial(guards.check, where))


@cache
def _guards_here(setup: str) -> Guards:
    """Guards of a process that an executor runs us in; they end with it."""
    guards = Guards(processors(), Setup.from_json(json.loads(setup)))
    atexit.register(guards.close)
    return guards


def _check_elsewhere(setup: Setup, where: Where, tasks: Sequence[Task]) -> list[Examined]:
    return _guards_here(json.dumps(setup.to_json())).check(where, tasks)


def _run(
    checked: Spool,
    walked: Spool,
    job: _Job,
    executor: Executor,
    check: Callable[[Sequence[Task]], list[Examined]],
) -> None:
    waiting: deque[tuple[list[Any], Future[list[Examined]] | None]] = deque()
    try:
        for batch in _batches(value for value, _ in walked.frames()):
            tasks = [Task.from_json(item[1]) for item in batch if item[0] == _FOUND]
            waiting.append((batch, executor.submit(check, tasks) if tasks else None))
            if len(waiting) > job.workers * _AHEAD:
                _take(checked, job, *waiting.popleft())
        while waiting:
            _take(checked, job, *waiting.popleft())
    finally:
        for _, future in waiting:
            if future is not None:
                future.cancel()


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _take(
    checked: Spool, job: _Job, batch: list[Any], future: "Future[list[Examined]] | None"
) -> None:
    results = iter(future.result() if future is not None else ())
    for item in batch:
        if item[0] != _FOUND:
            checked.write(item)
            continue
        found = next(results)
        job.first.note(item[1][0], found.sha256, found.size, found.mode)
        checked.write([*item, wire.from_examined(found)], found.thumbnail or b"")
    job.report(sum(item[0] != _NOTED for item in batch))


def _write_out(checked: Spool, job: _Job, sink: Sink, header: ScanRecord) -> SummaryRecord:
    whole = WholeSet(job.first)
    if whole.needs_second_look:
        for record, _ in _samples(checked):
            whole.gather(record)
    sink.header(header)
    totals = _Totals()
    for value, raw in checked.frames():
        if value[0] == _SKIPPED:
            totals.skip(value, sink)
        elif value[0] == _NOTED:
            totals.note(value, sink)
        else:
            record, stat = _record(value, raw)
            record = _with_set_findings(record, whole)
            totals.count(record)
            sink.sample(record, raw or None, stat)
    summary = totals.summary()
    sink.finish(summary)
    return summary


def _samples(checked: Spool) -> Iterator[tuple[SampleRecord, Any]]:
    return (_record(value, raw) for value, raw in checked.frames() if value[0] == _FOUND)


def _record(value: list[Any], raw: bytes) -> tuple[SampleRecord, tuple[int, int, int] | None]:
    _, task, split, label, listed, own, facts = value
    path, found = SamplePath(task[0].encode("latin-1")), wire.to_examined(facts, raw)
    findings = [
        *wire.to_findings(own),
        *(_placed(finding, path, listed) for finding in found.findings),
    ]
    if (unsafe := unsafe_name(path)) is not None:
        findings.append(unsafe)
    record = SampleRecord(
        path=path,
        split=split,
        label=label,
        size=found.size,
        mtime_ns=found.mtime_ns,
        sha256=found.sha256,
        width=found.width,
        height=found.height,
        format=found.format,
        mode=found.mode,
        findings=tuple(findings),
    )
    return record, found.stat


def _placed(finding: Finding, path: SamplePath, listed: list[str] | None) -> Finding:
    """Say where it is: in the sample's own file, or where a missing one is named."""
    if listed is not None and finding.code == "file.missing":
        return replace(finding, file=listed[0], item=listed[1])
    return finding if finding.file else replace(finding, file=path.text)


def _with_set_findings(record: SampleRecord, whole: WholeSet) -> SampleRecord:
    found = [finding for check in SET_CHECKS if (finding := check(record, whole)) is not None]
    return replace(record, findings=(*record.findings, *found)) if found else record


@dataclass(slots=True)
class _Totals:
    clean: int = 0
    held: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    def count(self, record: SampleRecord) -> None:
        if record.held:
            self.held += 1
        else:
            self.clean += 1
        self.codes.update(finding.code for finding in record.findings)

    def skip(self, value: list[Any], sink: Sink) -> None:
        _, name, reason, findings = value
        self.reasons[reason] += 1
        if findings:
            self.note([_NOTED, name, findings], sink)

    def note(self, value: list[Any], sink: Sink) -> None:
        _, name, found = value
        path, findings = SamplePath(name.encode("latin-1")), wire.to_findings(found)
        self.codes.update(finding.code for finding in findings)
        sink.file(FileRecord(path, findings))

    def summary(self) -> SummaryRecord:
        skipped = self.reasons.total()
        return SummaryRecord(
            found=self.clean + self.held + skipped,
            clean=self.clean,
            held=self.held,
            skipped=skipped,
            reasons=dict(sorted(self.reasons.items())),
            codes=dict(sorted(self.codes.items())),
        )
