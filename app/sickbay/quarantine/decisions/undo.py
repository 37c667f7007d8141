"""Taking back a whole act."""

from collections.abc import Iterator, Mapping

from sqlalchemy import Exists, exists, func, select
from sqlalchemy.orm import Session, aliased

from sickbay.contract.errors import Conflict, IllegalMove, NotFound
from sickbay.quarantine.decisions.decide import Act, act
from sickbay.quarantine.decisions.moves import Deed, Moved, Step, move
from sickbay.quarantine.decisions.standing import Standing, from_json, still_holds
from sickbay.quarantine.decisions.subjects import CHUNK, Subject, subjects
from sickbay.quarantine.tables import Action, Decision, Sample, Scan, Status

UNDO_DEPTH = 200
"""Acts looked back on in search of one that can be undone, undone ones and undos included."""


def latest(session: Session, data_set_id: int, reviewer: str) -> str | None:
    """Return the batch of the reviewer's newest act that can still be undone, or nothing.

    Goes back act by act, not row by row: one act may be a hundred thousand decisions.
    """
    mine = select(Decision.batch).where(
        Decision.data_set_id == data_set_id, Decision.reviewer == reviewer
    )
    newest_first = mine.order_by(Decision.id.desc()).limit(1)
    batch = session.scalar(newest_first)
    for _ in range(UNDO_DEPTH):
        if batch is None or _can_be_undone(session, batch):
            return batch
        first = session.scalar(select(func.min(Decision.id)).where(Decision.batch == batch))
        batch = session.scalar(newest_first.where(Decision.id < first))
    return None


def _can_be_undone(session: Session, batch: str) -> bool:
    taken_back = aliased(Decision)
    stands = (
        select(Decision.id)
        .join(Sample, Sample.id == Decision.sample_id)
        .where(
            Decision.batch == batch,
            Decision.action != Action.UNDO,
            Sample.gone.is_(False),
            ~exists().where(taken_back.undoes == batch),
            ~_overtaken(),
        )
        .limit(1)
    )
    return session.scalar(stands) is not None


def _overtaken() -> Exists:
    """Whether another decision on the same sample came later and is still in force."""
    later, taken_back = aliased(Decision), aliased(Decision)
    undone = exists().where(
        taken_back.sample_id == later.sample_id, taken_back.undoes == later.batch
    )
    return exists().where(
        later.sample_id == Decision.sample_id,
        later.id > Decision.id,
        later.action != Action.UNDO,
        ~undone,
    )


def undo(session: Session, data_set_id: int, batch: str, *, reviewer: str) -> Act:
    """Bring back what was before the act, for each sample on which nothing was decided since.

    A sample whose former standing would be untrue by now (a clean one in which a scan found a
    fault meanwhile, an approval of content that has changed) becomes held instead.

    Raises:
        NotFound: there is no such act.
        IllegalMove: a scan made it, or it is itself an undo.
        Conflict: it was undone already, or each of its samples was decided on since.
    """
    _refuse(session, data_set_id, batch)
    deed = Deed(data_set_id, Action.UNDO, reviewer, undoes=batch)
    moved: list[Moved] = []
    for before in _decided(session, batch):
        found = subjects(session, data_set_id, list(before))
        steps = [_back(deed, subject, before[key]) for key, subject in found.items()]
        moved += move(session, deed, steps)
    if not moved:
        raise Conflict(
            "Each of these samples was decided on since, or is gone. Nothing was changed."
        )
    of_all = select(func.count()).select_from(Decision).where(Decision.batch == batch)
    return act(deed, moved, (session.scalar(of_all) or 0) - len(moved))


def _refuse(session: Session, data_set_id: int, batch: str) -> None:
    """Refuse what cannot be undone."""
    action = session.scalar(
        select(Decision.action)
        .where(Decision.batch == batch, Decision.data_set_id == data_set_id)
        .limit(1)
    )
    if action is None:
        raise NotFound("There is nothing of that kind to undo in this data set.")
    if action is Action.UNDO:
        raise IllegalMove("An undo is not undone; decide on the sample again.")
    if session.scalar(select(Scan.id).where(Scan.key == batch)) is not None:
        raise IllegalMove("What a scan found is not undone; decide on the sample instead.")
    by = session.scalar(select(Decision.reviewer).where(Decision.undoes == batch).limit(1))
    if by is not None:
        raise Conflict(f"This was undone already, by {by}. Nothing was changed.")


def _decided(session: Session, batch: str) -> Iterator[Mapping[int, Standing]]:
    """Yield where each sample stood before the act, unless it was decided on since.

    Some samples at a time.
    """
    last = 0
    while rows := session.execute(
        select(Decision.id, Decision.sample_id, Decision.before)
        .where(Decision.batch == batch, Decision.id > last, ~_overtaken())
        .order_by(Decision.id)
        .limit(CHUNK)
    ).all():
        last = rows[-1][0]
        yield {sample_id: from_json(before) for _, sample_id, before in rows}


def _back(deed: Deed, subject: Subject, was: Standing) -> Step:
    if still_holds(was, subject.sha256, subject.blocking):
        return Step(subject, was)
    return Step(subject, Standing(Status.HELD, held_at=was.held_at or deed.at))
