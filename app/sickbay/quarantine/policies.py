"""The policies of data sets: read, changed by people, and never forgotten."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.errors import Conflict
from sickbay.contract.policy import Policy
from sickbay.database.tables import now
from sickbay.quarantine.tables import PolicyChange


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    """A data set's policy, and who set it; version 0 is what holds where nobody did."""

    policy: Policy
    version: int = 0
    changed_by: str | None = None
    changed_at: datetime | None = None

    @property
    def differences(self) -> dict[str, Any]:
        """What is not as by default."""
        return self.policy.differences()


def read(session: Session, data_set_id: int) -> StoredPolicy:
    """Return the policy in force."""
    return next(iter(history(session, data_set_id, most=1)), StoredPolicy(Policy()))


def history(session: Session, data_set_id: int, most: int = 50) -> list[StoredPolicy]:
    """Return every policy the data set was given, newest first."""
    changes = session.scalars(
        select(PolicyChange)
        .where(PolicyChange.data_set_id == data_set_id)
        .order_by(PolicyChange.version.desc())
        .limit(most)
    )
    return [
        StoredPolicy(Policy.from_json(one.policy), one.version, one.changed_by, one.changed_at)
        for one in changes
    ]


def change(
    session: Session, data_set_id: int, wanted: Policy, *, expected: int, by: str
) -> StoredPolicy:
    """Put a policy in force, from the next scan on; a policy without differences resets it.

    Setting what is in force already changes nothing.

    Args:
        session: a writing one.
        data_set_id: whose policy.
        wanted: the policy, whole.
        expected: the version that the person saw.
        by: who changes it.

    Raises:
        Conflict: somebody changed it since; the sentence says who and when.
    """
    present = read(session, data_set_id)
    if present.version != expected:
        raise Conflict(
            f"The policy was changed after you looked{_by_whom(present)}. Nothing was done; look "
            "again."
        )
    if present.policy == wanted:
        return present
    made = StoredPolicy(wanted, expected + 1, by, now())
    session.add(
        PolicyChange(
            data_set_id=data_set_id,
            version=made.version,
            policy=made.differences,
            changed_by=by,
            changed_at=made.changed_at,
        )
    )
    session.flush()
    return made


def _by_whom(present: StoredPolicy) -> str:
    if present.changed_at is None:
        return ""
    return f", by {present.changed_by} at {present.changed_at:%Y-%m-%d %H:%M} UTC"
