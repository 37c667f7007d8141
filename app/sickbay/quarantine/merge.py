"""Merging a few hundred records of a scan into what is known of their samples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.quarantine import found
from sickbay.quarantine.batches import Arrived
from sickbay.quarantine.decisions.moves import Deed, Step, move
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.decisions.subjects import Subject
from sickbay.quarantine.found import Known
from sickbay.quarantine.tables import Action, Sample, Scan, Source, Status
from sickbay.quarantine.verdicts import after, verdict

_Row: TypeAlias = Any
"""A row of ``sample``, columns by name."""


@dataclass(slots=True)
class Changes:
    """What a scan changed, counted in samples."""

    new: int = 0
    gone: int = 0
    held_again: int = 0
    cleared: int = 0


@dataclass(frozen=True, slots=True)
class _Pair:
    """A record and the sample it is about, as that was before."""

    arrived: Arrived
    row: _Row
    known: Sequence[Known]
    new: bool

    @property
    def severities(self) -> list[tuple[str, Severity]]:
        """Code and severity of all its findings now, those of training runs included."""
        return [(one.code, one.severity) for one in self.arrived.record.findings] + [
            (one.code, one.severity) for one in self.known if one.source is Source.TRAINING
        ]

    @property
    def other_findings(self) -> bool:
        return not found.same(self.known, self.arrived.record.findings)

    @property
    def other_content(self) -> bool:
        return bool(self.row.sha256 != self.arrived.record.sha256)

    @property
    def version(self) -> int:
        """The sample's version once the record is stored; a page loaded before is then stale."""
        changed = self.other_content or self.other_findings or self.row.gone
        return int(self.row.version) + (changed and not self.new)


def merge(
    session: Session, scan: Scan, some: Sequence[Arrived], at: datetime, changes: Changes
) -> None:
    """Insert what is new, update what changed, and move what now stands elsewhere."""
    pairs = _pairs(session, scan, some)
    changes.new += sum(pair.new for pair in pairs)
    _store_findings(session, scan, pairs, at)
    _store_facts(session, scan, pairs)
    _judge(session, scan, pairs, at, changes)


def _pairs(session: Session, scan: Scan, some: Sequence[Arrived]) -> list[_Pair]:
    """Find the samples, inserting those that are new as clean until they are judged."""
    old = _rows(session, scan.data_set_id, some)
    added = [one for one in some if one.record.path.raw not in old]
    if added:
        session.execute(insert(Sample), [_first(scan, one) for one in added])
    rows = old | _rows(session, scan.data_set_id, added)
    known = found.known_of(session, [row.id for row in old.values() if row.findings])
    raw_paths = [(one, one.record.path.raw) for one in some]
    return [
        _Pair(one, rows[raw], known.get(rows[raw].id, ()), new=raw not in old)
        for one, raw in raw_paths
    ]


def _rows(session: Session, data_set_id: int, some: Iterable[Arrived]) -> dict[bytes, _Row]:
    raw_paths = [one.record.path.raw for one in some]
    rows = session.execute(
        select(*Sample.__table__.c).where(
            Sample.data_set_id == data_set_id, Sample.raw_path.in_(raw_paths)
        )
    )
    return {row.raw_path: row for row in rows}


def _first(scan: Scan, one: Arrived) -> dict[str, Any]:
    return {
        "data_set_id": scan.data_set_id,
        "raw_path": one.record.path.raw,
        "scan_id": scan.id,
        "version": 1,
        **Standing(Status.CLEAN).columns(),
        **_facts(one, [(each.code, each.severity) for each in one.record.findings], None),
    }


def _facts(
    one: Arrived, severities: Sequence[tuple[str, Severity]], thumbnail: str | None
) -> dict[str, Any]:
    """Return the columns that a record sets; ``thumbnail`` is the one to keep."""
    record = one.record
    code, severity = min(severities, key=lambda pair: pair[1].rank, default=(None, None))
    return {
        "path": record.path.text,
        "split": record.split,
        "label": record.label,
        "size": record.size,
        "mtime_ns": record.mtime_ns,
        "sha256": record.sha256,
        "width": record.width,
        "height": record.height,
        "format": record.format,
        "mode": record.mode,
        "stat": one.stat,
        "thumbnail": one.thumbnail or thumbnail,
        "worst_code": code,
        "worst_severity": severity,
        "findings": len(severities),
        "gone": False,
    }


def _store_findings(session: Session, scan: Scan, pairs: Sequence[_Pair], at: datetime) -> None:
    others = [
        found.Change(pair.row.id, pair.known, pair.arrived.record.findings)
        for pair in pairs
        if pair.other_findings
    ]
    found.store(session, scan.data_set_id, others, at)


def _store_facts(session: Session, scan: Scan, pairs: Sequence[_Pair]) -> None:
    """Update the samples with other facts one by one, and mark all as found by this scan."""
    others = []
    for pair in pairs:
        kept = None if pair.other_content else pair.row.thumbnail
        facts = _facts(pair.arrived, pair.severities, kept)
        if any(getattr(pair.row, name) != value for name, value in facts.items()):
            others.append({"id": pair.row.id, "version": pair.version, **facts})
    if others:
        session.execute(update(Sample), others)
    session.execute(
        update(Sample)
        .where(Sample.id.in_([pair.row.id for pair in pairs if not pair.new]))
        .values(scan_id=scan.id)
        .execution_options(synchronize_session=False)
    )


def _judge(
    session: Session, scan: Scan, pairs: Sequence[_Pair], at: datetime, changes: Changes
) -> None:
    """Move the samples that may not stand as they did."""
    steps: dict[Action, list[Step]] = {Action.HOLD: [], Action.CLEAR: []}
    for pair in pairs:
        subject = _subject(pair)
        action = verdict(
            subject.standing,
            content=subject.sha256,
            blocking=subject.blocking,
            blocked_before=pair.row.worst_severity is Severity.BLOCK,
        )
        if action is not None:
            steps[action].append(Step(subject, after(action, at)))
            changes.held_again += action is Action.HOLD and not pair.new
            changes.cleared += action is Action.CLEAR
    for action, some in steps.items():
        deed = Deed(scan.data_set_id, action, f"scan {scan.number}", batch=scan.key, at=at)
        move(session, deed, some, counted=False)


def _subject(pair: _Pair) -> Subject:
    row, severities = pair.row, pair.severities
    return Subject(
        id=row.id,
        version=pair.version,
        raw_path=row.raw_path,
        split=row.split,
        label=row.label,
        sha256=pair.arrived.record.sha256,
        standing=Standing(
            row.status,
            row.held_at,
            row.replacement,
            frozenset(row.approved_codes or ()),
            row.decided_sha256,
        ),
        codes=frozenset(code for code, _ in severities),
        blocking=frozenset(code for code, one in severities if one is Severity.BLOCK),
    )
