"""What the scan in force was told, and what it says of the data set as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.defects import DEFECTS, Severity
from sickbay.contract.finding import Depth
from sickbay.contract.policy import Policy
from sickbay.quarantine import data_sets, file_findings, policies
from sickbay.quarantine.tables import Scan


@dataclass(frozen=True, slots=True)
class Difference:
    """One key of a policy that is not as by default."""

    name: str
    value: Any
    usual: Any


@dataclass(frozen=True, slots=True)
class ChangedSeverity:
    """One code that a policy judges otherwise than the catalogue; ``silent`` is never shown."""

    code: str
    severity: str
    usual: str


@dataclass(frozen=True, slots=True)
class SetFinding:
    """One thing wrong with the data set as a whole, with the catalogue's words for its code."""

    code: str
    severity: Severity
    item: str | None
    message: str
    detail: Mapping[str, Any]
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """The scan in force; what it does not say, being older than records 2, is nothing."""

    number: int
    finished_at: datetime
    layout: str
    depth: Depth | None
    policy: Policy | None
    differences: tuple[Difference, ...]
    """Of the policy, severities apart."""
    severities: tuple[ChangedSeverity, ...]
    outdated: bool
    """Whether the data set's policy was changed since, so that a new scan may judge otherwise."""
    labels: Mapping[str, Mapping[str, int]]
    """Samples by split and label; empty where there are too many labels."""
    findings: tuple[SetFinding, ...]
    not_decoded: int
    """Samples that no decoder looked into."""
    file_findings: int


def facts(session: Session, data_set_id: int) -> ScanFacts | None:
    """Return what there is to say of the scan in force, or nothing before the first.

    Raises:
        NotFound: there is no such data set.
    """
    data_set = data_sets.by_id(session, data_set_id)
    scan = None if data_set.scan_id is None else session.get(Scan, data_set.scan_id)
    if scan is None:
        return None
    row = session.execute(
        select(Scan.policy, Scan.labels, Scan.findings).where(Scan.id == scan.id)
    ).one()
    policy = None if row.policy is None else Policy.from_json(row.policy)
    return ScanFacts(
        number=scan.number,
        finished_at=scan.finished_at or scan.started_at,
        layout=scan.layout,
        depth=scan.depth,
        policy=policy,
        differences=differences(policy or Policy()),
        severities=changed_severities(policy or Policy()),
        outdated=_outdated(session, scan, policy),
        labels=row.labels or {},
        findings=tuple(_finding(one) for one in row.findings or ()),
        not_decoded=(scan.summary or {}).get("not_decoded", 0),
        file_findings=file_findings.total(session, data_set_id),
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """How samples are judged: by the layout and policy of the scan in force."""

    layout: str
    policy: Policy


def judged(session: Session, data_set_id: int) -> Judged:
    """Return what the scan in force judged samples by.

    Raises:
        NotFound: there is no such data set.
    """
    data_set = data_sets.by_id(session, data_set_id)
    policy = session.scalar(select(Scan.policy).where(Scan.id == data_set.scan_id))
    return Judged(data_set.layout, Policy() if policy is None else Policy.from_json(policy))


def differences(policy: Policy) -> tuple[Difference, ...]:
    """Return the keys of a policy that are not as by default, severities apart."""
    usual = Policy().to_json()
    return tuple(
        Difference(name, value, usual[name])
        for name, value in policy.differences().items()
        if name != "severities"
    )


def changed_severities(policy: Policy) -> tuple[ChangedSeverity, ...]:
    """Return the codes that a policy judges otherwise than the catalogue."""
    return tuple(
        ChangedSeverity(code, said, DEFECTS[code].severity.value)
        for code, said in sorted(policy.severities.items())
        if said != DEFECTS[code].severity.value
    )


def _outdated(session: Session, scan: Scan, policy: Policy | None) -> bool:
    stored = policies.read(session, scan.data_set_id)
    changed_since = stored.changed_at is not None and stored.changed_at > scan.started_at
    return changed_since and stored.policy != (policy or Policy())


def _finding(reported: Mapping[str, Any]) -> SetFinding:
    entry = DEFECTS.get(reported["code"])
    return SetFinding(
        code=reported["code"],
        severity=Severity(reported["severity"]),
        item=reported["item"],
        message=reported["message"],
        detail=reported["detail"],
        meaning="" if entry is None else entry.meaning,
        advice="" if entry is None else entry.advice,
    )
