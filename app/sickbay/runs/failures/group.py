"""Groups of failures: found or made, and counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from sickbay.contract import taxonomy
from sickbay.runs.failures.causes import FOLLOWS_WITHIN
from sickbay.runs.failures.fingerprint import VERSION
from sickbay.runs.failures.ready import ReadyFailure
from sickbay.runs.failures.tables import Failure, FailureGroup
from sickbay.runs.moments import moment

_COUNTED = ("failures", "first_step", "last_step", "first_at", "last_at")
_COLUMNS = tuple(getattr(FailureGroup, name) for name in ("id", *_COUNTED))
_FIND = select(*_COLUMNS).where(
    FailureGroup.run_id == bindparam("run_id"),
    FailureGroup.version == VERSION,
    FailureGroup.fingerprint == bindparam("fingerprint"),
)
_WRITE = (
    update(FailureGroup)
    .where(FailureGroup.id == bindparam("its_id"))
    .values({name: bindparam(name) for name in _COUNTED} | {"merged_into": None})
)
_ADD = insert(FailureGroup)
_ROOT = (
    select(*_COLUMNS)
    .join(Failure, Failure.group_id == FailureGroup.id)
    .where(
        Failure.attempt_id == bindparam("attempt_id"),
        Failure.secondary.is_(False),
        Failure.time.between(bindparam("since"), bindparam("until")),
    )
    .order_by(Failure.time, Failure.rank, Failure.seq)
    .limit(1)
)


@dataclass(slots=True, eq=False)
class GroupNow:
    """What a batch may change of a group."""

    id: int
    failures: int
    first_step: int | None
    last_step: int | None
    first_at: datetime
    last_at: datetime

    def count(self, failure: ReadyFailure) -> None:
        """Count a failure in."""
        time, step = moment(failure.event.time), failure.body.step
        self.failures += 1
        self.first_at, self.last_at = min(self.first_at, time), max(self.last_at, time)
        if step is not None:
            self.first_step = step if self.first_step is None else min(self.first_step, step)
            self.last_step = step if self.last_step is None else max(self.last_step, step)


@dataclass(slots=True)
class Groups:
    """The groups that a batch's failures belong to, each read once and written once."""

    session: Session
    run_id: int
    _own: dict[str, GroupNow] = field(default_factory=dict)
    _seen: dict[int, GroupNow] = field(default_factory=dict)

    def own(self, failure: ReadyFailure) -> GroupNow:
        """Return the group of a failure's fingerprint, made where there is none."""
        known = self._own.get(failure.fingerprint)
        if known is None:
            key = {"run_id": self.run_id, "fingerprint": failure.fingerprint}
            row = self.session.connection().execute(_FIND, key).one_or_none()
            made = self._new(failure) if row is None else GroupNow(*row)
            known = self._own[failure.fingerprint] = self._seen.setdefault(made.id, made)
        return known

    def root(self, attempt_id: int, followers: Sequence[ReadyFailure]) -> GroupNow | None:
        """Return the group of the first failure in an attempt that may have set these off."""
        window = {"attempt_id": attempt_id, **around(followers)}
        row = self.session.connection().execute(_ROOT, window).one_or_none()
        if row is None:
            return None
        return self._seen.setdefault(row.id, GroupNow(*row))

    def write(self) -> None:
        """Write down what was counted."""
        rows = [
            {"its_id": group.id, **{name: getattr(group, name) for name in _COUNTED}}
            for group in self._seen.values()
        ]
        self.session.connection().execute(_WRITE, rows)

    def _new(self, failure: ReadyFailure) -> GroupNow:
        body, time = failure.body, moment(failure.event.time)
        verdict = taxonomy.classify(body.what, body.exception_type, body.message, body.traceback)
        values = {
            "run_id": self.run_id,
            "fingerprint": failure.fingerprint,
            "version": VERSION,
            "what": body.what.value,
            "exception_type": body.exception_type,
            "message": body.message,
            "layer": None if verdict is None else verdict.layer,
            "category": None if verdict is None else verdict.category,
            "secondary": failure.secondary,
            "failures": 0,
            "first_at": time,
            "last_at": time,
        }
        done = self.session.connection().execute(_ADD, values)
        (group_id,) = done.inserted_primary_key or (0,)
        return GroupNow(group_id, 0, None, None, time, time)


def around(failures: Sequence[ReadyFailure]) -> dict[str, Any]:
    """Return the span of time in which one failure may have set another off."""
    times = [moment(one.event.time) for one in failures]
    return {"since": min(times) - FOLLOWS_WITHIN, "until": max(times) + FOLLOWS_WITHIN}
