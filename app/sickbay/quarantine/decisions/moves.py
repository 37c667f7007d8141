"""The legal moves, as data, and the one function that makes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from uuid import uuid4

from sqlalchemy.orm import Session

from sickbay.contract.errors import IllegalMove
from sickbay.database.tables import now
from sickbay.quarantine import tally
from sickbay.quarantine.bulk import insert_rows, update_samples
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.decisions.subjects import Subject
from sickbay.quarantine.tables import Action, Decision, Status

CLEAN, HELD, APPROVED, REPAIRED, EXCLUDED = Status
_ANY = frozenset(Status)

LEGAL: Mapping[Action, tuple[frozenset[Status], frozenset[Status]]] = MappingProxyType(
    {
        Action.HOLD: (frozenset({CLEAN, APPROVED, REPAIRED, EXCLUDED}), frozenset({HELD})),
        Action.APPROVE: (frozenset({HELD}), frozenset({APPROVED})),
        Action.REPAIR: (frozenset({HELD}), frozenset({REPAIRED})),
        Action.EXCLUDE: (frozenset({HELD, CLEAN}), frozenset({EXCLUDED})),
        Action.REOPEN: (frozenset({APPROVED, REPAIRED, EXCLUDED}), frozenset({HELD})),
        Action.CLEAR: (frozenset({HELD, APPROVED}), frozenset({CLEAN})),
        Action.UNDO: (_ANY, _ANY),
    }
)
"""For each action: from which statuses, to which."""


@dataclass(frozen=True, slots=True)
class Step:
    """One sample, and where it will stand."""

    subject: Subject
    to: Standing


@dataclass(frozen=True, slots=True)
class Deed:
    """What the decisions of one act share."""

    data_set_id: int
    action: Action
    reviewer: str
    reason: str = ""
    note: str = ""
    undoes: str | None = None
    batch: str = field(default_factory=lambda: uuid4().hex)
    at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class Moved:
    """A sample after a move."""

    id: int
    version: int
    status: Status


def move(
    session: Session, deed: Deed, steps: Sequence[Step], *, counted: bool = True
) -> list[Moved]:
    """Change status, append the decisions, raise the versions and keep the tally, as one.

    Nothing else changes a sample's status. ``counted`` is false only while a scan is applied,
    which counts everything anew at its end.

    Raises:
        IllegalMove: a status does not allow the action; nothing was changed.
    """
    refuse_illegal(deed.action, steps)
    insert_rows(session, Decision, [_decision(deed, step) for step in steps])
    update_samples(session, [_sample(step) for step in steps])
    if counted:
        tally.shift(session, deed.data_set_id, _changes(steps))
    return [Moved(step.subject.id, step.subject.version + 1, step.to.status) for step in steps]


def refuse_illegal(action: Action, steps: Sequence[Step]) -> None:
    """Refuse all steps where one is not legal.

    Raises:
        IllegalMove: a status does not allow the action.
    """
    sources, targets = LEGAL[action]
    for step in steps:
        was = step.subject.standing.status
        if was not in sources or step.to.status not in targets:
            raise IllegalMove(
                f"A sample that is {was} does not allow {action}. Nothing was changed."
            )


def _decision(deed: Deed, step: Step) -> dict[str, object]:
    was = step.subject.standing
    return {
        "data_set_id": deed.data_set_id,
        "sample_id": step.subject.id,
        "batch": deed.batch,
        "action": deed.action,
        "was": was.status,
        "became": step.to.status,
        "reason": deed.reason,
        "note": deed.note,
        "reviewer": deed.reviewer,
        "at": deed.at,
        "sha256": step.subject.sha256,
        "before": was.to_json(),
        "undoes": deed.undoes,
    }


def _sample(step: Step) -> dict[str, object]:
    return {"id": step.subject.id, "version": step.subject.version + 1, **step.to.columns()}


def _changes(steps: Sequence[Step]) -> tally.Shift:
    changes = tally.Shift()
    for step in steps:
        subject = step.subject
        for facet, value in tally.facets_of(subject.split, subject.label, subject.codes):
            changes[subject.standing.status, facet, value] -= 1
            changes[step.to.status, facet, value] += 1
    return changes
