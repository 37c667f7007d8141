"""Merging a few hundred records of a scan into what is known of their samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.quarantine.batches import Arrived
from sickbay.quarantine.bulk import update_samples
from sickbay.quarantine.decisions.moves import Deed, Step, move
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.decisions.subjects import Subject
from sickbay.quarantine.found import Change, Known, known_of, same, store
from sickbay.quarantine.sample_rows import Row, by_raw_path, facts, insert_new, mark_found
from sickbay.quarantine.tables import Action, Scan, Source
from sickbay.quarantine.verdicts import after, verdict


@dataclass(slots=True)
class Changes:
    """What a scan changed, and what it did not look into, counted in samples."""

    new: int = 0
    gone: int = 0
    held_again: int = 0
    cleared: int = 0
    not_decoded: int = 0


@dataclass(frozen=True, slots=True)
class _Pair:
    """A record and the sample it is about, as that was before."""

    arrived: Arrived
    row: Row
    known: Sequence[Known]
    new: bool
    other_findings: bool
    severities: Sequence[tuple[str, Severity]]
    """Code and severity of all its findings now, those of training runs included."""

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
    changes.not_decoded += sum(not pair.arrived.record.decoded for pair in pairs)
    _store_findings(session, scan, pairs, at)
    _store_facts(session, scan, pairs)
    _judge(session, scan, pairs, at, changes)


def _pairs(session: Session, scan: Scan, some: Sequence[Arrived]) -> list[_Pair]:
    """Find the samples; those that are new are inserted, as clean until they are judged."""
    old = by_raw_path(session, scan.data_set_id, some)
    added = insert_new(session, scan, [one for one in some if one.record.path.raw not in old])
    known = known_of(session, [row.id for row in old.values() if row.findings])
    return [
        _pair(one, old[raw], known.get(old[raw].id, ()))
        if (raw := one.record.path.raw) in old
        else _pair(one, added[raw], (), new=True)
        for one in some
    ]


def _pair(one: Arrived, row: Row, known: Sequence[Known], *, new: bool = False) -> _Pair:
    reported = one.record.findings
    training = [each for each in known if each.source is Source.TRAINING]
    return _Pair(
        arrived=one,
        row=row,
        known=known,
        new=new,
        other_findings=not same(known, reported),
        severities=[(each.code, each.severity) for each in reported]
        + [(each.code, each.severity) for each in training],
    )


def _store_findings(session: Session, scan: Scan, pairs: Sequence[_Pair], at: datetime) -> None:
    others = [
        Change(pair.row.id, pair.known, pair.arrived.record.findings)
        for pair in pairs
        if pair.other_findings
    ]
    store(session, scan.data_set_id, others, at)


def _store_facts(session: Session, scan: Scan, pairs: Sequence[_Pair]) -> None:
    """Update the samples with other facts one by one, and mark all as found by this scan."""
    others = []
    older = [pair for pair in pairs if not pair.new]
    for pair in older:
        kept = None if pair.other_content else pair.row.thumbnail
        present = facts(pair.arrived, pair.severities, kept)
        if any(getattr(pair.row, name) != value for name, value in present.items()):
            others.append({"id": pair.row.id, "version": pair.version, **present})
    update_samples(session, others)
    mark_found(session, scan, [pair.row.id for pair in older])


def _judge(
    session: Session, scan: Scan, pairs: Sequence[_Pair], at: datetime, changes: Changes
) -> None:
    """Move the samples that may not stand as they did."""
    steps: dict[Action, list[Step]] = {Action.HOLD: [], Action.CLEAR: []}
    for pair in pairs:
        if pair.new and not pair.arrived.record.held:
            continue  # clean, as it was inserted
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
