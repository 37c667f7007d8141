"""Replacing a sample's file; the original is never touched."""

from dataclasses import asdict, dataclass

from sqlalchemy import insert
from sqlalchemy.orm import Session

from sickbay.contract.errors import IllegalMove
from sickbay.contract.rows import row_of
from sickbay.quarantine import data_sets
from sickbay.quarantine.decisions import reasons
from sickbay.quarantine.decisions.decide import Act, Pick, act, current, refuse_unsafe
from sickbay.quarantine.decisions.moves import Deed, Step, move
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.decisions.subjects import Subject
from sickbay.quarantine.tables import Action, Replacement, Status


@dataclass(frozen=True, slots=True)
class Facts:
    """A replacement that passed the checks and whose bytes are stored as a blob."""

    sha256: str
    size: int
    width: int | None = None
    height: int | None = None
    format: str | None = None
    mode: str | None = None
    thumbnail: str | None = None


def repair(
    session: Session,
    data_set_id: int,
    pick: Pick,
    facts: Facts,
    *,
    reason: str = "",
    note: str = "",
    reviewer: str,
) -> Act:
    """Let the replacement stand for the sample's file.

    Raises:
        BadInput: an unknown reason.
        NotFound: the sample is not in the data set.
        Conflict: it changed since the person saw it.
        IllegalMove: it is not held, its name is unsafe, it is a row of a file, or the replacement
            is the same bytes.
    """
    reasons.check(reason, note)
    (subject,) = current(session, data_set_id, [pick])
    _refuse_row(session, data_set_id, subject)
    refuse_unsafe(subject)
    if facts.sha256 == subject.sha256:
        raise IllegalMove(
            "The replacement has the same bytes as the original. Nothing was changed."
        )
    if session.get(Replacement, facts.sha256) is None:
        session.execute(insert(Replacement).values(**asdict(facts)))
    deed = Deed(data_set_id, Action.REPAIR, reviewer, reason, note)
    to = Standing(
        Status.REPAIRED,
        held_at=subject.standing.held_at,
        replacement=facts.sha256,
        decided_sha256=subject.sha256,
    )
    return act(deed, move(session, deed, [Step(subject, to)]))


def _refuse_row(session: Session, data_set_id: int, subject: Subject) -> None:
    if row_of(data_sets.by_id(session, data_set_id).layout, subject.raw_path) is not None:
        raise IllegalMove(
            "This sample is a row of a file, so no file can stand for it: correct the row and scan "
            "again, or leave it out. Nothing was changed."
        )
