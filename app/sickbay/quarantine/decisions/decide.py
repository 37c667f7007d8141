"""Decisions by people: on chosen samples, or on all that a filter matches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.errors import BadInput, Conflict, IllegalMove, NotFound, Refused
from sickbay.quarantine.decisions import reasons
from sickbay.quarantine.decisions.moves import Deed, Moved, Step, move
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.decisions.subjects import Subject, chunks, subjects
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.matching import matching_ids
from sickbay.quarantine.tables import Action, Decision, Status

MAX_PICKS = 1000
"""Samples chosen one by one in one act; more are decided by filter."""
MOVED_SHOWN = 1000
"""Samples that an act lists; it counts all."""
_BY_PEOPLE = frozenset({Action.HOLD, Action.APPROVE, Action.EXCLUDE, Action.REOPEN})


@dataclass(frozen=True, slots=True)
class Pick:
    """A sample as the person saw it."""

    id: int
    version: int


@dataclass(frozen=True, slots=True)
class Act:
    """What one act of a person came to."""

    batch: str
    action: Action
    count: int
    moved: tuple[Moved, ...]
    """The first thousand of ``count``."""
    passed_over: int = 0
    """Samples an undo left alone, because somebody decided on them since."""


def decide(
    session: Session,
    data_set_id: int,
    picks: Sequence[Pick],
    action: Action,
    *,
    reason: str = "",
    note: str = "",
    reviewer: str,
) -> Act:
    """Carry out one act on the picked samples: all of them or none.

    Raises:
        BadInput: no or too many picks, or an unknown reason, or an action of others.
        NotFound: a sample is not in the data set.
        Conflict: a sample changed since the person saw it.
        IllegalMove: a status, a name or missing content does not allow the action.
    """
    deed = _deed(data_set_id, action, reason, note, reviewer)
    if not picks or len(picks) > MAX_PICKS:
        raise BadInput(f"Choose 1 to {MAX_PICKS} samples, or decide on all that a filter matches.")
    found = current(session, data_set_id, picks)
    return act(deed, move(session, deed, [step_of(deed, subject) for subject in found]))


def decide_all(
    session: Session,
    data_set_id: int,
    chosen: Filter,
    expected: int,
    action: Action,
    *,
    reason: str = "",
    note: str = "",
    reviewer: str,
) -> Act:
    """Carry out one act on all that the filter matches, if they are as many as the person saw.

    Raises:
        BadInput: an unknown reason, or an action of others.
        Conflict: the filter matches another number of samples now.
        Refused: it matches none.
        IllegalMove: a status, a name or missing content does not allow the action.
    """
    deed = _deed(data_set_id, action, reason, note, reviewer)
    ids = matching_ids(session, data_set_id, chosen)
    if len(ids) != expected:
        raise Conflict(
            f"The filter matches {len(ids)} samples now, not {expected}. "
            "Nothing was changed; look again."
        )
    if not ids:
        raise Refused("The filter matches no sample, so there is nothing to decide.")
    moved: list[Moved] = []
    for some in chunks(ids):
        found = subjects(session, data_set_id, some)
        moved += move(session, deed, [step_of(deed, subject) for subject in found.values()])
    return act(deed, moved)


def act(deed: Deed, moved: Sequence[Moved], passed_over: int = 0) -> Act:
    """Return what the deed came to."""
    return Act(deed.batch, deed.action, len(moved), tuple(moved[:MOVED_SHOWN]), passed_over)


def _deed(data_set_id: int, action: Action, reason: str, note: str, reviewer: str) -> Deed:
    reasons.check(reason, note)
    if action not in _BY_PEOPLE:
        raise BadInput(f"A decision is one of {', '.join(sorted(_BY_PEOPLE))}.")
    return Deed(data_set_id, action, reviewer, reason, note)


def current(session: Session, data_set_id: int, picks: Iterable[Pick]) -> list[Subject]:
    """Return the picked samples, if each is still as the person saw it.

    Raises:
        NotFound: a sample is not in the data set.
        Conflict: a sample changed since; the sentence says what it is now and by whom.
    """
    seen = {pick.id: pick.version for pick in picks}
    found = subjects(session, data_set_id, list(seen))
    if len(found) < len(seen):
        raise NotFound("A sample is not in this data set (any more). Nothing was changed.")
    _refuse_overtaken(session, seen, found)
    return list(found.values())


def _refuse_overtaken(
    session: Session, seen: Mapping[int, int], found: Mapping[int, Subject]
) -> None:
    overtaken = [one for one in found.values() if one.version != seen[one.id]]
    if not overtaken:
        return
    first = overtaken[0]
    others = f"{len(overtaken)} of {len(seen)} samples changed; the first" if len(seen) > 1 else ""
    raise Conflict(
        f"{others or 'This sample'} is {first.standing.status} now{_last(session, first.id)}: "
        "it changed after you looked. Nothing was done; look again."
    )


def _last(session: Session, sample_id: int) -> str:
    """Return the newest decision on the sample in a few words."""
    newest = session.execute(
        select(Decision.action, Decision.reviewer, Decision.at)
        .where(Decision.sample_id == sample_id)
        .order_by(Decision.id.desc())
        .limit(1)
    ).first()
    if newest is None:
        return ""
    action, reviewer, at = newest
    return f" (last: {action} by {reviewer}, {at:%Y-%m-%d %H:%M} UTC)"


def step_of(deed: Deed, subject: Subject) -> Step:
    """Return where a person's action leads this sample.

    Raises:
        IllegalMove: an approval of what has no readable bytes or an unsafe name; a hold of what
            somebody decided on.
    """
    was = subject.standing
    match deed.action:
        case Action.APPROVE:
            _refuse_unfit(subject)
            to = Standing(
                Status.APPROVED,
                held_at=was.held_at,
                approved_codes=subject.blocking,
                decided_sha256=subject.sha256,
            )
        case Action.EXCLUDE:
            to = Standing(Status.EXCLUDED, held_at=was.held_at, decided_sha256=subject.sha256)
        case Action.HOLD if was.status is not Status.CLEAN:
            raise IllegalMove(
                f"A sample that is {was.status} is reopened, not held. Nothing was changed."
            )
        case _:
            to = Standing(Status.HELD, held_at=deed.at)
    return Step(subject, to)


def _refuse_unfit(subject: Subject) -> None:
    if subject.sha256 is None:
        raise IllegalMove(
            "A sample without readable bytes cannot be kept as it is: replace it or leave it out. "
            "Nothing was changed."
        )
    refuse_unsafe(subject)


def refuse_unsafe(subject: Subject) -> None:
    """Refuse a name that no manifest can list.

    Raises:
        IllegalMove: the name is unsafe.
    """
    if subject.unsafe is not None:
        raise IllegalMove(
            f"{subject.unsafe} A release cannot list it: rename the file and scan again, or leave "
            "it out. Nothing was changed."
        )
