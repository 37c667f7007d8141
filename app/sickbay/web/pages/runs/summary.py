"""What a data set's overview says of its runs: those under way, and what broke last."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from sickbay.runs import find
from sickbay.runs.failures.find import GroupRow, groups
from sickbay.runs.state import RunState
from sickbay.web.pages.runs.groups import title_of
from sickbay.web.pages.runs.listing import RunLine, line

_MOST = 5
_RECENT = 50
"""Runs among whose failures the newest are looked for."""


@dataclass(frozen=True, slots=True)
class Training:
    """Runs under way or gone silent, and the newest failure groups with their titles."""

    running: tuple[RunLine, ...]
    broken: tuple[tuple[GroupRow, str], ...]
    any: bool


def training(session: Session, data_set: str) -> Training:
    """Read what trains on a data set, and what broke."""
    known = {data_set}
    rows = [
        row
        for state in (RunState.LIVE, RunState.STALLED)
        for row in find.runs(session, state=state, dataset=data_set, size=_MOST).rows
    ]
    mine = find.runs(session, dataset=data_set, size=_RECENT).rows
    keys = {row.key for row in mine if row.failures}
    broken = [one for one in groups(session) if one.run in keys] if keys else []
    return Training(
        running=tuple(line(row, known) for row in rows[:_MOST]),
        broken=tuple((one, title_of(one)) for one in broken[:_MOST]),
        any=bool(mine),
    )
