"""The last step of a scan: records with all their findings, in order, and the totals."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from sickbay.contract.finding import (
    MAX_FINDINGS,
    FileRecord,
    Finding,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
)
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner import wire
from sickbay.scanner.checks.files import unsafe_name
from sickbay.scanner.checks.whole import FirstPass, Sample, WholeSet
from sickbay.scanner.evidence import Examined
from sickbay.scanner.out import Out
from sickbay.scanner.spool import Spool
from sickbay.scanner.walking import FOUND, SKIPPED

_KINDS = {"text", "row", "array"}


def kind_of(value: list[Any]) -> str:
    """What the sample of a frame is to its set: however it is annotated, a picture is a picture."""
    return value[2] if value[2] in _KINDS else "picture"


def note(first: FirstPass, value: list[Any], found: Examined) -> None:
    """Take a checked sample into account for what only the whole set can tell."""
    _, name, _, split, label, _, labels, _, _ = value
    first.note(name.encode("latin-1"), split, label, kind_of(value), found, labels=labels)


def write_out(
    checked: Spool, first: FirstPass, policy: Policy, out: Out, header: ScanRecord
) -> SummaryRecord:
    """Look at the whole set, then write all records."""
    with closing(WholeSet(first, policy)) as whole:
        writer = _Writer(out, policy, whole)
        out.header(header)
        for value, raw in checked.frames():
            writer.take(value, raw)
        summary = writer.summary()
        out.finish(summary)
        return summary


@dataclass(slots=True)
class _Writer:
    out: Out
    policy: Policy
    whole: WholeSet
    number: int = 0
    held: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    def take(self, value: list[Any], raw: bytes) -> None:
        """Write what a frame is about."""
        if value[0] == FOUND:
            self._sample(value, raw)
            return
        if value[0] == SKIPPED:
            self.reasons[value[2]] += 1
            self.out.skipped(value[2])
        if findings := wire.to_findings(value[-1]):
            path = SamplePath(value[1].encode("latin-1"))
            self._count(findings)
            self.out.file(FileRecord(path, findings))

    def _sample(self, value: list[Any], raw: bytes) -> None:
        found = wire.spooled_examined(value[-1], raw)
        record = _record(value, found, self.policy)
        more = self.whole.findings(Sample(self.number, record, kind_of(value), found.arrays))
        if more:
            own = record.findings[: MAX_FINDINGS - len(more)]
            record = replace(record, findings=(*own, *self.policy.applied(more)))
        self.number += 1
        self.held += record.held
        self._count(record.findings)
        self.out.sample(record, found, value[-2])

    def _count(self, findings: tuple[Finding, ...]) -> None:
        for finding in findings:
            self.codes[finding.code] += 1

    def summary(self) -> SummaryRecord:
        """Return the totals of what was taken."""
        skipped = self.reasons.total()
        return SummaryRecord(
            found=self.number + skipped,
            clean=self.number - self.held,
            held=self.held,
            skipped=skipped,
            reasons=dict(sorted(self.reasons.items())),
            codes=dict(sorted(self.codes.items())),
            labels=self.whole.labels(),
            findings=self.policy.applied(self.whole.set_findings()),
        )


def _record(value: list[Any], found: Examined, policy: Policy) -> SampleRecord:
    _, name, _, split, label, listed, _, _, own, _, _ = value
    path = SamplePath(name.encode("latin-1"))
    findings = [_placed(finding, path, listed) for finding in found.findings]
    if (unsafe := unsafe_name(path)) is not None:
        findings.append(unsafe)
    findings = [*wire.to_findings(own), *policy.applied(findings)]
    return SampleRecord(
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
        findings=tuple(findings[:MAX_FINDINGS]),
        decoded=found.decoded,
    )


def _placed(finding: Finding, path: SamplePath, listed: list[str] | None) -> Finding:
    """Say where it is: in the sample's own file, or where a missing one is named."""
    if listed is not None and finding.code == "file.missing":
        return replace(finding, file=listed[0], item=listed[1])
    return finding if finding.file else replace(finding, file=path.text)
