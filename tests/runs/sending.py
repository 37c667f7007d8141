"""A trainer as tests play it: opens a run and sends events."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sickbay.contract.event import Body, Event, Failure, FailureKind, Points
from sickbay.contract.event_batch import Batch, Receipt
from sickbay.contract.opening import Opening
from sickbay.database import Database
from sickbay.runs.ingest import receive
from sickbay.runs.opening import open_run

NOON = 1_800_000_000.0


def points(
    series: str, steps: Sequence[int], values: Sequence[float], times: Sequence[float] | None = None
) -> Points:
    """Return points, a second apart where no times are given."""
    given = [NOON + step for step in steps] if times is None else times
    return Points(series, array("q", steps), array("d", values), array("d", given))


def failure(message: str = "it broke", **fields: Any) -> Failure:
    """Return a failure of a loader."""
    return Failure(
        **{
            "what": FailureKind.LOADER_ERROR,
            "exception_type": "OSError",
            "message": message,
            **fields,
        }
    )


@dataclass
class Trainer:
    """One process of a run."""

    database: Database
    name: str = "a run"
    launch: str = "launch"
    rank: int = 0
    dataset: str | None = None
    run: str = ""
    attempt: int = 0
    seq: int = field(default=0)

    def __post_init__(self) -> None:
        opening = Opening(
            self.name,
            self.launch,
            f"process {self.rank}",
            rank=self.rank,
            dataset=self.dataset,
        )
        opened = self.database.writing(lambda session: open_run(session, opening))
        self.run, self.attempt = opened.run, opened.attempt

    def event(self, body: Body, *, time: float = NOON) -> Event:
        """Return the next event."""
        self.seq += 1
        return Event(self.seq, self.rank, time, body)

    def send(self, *events: Event, at: datetime | None = None) -> Receipt:
        """Send events as one batch."""
        return receive(self.database, self.run, Batch(self.attempt, events), at=at)

    def log(self, *bodies: Body, time: float = NOON) -> Receipt:
        """Send bodies as events of one batch."""
        return self.send(*(self.event(body, time=time) for body in bodies))
