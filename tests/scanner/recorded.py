"""A scan whose records are kept in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sickbay.contract.finding import FileRecord, SampleRecord, ScanRecord, SummaryRecord
from sickbay.scanner import Examined, Setup, scan
from sickbay.scanner.decode import examine


@dataclass
class Recorded:
    """A sink that keeps everything."""

    header_record: ScanRecord | None = None
    samples: dict[str, SampleRecord] = field(default_factory=dict)
    files: dict[str, FileRecord] = field(default_factory=dict)
    thumbnails: dict[str, bytes] = field(default_factory=dict)
    stats: dict[str, tuple[int, int, int] | None] = field(default_factory=dict)
    summary: SummaryRecord | None = None
    aborted: bool = False

    def header(self, record: ScanRecord) -> None:
        self.header_record = record

    def sample(
        self, record: SampleRecord, thumbnail: bytes | None, stat: tuple[int, int, int] | None
    ) -> None:
        self.samples[record.path.text] = record
        self.stats[record.path.text] = stat
        if thumbnail is not None:
            self.thumbnails[record.path.text] = thumbnail

    def file(self, record: FileRecord) -> None:
        self.files[record.path.text] = record

    def finish(self, record: SummaryRecord) -> None:
        self.summary = record

    def abort(self) -> None:
        self.aborted = True

    def codes(self, path: str) -> list[str]:
        """Codes of one sample's findings."""
        return codes(self.samples[path].findings)

    @property
    def totals(self) -> SummaryRecord:
        """The summary, which must have come."""
        assert self.summary is not None
        return self.summary


def scanned(root: Path | str, **options: Any) -> Recorded:
    """Scan with one process and return what came."""
    sink = Recorded()
    scan(root, dataset="test", sink=sink, **{"workers": 1, **options})
    return sink


def codes(findings: Sequence[Any]) -> list[str]:
    """The codes, in order."""
    return [finding.code for finding in findings]


def holding(made: Recorded) -> dict[str, list[str]]:
    """Codes that hold samples, by path."""
    return {
        path: codes([one for one in sample.findings if one.severity == "block"])
        for path, sample in made.samples.items()
        if sample.held
    }


def said(data: bytes, suffix: str = ".jpg", setup: Setup | None = None) -> list[str]:
    """Codes of what is found in one picture, without a child."""
    return codes(examined(data, suffix, setup).findings)


def examined(data: bytes, suffix: str = ".jpg", setup: Setup | None = None) -> Examined:
    """Check one picture in this process."""
    return examine(data, suffix, setup or Setup())


def held(data: bytes, suffix: str = ".jpg") -> bool:
    """Whether one picture would be held."""
    return any(finding.severity == "block" for finding in examined(data, suffix).findings)
