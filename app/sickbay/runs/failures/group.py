"""Groups of failures: found or made, counted, and joined when a root cause shows itself late."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from sickbay.contract import taxonomy
from sickbay.runs.failures.causes import FOLLOWS_WITHIN
from sickbay.runs.failures.fingerprint import VERSION
from sickbay.runs.failures.ready import ReadyFailure
from sickbay.runs.failures.tables import Failure, FailureGroup, FailureSample
from sickbay.runs.moments import moment
from sickbay.runs.tables import Attempt


@dataclass(slots=True)
class Groups:
    """The groups that a batch's failures belong to, each looked up once."""

    session: Session
    run_id: int
    _known: dict[str, FailureGroup] = field(default_factory=dict)

    def own(self, failure: ReadyFailure) -> FailureGroup:
        """Return the group of a failure's fingerprint, made where there is none."""
        found = self._known.get(failure.fingerprint)
        if found is None:
            found = self._find(failure.fingerprint) or self._new(failure)
            self._known[failure.fingerprint] = found
        found.merged_into = None
        return found

    def _find(self, fingerprint: str) -> FailureGroup | None:
        return self.session.scalar(
            select(FailureGroup).where(
                FailureGroup.run_id == self.run_id,
                FailureGroup.version == VERSION,
                FailureGroup.fingerprint == fingerprint,
            )
        )

    def _new(self, failure: ReadyFailure) -> FailureGroup:
        body, time = failure.body, moment(failure.event.time)
        verdict = taxonomy.classify(body.what, body.exception_type, body.message, body.traceback)
        made = FailureGroup(
            run_id=self.run_id,
            fingerprint=failure.fingerprint,
            version=VERSION,
            what=body.what.value,
            exception_type=body.exception_type,
            message=body.message,
            layer=None if verdict is None else verdict.layer,
            category=None if verdict is None else verdict.category,
            secondary=failure.secondary,
            merged_into=None,
            failures=0,
            first_step=None,
            last_step=None,
            first_at=time,
            last_at=time,
        )
        self.session.add(made)
        self.session.flush()
        return made


def count_in(found: FailureGroup, failure: ReadyFailure) -> None:
    """Count a failure into its group."""
    time, step = moment(failure.event.time), failure.body.step
    found.failures += 1
    found.first_at, found.last_at = min(found.first_at, time), max(found.last_at, time)
    if step is not None:
        found.first_step = step if found.first_step is None else min(found.first_step, step)
        found.last_step = step if found.last_step is None else max(found.last_step, step)


def root_of(
    session: Session, attempt: Attempt, followers: Sequence[ReadyFailure]
) -> FailureGroup | None:
    """Return the group of the first failure in the attempt that may have set these off."""
    times = [moment(one.event.time) for one in followers]
    return session.scalar(
        select(FailureGroup)
        .join(Failure, Failure.group_id == FailureGroup.id)
        .where(
            Failure.attempt_id == attempt.id,
            Failure.secondary.is_(False),
            Failure.time.between(min(times) - FOLLOWS_WITHIN, max(times) + FOLLOWS_WITHIN),
        )
        .order_by(Failure.time, Failure.rank, Failure.seq)
        .limit(1)
    )


def adopt(session: Session, attempt: Attempt, roots: Sequence[ReadyFailure]) -> None:
    """Move failures that came before their root cause into its group."""
    times = [moment(one.event.time) for one in roots]
    early = (
        Failure.attempt_id == attempt.id,
        Failure.secondary.is_(True),
        Failure.time.between(min(times) - FOLLOWS_WITHIN, max(times) + FOLLOWS_WITHIN),
    )
    orphaned = session.scalars(
        select(FailureGroup).where(
            FailureGroup.run_id == attempt.run_id,
            FailureGroup.secondary.is_(True),
            FailureGroup.failures > 0,
            FailureGroup.id.in_(select(Failure.group_id).where(*early)),
        )
    ).all()
    root = root_of(session, attempt, roots) if orphaned else None
    if root is None:
        return
    for group in orphaned:
        _move(session, group, root, early)
    _recount(session, root)


def _move(
    session: Session,
    group: FailureGroup,
    root: FailureGroup,
    early: Sequence[ColumnElement[bool]],
) -> None:
    moved = session.scalars(
        update(Failure)
        .where(Failure.group_id == group.id, *early)
        .values(group_id=root.id)
        .returning(Failure.id)
    ).all()
    session.execute(
        update(FailureSample)
        .where(
            FailureSample.group_id == group.id,
            FailureSample.failure_id.in_(select(Failure.id).where(Failure.group_id == root.id)),
        )
        .values(group_id=root.id)
    )
    if moved:
        _recount(session, group)
        group.merged_into = root.id if group.failures == 0 else None


def _recount(session: Session, group: FailureGroup) -> None:
    """Count a group's failures anew."""
    number, first_step, last_step, first_at, last_at = session.execute(
        select(
            func.count(),
            func.min(Failure.step),
            func.max(Failure.step),
            func.min(Failure.time),
            func.max(Failure.time),
        ).where(Failure.group_id == group.id)
    ).one()
    group.failures = number
    if number:
        group.first_step, group.last_step = first_step, last_step
        group.first_at, group.last_at = first_at, last_at
