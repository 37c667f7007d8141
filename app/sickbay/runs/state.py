"""Whether a run lives, told from when the server last heard of it: its own clock alone counts."""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, and_

from sickbay.contract.event import Ending
from sickbay.runs.tables import Attempt

STALLED_AFTER = timedelta(seconds=60)
"""Trainers send a sign of life at least every few seconds; a minute without is no accident."""
DEAD_AFTER = timedelta(minutes=15)
"""Beyond a restart of the server or the network, and any time-out of a collective."""


class RunState(StrEnum):
    """How a run, or one attempt of it, is doing."""

    LIVE = "live"
    STALLED = "stalled"
    DEAD = "dead"
    FINISHED = "finished"
    FAILED = "failed"


def state_of(heartbeat_at: datetime, ending: Ending | None, at: datetime) -> RunState:
    """Return the state of an attempt; one that was stopped by hand has finished."""
    if ending is not None:
        return RunState.FAILED if ending is Ending.FAILED else RunState.FINISHED
    silent = at - heartbeat_at
    if silent < STALLED_AFTER:
        return RunState.LIVE
    return RunState.STALLED if silent < DEAD_AFTER else RunState.DEAD


def condition(state: RunState, at: datetime) -> ColumnElement[bool]:
    """Return which attempts have a state, as a condition of a query."""
    stalled, dead = at - STALLED_AFTER, at - DEAD_AFTER
    open_ended = Attempt.ending.is_(None)
    return {
        RunState.LIVE: and_(open_ended, Attempt.heartbeat_at > stalled),
        RunState.STALLED: and_(
            open_ended, Attempt.heartbeat_at <= stalled, Attempt.heartbeat_at > dead
        ),
        RunState.DEAD: and_(open_ended, Attempt.heartbeat_at <= dead),
        RunState.FINISHED: Attempt.ending.in_([Ending.FINISHED, Ending.STOPPED]),
        RunState.FAILED: Attempt.ending == Ending.FAILED,
    }[state]
