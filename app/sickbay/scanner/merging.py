"""Findings that somebody else has of a scan's samples, put into its records on their way."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sickbay.contract.finding import (
    MAX_FINDINGS,
    FileRecord,
    Finding,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
)
from sickbay.contract.policy import Policy
from sickbay.scanner.sink import Sink, Stat


class Merging:
    """A sink in front of another: adds findings to samples, which may hold them, and counts anew.

    The scan's cache stands before it, and so never takes them for the scan's own.

    Args:
        sink: where the records go.
        extra: findings by the sample's raw path.
        policy: what their severities are.
    """

    def __init__(
        self, sink: Sink, extra: Mapping[bytes, Sequence[Finding]], policy: Policy
    ) -> None:
        self._sink = sink
        self._left = {raw: policy.applied(tuple(found)) for raw, found in extra.items()}
        self._held = 0
        self._codes: Counter[str] = Counter()
        self.summary: SummaryRecord | None = None

    @property
    def unknown(self) -> tuple[bytes, ...]:
        """The raw paths that were no samples of the scan, as far as it has come."""
        return tuple(sorted(self._left))

    def header(self, record: ScanRecord) -> None:
        """Begin."""
        self._sink.header(record)

    def sample(self, record: SampleRecord, thumbnail: bytes | None, stat: Stat | None) -> None:
        """Pass a sample on, with what is known of it beside."""
        more = self._left.pop(record.path.raw, ())
        if more:
            was, own = record.held, record.findings[: max(0, MAX_FINDINGS - len(more))]
            record = replace(record, findings=(*own, *more))
            self._held += record.held - was
            self._codes.update(finding.code for finding in more)
        self._sink.sample(record, thumbnail, stat)

    def file(self, record: FileRecord) -> None:
        """Pass a file's own findings on."""
        self._sink.file(record)

    def finish(self, record: SummaryRecord) -> None:
        """End, with the totals as they are now."""
        codes = Counter(record.codes) + self._codes
        self.summary = replace(
            record,
            clean=record.clean - self._held,
            held=record.held + self._held,
            codes=dict(sorted(codes.items())),
        )
        self._sink.finish(self.summary)

    def abort(self) -> None:
        """Forget what came."""
        self._sink.abort()
