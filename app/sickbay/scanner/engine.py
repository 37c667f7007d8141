"""The scan: walk, check in guarded children, look at the whole, write records in order.

Nothing a file does ends a scan, and found = clean + held + skipped, always. The first pass spools
what each file gave and keeps eight bytes a content and a name; the second adds what only the
whole set can tell and streams the records, in order of raw path, to the sink. The same data give
the same records, whatever the executor and the number of workers.
"""

import atexit
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

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord, Finding, SampleRecord, ScanRecord, SummaryRecord
from sickbay.contract.paths import SamplePath
from sickbay.scanner import wire
from sickbay.scanner.checks.files import unsafe_name
from sickbay.scanner.checks.sets import SET_CHECKS, FirstPass, WholeSet
from sickbay.scanner.evidence import Examined
from sickbay.scanner.guard import Guards
from sickbay.scanner.limits import Limits
from sickbay.scanner.sink import Sink
from sickbay.scanner.sources import Found, Skipped, imagefolder
from sickbay.scanner.spool import Spool

Progress = Callable[[int, int], None]
LAYOUTS: dict[str, Callable[[str], Iterator[Found | Skipped]]] = {"imagefolder": imagefolder.walk}
_BATCH = 32  # files a request; a death repeats none of the others
_AHEAD = 3  # batches in flight for each worker
_SKIPPED = None  # stands where a sample has its name, so that no name can be taken for it


def scan(
    root: str | os.PathLike[str],
    *,
    dataset: str,
    sink: Sink,
    layout: str = "imagefolder",
    workers: int | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> SummaryRecord:
    """Scan one data set and write its records to ``sink``.

    Args:
        root: the folder that holds the samples.
        dataset: the data set's name.
        sink: where records go; it is finished at the end, aborted on any error.
        layout: one of ``LAYOUTS``.
        workers: decoding processes; as many as there are processors by default.
        limits: what one file may cost.
        progress: called with (files done, files found) now and then.
        executor: runs the batches elsewhere; threads of this process by default.

    Returns:
        The totals, as written to the sink.

    Raises:
        BadInput: no such layout, or the root is missing, empty, unreadable or no folder.
        StorageFailed: the sink or the folder for temporary files cannot be written.
    """
    job = _Job(os.fspath(root), workers or processors(), limits or Limits(), progress)
    try:
        with closing(Spool()) as walked, closing(Spool()) as checked:
            _walk_into(walked, job, layout)
            _check_into(checked, walked, job, executor)
            return _write_out(
                checked, job, sink, ScanRecord(dataset, layout, tuple(sorted(job.classes)))
            )
    except BaseException:
        sink.abort()
        raise


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(slots=True)
class _Job:
    root: str
    workers: int
    limits: Limits
    progress: Progress | None
    found: int = 0
    done: int = 0
    classes: set[str] = field(default_factory=set)
    first: FirstPass = field(default_factory=FirstPass)

    def report(self, count: int) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, self.found)


def _walk_into(spool: Spool, job: _Job, layout: str) -> None:
    if layout not in LAYOUTS:
        raise BadInput(f"There is no layout {layout!r}; give one of: {', '.join(LAYOUTS)}.")
    for item in LAYOUTS[layout](job.root):
        spool.write(_walked(item))
        job.found += 1
        if isinstance(item, Found) and item.label:
            job.classes.add(item.label)
    if not job.found:
        raise BadInput(f"The folder {job.root!r} is empty; there is nothing to scan.")


def _walked(item: Found | Skipped) -> list[Any]:
    name = item.raw.decode("latin-1")
    if isinstance(item, Found):
        return [name, item.split, item.label]
    finding = item.finding
    return [_SKIPPED, name, item.reason, finding and [finding.code, finding.message]]


def _check_into(checked: Spool, walked: Spool, job: _Job, executor: Executor | None) -> None:
    """Check in batches and spool what was found, in the order of the walk."""
    job.report(0)
    root = str(Path(job.root).absolute())
    if executor is not None:
        _run(checked, walked, job, executor, partial(_check_elsewhere, job.limits, root))
        return
    with (
        closing(Guards(job.workers, job.limits)) as guards,
        ThreadPoolExecutor(job.workers) as threads,
    ):
        _run(checked, walked, job, threads, partial(guards.check_files, root))


@cache
def _guards_here(limits: Limits) -> Guards:
    """Guards of a process that an executor runs us in; they end with it."""
    guards = Guards(processors(), limits)
    atexit.register(guards.close)
    return guards


def _check_elsewhere(limits: Limits, root: str, raw_paths: Sequence[bytes]) -> list[Examined]:
    return _guards_here(limits).check_files(root, raw_paths)


def _run(
    checked: Spool,
    walked: Spool,
    job: _Job,
    executor: Executor,
    check: Callable[[Sequence[bytes]], list[Examined]],
) -> None:
    waiting: deque[tuple[list[Any], Future[list[Examined]] | None]] = deque()
    try:
        for batch in _batches(value for value, _ in walked.frames()):
            raws = [item[0].encode("latin-1") for item in batch if item[0] is not _SKIPPED]
            waiting.append((batch, executor.submit(check, raws) if raws else None))
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
        if item[0] is _SKIPPED:
            checked.write(item)
            continue
        found = next(results)
        job.first.note(item[0], found.sha256, found.size, found.mode)
        checked.write([*item, wire.from_examined(found)], found.thumbnail or b"")
    job.report(len(batch))


def _write_out(checked: Spool, job: _Job, sink: Sink, header: ScanRecord) -> SummaryRecord:
    whole = WholeSet(job.first)
    if whole.needs_second_look:
        for record, _ in _samples(checked):
            whole.gather(record)
    sink.header(header)
    totals = _Totals()
    for value, raw in checked.frames():
        if value[0] is _SKIPPED:
            totals.skip(value, sink)
        else:
            record, stat = _record(value, raw)
            record = _with_set_findings(record, whole)
            totals.count(record)
            sink.sample(record, raw or None, stat)
    summary = totals.summary()
    sink.finish(summary)
    return summary


def _samples(checked: Spool) -> Iterator[tuple[SampleRecord, Any]]:
    return (_record(value, raw) for value, raw in checked.frames() if value[0] is not _SKIPPED)


def _record(value: list[Any], raw: bytes) -> tuple[SampleRecord, tuple[int, int, int] | None]:
    name, split, label, facts = value
    path, found = SamplePath(name.encode("latin-1")), wire.to_examined(facts, raw)
    findings = [replace(finding, file=path.text) for finding in found.findings]
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
        _, name, reason, finding = value
        self.reasons[reason] += 1
        if finding:
            path = SamplePath(name.encode("latin-1"))
            made = Finding.of(finding[0], path.text, finding[1])
            self.codes[made.code] += 1
            sink.file(FileRecord(path, (made,)))

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
