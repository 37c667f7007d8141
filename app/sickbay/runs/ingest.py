"""Batches of events coming in: each event once, whole batches or none, acknowledged when on disk.

What needs no database happens before the writer's turn; in it there are a few statements, each
prepared once. The key (attempt, rank, seq) is unique: the same event again is free, another one
under the same key is rejected alone.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from sickbay.contract.errors import Busy, SickbayError, StorageFailed
from sickbay.contract.event_batch import Batch, Receipt, Rejection
from sickbay.database import Database
from sickbay.database.tables import now
from sickbay.runs.curves.fold import fold
from sickbay.runs.moments import moment
from sickbay.runs.packed import Packed, packed
from sickbay.runs.turn import Turn


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A batch that waits for its turn."""

    run: str
    attempt: int
    ranks: Mapping[int, Sequence[Packed]]
    at: datetime


@dataclass(slots=True)
class _Taken:
    """What became of a batch, before its commit."""

    attempt_id: int
    accepted: int = 0
    duplicate: int = 0
    rejected: list[Rejection] = field(default_factory=list)
    due: list[int] = field(default_factory=list)
    """Ranks with enough waiting points to fold."""


def receive(database: Database, run: str, batch: Batch, *, at: datetime | None = None) -> Receipt:
    """Store a batch; return what became of it after the commit.

    Raises:
        NotFound: there is no such run or attempt.
        Busy, StorageFailed: nothing of the batch was stored.
    """
    at = at or now()
    arrival = _Arrival(run, batch.attempt, packed(batch.events, at), at)
    taken: _Taken = database.writing_together(_store, arrival)
    for rank in taken.due:
        # The batch is on disk already; its points can wait for the next fold.
        with suppress(Busy, StorageFailed):
            fold(database, taken.attempt_id, rank)
    return Receipt(taken.accepted, taken.duplicate, (*batch.rejected, *taken.rejected))


def _store(session: Session, arrivals: list[_Arrival]) -> list[_Taken | SickbayError]:
    turn = Turn(session)
    results: list[_Taken | SickbayError] = []
    for arrival in arrivals:
        try:
            results.append(_take(turn, arrival))
        except SickbayError as error:
            results.append(error)
    turn.write()
    return results


def _take(turn: Turn, arrival: _Arrival) -> _Taken:
    attempt = turn.attempt(arrival.run, arrival.attempt)
    taken = _Taken(attempt.id)
    for number, items in arrival.ranks.items():
        newest = moment(max(item.event.time for item in items))
        rank = turn.rank(attempt, number, newest, arrival.at)
        known = turn.known(rank, items[0].event.seq, items[-1].event.seq)
        fresh = _fresh(known, items, taken)
        rank.digests.update((item.event.seq, item.digest) for item in fresh)
        if fresh:
            turn.take(attempt, rank, fresh, arrival.at)
        if rank.is_due():
            taken.due.append(number)
    return taken


def _fresh(known: dict[int, bytes], items: Sequence[Packed], taken: _Taken) -> list[Packed]:
    """Return the events that were not there yet; count replays, reject contradictions."""
    fresh = []
    for item in items:
        seq = item.event.seq
        if seq not in known:
            known[seq] = item.digest
            fresh.append(item)
        elif known[seq] == item.digest:
            taken.duplicate += 1
        else:
            words = f"Rank {item.event.rank} sent another event under this seq before."
            taken.rejected.append(Rejection(seq, words))
    taken.accepted += len(fresh)
    return fresh
