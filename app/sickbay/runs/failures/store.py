"""Storing failures: each in its group, consequences in the group of their root cause."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from sickbay.quarantine.tables import Sample
from sickbay.runs import outbox
from sickbay.runs.failures.adopt import adopt
from sickbay.runs.failures.group import GroupNow, Groups
from sickbay.runs.failures.ready import ReadyFailure
from sickbay.runs.failures.tables import Failure, FailureSample
from sickbay.runs.moments import moment
from sickbay.runs.samples.suspects import count_failures, hold_named
from sickbay.runs.standing import AttemptNow
from sickbay.runs.tables import Attempt, ChangeKind

Pairs: TypeAlias = Sequence[tuple[ReadyFailure, GroupNow]]

_PATHS_AT_ONCE = 500
_STORE = insert(Failure).returning(Failure.id, sort_by_parameter_order=True)
_STORE_SAMPLES = insert(FailureSample).returning(FailureSample.id)
_SAMPLES = select(Sample.raw_path, Sample.id).where(
    Sample.data_set_id == bindparam("data_set_id"),
    Sample.raw_path.in_(bindparam("paths", expanding=True)),
)


def store_failures(
    session: Session, attempt: AttemptNow, failures: Sequence[ReadyFailure]
) -> list[dict[str, Any]]:
    """Store failures of an attempt, root causes before what may follow from them.

    Returns:
        A line for the outbox for each of their groups.
    """
    groups = Groups(session, attempt.run_id)
    roots = [one for one in failures if not one.secondary]
    followers = [one for one in failures if one.secondary]
    lines = _store(session, attempt, [(one, groups.own(one)) for one in roots])
    root = groups.root(attempt.id, followers) if followers else None
    lines += _store(session, attempt, [(one, root or groups.own(one)) for one in followers])
    groups.write()
    if roots:
        adopt(session, groups, attempt.id, roots)
    return lines


def _store(session: Session, attempt: AttemptNow, pairs: Pairs) -> list[dict[str, Any]]:
    """Store failures in their groups."""
    if not pairs:
        return []
    rows = [
        {
            "group_id": group.id,
            "attempt_id": attempt.id,
            "attempt": attempt.number,
            "rank": one.event.rank,
            "seq": one.event.seq,
            "step": one.body.step,
            "secondary": one.secondary,
            "time": moment(one.event.time),
            "received_at": one.received_at,
            "event": one.line,
            "ref": one.body.ref or None,
        }
        for one, group in pairs
    ]
    for one, group in pairs:
        group.count(one)
    ids = session.connection().execute(_STORE, rows).scalars().all()
    _store_samples(session, attempt, pairs, ids)
    return list(_lines(attempt, pairs))


def _lines(attempt: AttemptNow, pairs: Pairs) -> Iterator[dict[str, Any]]:
    for group in dict.fromkeys(group for _, group in pairs):
        own = [one for one, its in pairs if its is group]
        steps = [one.body.step for one in own if one.body.step is not None]
        yield outbox.line(
            attempt.run_id,
            ChangeKind.FAILURE,
            attempt.number,
            own[0].event.rank,
            ref=group.id,
            steps=(min(steps, default=None), max(steps, default=None)),
        )


def _store_samples(session: Session, attempt: AttemptNow, pairs: Pairs, ids: Iterable[int]) -> None:
    """Store which samples were in the batch, tied to those of the data set."""
    known = _samples(session, attempt, {path.raw for one, _ in pairs for path in one.paths})
    rows = [
        {
            "group_id": group.id,
            "failure_id": failure_id,
            "raw_path": path.raw,
            "path": path.text,
            "sample_id": known.get(path.raw),
        }
        for (one, group), failure_id in zip(pairs, ids, strict=True)
        for path in one.paths
    ]
    if rows:
        session.connection().execute(_STORE_SAMPLES, rows)
        count_failures(session, [known[one] for pair in pairs for one in _known(pair, known)])
    named = [
        (pair[0], known[raw])
        for pair in pairs
        for raw in _known(pair, known)
        if len(pair[0].paths) == 1
    ]
    if named:
        hold_named(session, session.get_one(Attempt, attempt.id), named, named[0][0].received_at)


def _known(pair: tuple[ReadyFailure, GroupNow], known: Mapping[bytes, int]) -> list[bytes]:
    return [path.raw for path in pair[0].paths if path.raw in known]


def _samples(session: Session, attempt: AttemptNow, paths: set[bytes]) -> Mapping[bytes, int]:
    """Return which paths are samples of the run's data set."""
    wanted = sorted(paths) if attempt.data_set_id is not None else []
    found: dict[bytes, int] = {}
    for start in range(0, len(wanted), _PATHS_AT_ONCE):
        values = {
            "data_set_id": attempt.data_set_id,
            "paths": wanted[start : start + _PATHS_AT_ONCE],
        }
        found.update(session.connection().execute(_SAMPLES, values).all())
    return found
