"""The outbox: every write of a run leaves a line, in the same transaction.

Live pages read on from the last line they saw. Old lines are trimmed; who comes back after
that reads everything anew.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select
from sqlalchemy.orm import Session

from sickbay.runs.tables import Change, ChangeKind, Run

KEPT = 20_000
"""Lines that stay: at ten batches a second, half an hour to come back in."""
_TRIM_EVERY = 1000

_WRITE = insert(Change).returning(Change.id)
_TRIM = delete(Change).where(Change.id <= bindparam("last"))


@dataclass(frozen=True, slots=True)
class Line:
    """What is new: ``ref`` is the failure group or the message it is about."""

    id: int
    run: str
    kind: ChangeKind
    attempt: int
    rank: int
    ref: int | None
    first_step: int | None
    last_step: int | None
    series: tuple[str, ...]


def line(
    run_id: int,
    kind: ChangeKind,
    attempt: int,
    rank: int,
    *,
    ref: int | None = None,
    steps: tuple[int | None, int | None] = (None, None),
    series: Collection[str] = (),
) -> dict[str, Any]:
    """Return a line to be written."""
    return {
        "run_id": run_id,
        "kind": kind,
        "attempt": attempt,
        "rank": rank,
        "ref": ref,
        "first_step": steps[0],
        "last_step": steps[1],
        "series": sorted(series),
    }


def write(session: Session, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write lines; from time to time, trim the oldest."""
    if not lines:
        return
    connection = session.connection()
    written = max(connection.execute(_WRITE, lines).scalars())
    if written % _TRIM_EVERY < len(lines):
        connection.execute(_TRIM, {"last": written - KEPT})


def tail(session: Session, after: int, limit: int = 500, run: str | None = None) -> list[Line]:
    """Return the lines after one, oldest first; of one run, or of all."""
    query = (
        select(
            Change.id,
            Run.key,
            Change.kind,
            Change.attempt,
            Change.rank,
            Change.ref,
            Change.first_step,
            Change.last_step,
            Change.series,
        )
        .join(Run, Run.id == Change.run_id)
        .where(Change.id > after)
        .order_by(Change.id)
        .limit(limit)
    )
    if run is not None:
        query = query.where(Run.key == run)
    return [
        Line(
            row.id,
            row.key,
            row.kind,
            row.attempt,
            row.rank,
            row.ref,
            row.first_step,
            row.last_step,
            tuple(row.series),
        )
        for row in session.execute(query)
    ]


def newest(session: Session) -> int:
    """Return the id of the last line, or 0."""
    return session.scalar(select(func.max(Change.id))) or 0


def oldest(session: Session) -> int:
    """Return the id of the oldest line left, or 0; who last saw an earlier one missed some."""
    return session.scalar(select(func.min(Change.id))) or 0
