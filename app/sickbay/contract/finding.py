"""The records of a scan: what a scanner writes and the server takes in.

One JSON object a line, each with a field ``kind``: a ``scan`` header, one ``sample`` for each
sample, one ``file`` for each annotation or list file with findings of its own, and a closing
``summary``. Ordered by raw path; no clock, host or rate, so that the same data give the same
bytes. Lines are read back in ``read_record``.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from json.encoder import encode_basestring as _quoted
from typing import Any, TypeAlias

from sickbay.contract.defects import Severity, defect
from sickbay.contract.paths import SamplePath

RECORDS_VERSION = 2
MAX_MESSAGE = 500
MAX_DETAIL_BYTES = 8192
MAX_FINDINGS = 1000
MAX_LABELS = 10_000
"""Counts of labels in a summary, over all splits; with more it holds none."""


class Depth(StrEnum):
    """How far into the content a scan looks."""

    FULL = "full"
    STRUCTURE = "structure"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with one sample.

    ``file`` is the path of the picture or annotation file; ``item`` is nothing for the whole
    file, else ``row N``, ``line N``, ``annotation ID``, ``image ID``, ``object N`` or a name.
    """

    code: str
    severity: Severity
    file: str
    item: str | None
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, code: str, file: str, message: str, /, item: str | None = None, **detail: Any
    ) -> "Finding":
        """Make a finding with the catalogue's severity for its code."""
        return cls(code, defect(code).severity, file, item, message[:MAX_MESSAGE], detail)


@dataclass(frozen=True, slots=True)
class ScanRecord:
    """The header: what was scanned, and how.

    ``policy`` is all of it, as ``Policy.to_json`` writes it; under the depth ``structure``
    nothing was decoded.
    """

    dataset: str
    layout: str
    classes: tuple[str, ...]
    policy: Mapping[str, Any] = field(default_factory=dict, hash=False)
    depth: Depth = Depth.FULL
    records: int = RECORDS_VERSION


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One sample: its facts and findings. Unknown facts are nothing (``null``).

    ``decoded`` says that a decoder or parser went through its content.
    """

    path: SamplePath
    split: str
    label: str
    size: int | None
    mtime_ns: int | None
    sha256: str | None
    width: int | None
    height: int | None
    format: str | None
    mode: str | None
    findings: tuple[Finding, ...] = ()
    decoded: bool = False

    @property
    def held(self) -> bool:
        """Whether a finding blocks it."""
        return any(finding.severity is Severity.BLOCK for finding in self.findings)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """An annotation or list file that has findings of its own."""

    path: SamplePath
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """The totals: found = clean + held + skipped, always.

    ``labels`` counts samples by split and label; ``findings`` are of the set as a whole.
    """

    found: int
    clean: int
    held: int
    skipped: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


Record: TypeAlias = ScanRecord | SampleRecord | FileRecord | SummaryRecord


def to_line(record: Record) -> bytes:
    """Return the record as one line of NDJSON, with its line feed."""
    if isinstance(record, SampleRecord):
        return _sample_line(record)
    return _encode(_fields(record)).encode("utf-8") + b"\n"


_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def _sample_line(record: SampleRecord) -> bytes:
    """Write a sample out by hand, at a third of the time: there are as many as files."""
    findings = (
        _encode([_finding_fields(one) for one in record.findings]) if record.findings else "[]"
    )
    encoded = record.path.base64
    path_bytes = "" if encoded is None else f'"path_bytes":"{encoded}",'
    return (
        f'{{"decoded":{_plain(record.decoded)},"findings":{findings},'
        f'"format":{_plain(record.format)},"height":{_plain(record.height)},'
        f'"held":{_plain(record.held)},"kind":"sample","label":{_quoted(record.label)},'
        f'"mode":{_plain(record.mode)},"mtime_ns":{_plain(record.mtime_ns)},'
        f'"path":{_quoted(record.path.text)},{path_bytes}"sha256":{_plain(record.sha256)},'
        f'"size":{_plain(record.size)},"split":{_quoted(record.split)},'
        f'"width":{_plain(record.width)}}}\n'
    ).encode()


def _finding_fields(finding: Finding) -> dict[str, Any]:
    """As ``asdict``, but without a copy of the detail, which costs more than all the rest."""
    return {name: getattr(finding, name) for name in _FINDING_FACTS}


_FINDING_FACTS = ("code", "severity", "file", "item", "message", "detail")


def _plain(value: int | str | None) -> str:
    if value is None:
        return "null"
    if type(value) is str:
        return _quoted(value)
    return ("true" if value else "false") if type(value) is bool else str(value)


def _fields(record: ScanRecord | FileRecord | SummaryRecord) -> dict[str, Any]:
    match record:
        case ScanRecord():
            return {"kind": "scan", **asdict(record)}
        case FileRecord():
            return {
                "kind": "file",
                **_path_fields(record.path),
                "findings": [_finding_fields(finding) for finding in record.findings],
            }
        case SummaryRecord():
            return {"kind": "summary", **asdict(record)}


def _path_fields(path: SamplePath) -> dict[str, str]:
    encoded = path.base64
    return {"path": path.text} if encoded is None else {"path": path.text, "path_bytes": encoded}
