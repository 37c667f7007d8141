"""Where a scan's records go: to its sink, and beside it into the cache for the next scan."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from sickbay.contract.errors import StorageFailed
from sickbay.contract.finding import (
    FileRecord,
    Record,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
    to_line,
)
from sickbay.contract.paths import SamplePath
from sickbay.contract.read_record import from_line
from sickbay.scanner.cache.earlier import facts, passing
from sickbay.scanner.cache.keeping import Keeper
from sickbay.scanner.cache.kept import BEGINS, ENDS, NOTHING, SAMPLE, Kept
from sickbay.scanner.evidence import Examined
from sickbay.scanner.sink import LineSink, Sink
from sickbay.scanner.trees import UNREADABLE

R = TypeVar("R", bound=Record)
_REPORTED = 1000  # samples between two reports


class Out:
    """Where records go: to the sink, and to the cache for the next scan.

    Args:
        sink: the scan's own.
        keeper: the cache's, where there is one.
        same: digest of what was scanned and how, by which the next scan knows it.
    """

    def __init__(self, sink: Sink, keeper: Keeper | None = None, same: bytes | None = None) -> None:
        self._sink = sink
        self._lines = sink if isinstance(sink, LineSink) else None
        self._keeper = keeper
        self._same = same

    def header(self, record: ScanRecord) -> None:
        """Begin."""
        self._sink.header(record)
        if self._keeper is not None:
            self._keeper.header(record)

    def sample(self, record: SampleRecord, found: Examined, signature: str) -> None:
        """Write a sample, and keep it with what it was checked by."""
        stat, thumbnail = found.stat, found.thumbnail
        needed = self._lines is not None or self._keeper is not None
        line = to_line(record) if needed else b""
        if self._lines is not None:
            self._lines.line(record.path, line, thumbnail, stat)
        else:
            self._sink.sample(record, thumbnail, stat)
        if self._keeper is not None:
            holds = NOTHING if passing(record.findings) else bytes.fromhex(signature)
            raw = record.path.raw
            kept = Kept(SAMPLE, raw, holds, facts(found), line, thumbnail or b"", stat)
            self._keeper.sample(kept)

    def file(self, record: FileRecord) -> None:
        """Write a file's own findings."""
        self._sink.file(record)
        if self._keeper is not None:
            reusable = not passing(record.findings)
            self._keeper.file(record.path.raw, to_line(record), reusable=reusable)

    def skipped(self, reason: str) -> None:
        """Take note of what was skipped: what could not be read may be readable next time."""
        if reason == UNREADABLE and self._keeper is not None:
            self._keeper.passing()

    def finish(self, record: SummaryRecord) -> None:
        """End."""
        self._sink.finish(record)
        if self._keeper is not None:
            self._keeper.finish(record, self._same)

    def again(self, records: Iterable[Kept], report: Callable[[int], None]) -> SummaryRecord:
        """Write the records of an earlier scan as they are.

        Raises:
            StorageFailed: the cache was damaged meanwhile.
        """
        samples = 0
        for one in records:
            if one.what == BEGINS:
                self._sink.header(_read(one.line, ScanRecord))
            elif one.what == ENDS:
                summary = _read(one.line, SummaryRecord)
                self._sink.finish(summary)
                return summary
            else:
                self._once_more(one)
                samples += one.what == SAMPLE
                if samples % _REPORTED == 0:
                    report(samples)
        raise StorageFailed("The cache of the earlier scan was damaged meanwhile; scan again.")

    def _once_more(self, one: Kept) -> None:
        if self._lines is not None:
            self._lines.line(SamplePath(one.raw), one.line, one.thumbnail or None, one.stat)
        elif one.what == SAMPLE:
            self._sink.sample(_read(one.line, SampleRecord), one.thumbnail or None, one.stat)
        else:
            self._sink.file(_read(one.line, FileRecord))


def _read(line: bytes, kind: type[R]) -> R:
    record = from_line(line)
    if not isinstance(record, kind):
        raise StorageFailed("The cache of the earlier scan is damaged; give --no-cache.")
    return record
