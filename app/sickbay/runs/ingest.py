"""Batches of events coming in: each event once, whole batches or none, acknowledged when on disk.

What needs no database happens before the writer's turn; in it there are a few statements, each
prepared once. The key (attempt, rank, seq) is unique: the same event again is free, another one
under the same key is rejected alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
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
class Arrival:
    """A batch that is ready for the writer's turn.

    Attributes:
        token: whose batch it is, where a token was shown for it.
    """

    run: str
    attempt: int
    ranks: Mapping[int, Sequence[Packed]]
    rejected: tuple[Rejection, ...]
    at: datetime
    token: int | None = None


@dataclass(slots=True)
class Taken:
    """What became of a batch."""

    attempt_id: int
    rejected: list[Rejection]
    accepted: int = 0
    duplicate: int = 0
    due: list[int] = field(default_factory=list)
    """Ranks with enough waiting points to fold."""

    def receipt(self) -> Receipt:
        """Return the answer to who sent it."""
        return Receipt(self.accepted, self.duplicate, tuple(self.rejected))


def receive(database: Database, run: str, batch: Batch, *, at: datetime | None = None) -> Receipt:
    """Store a batch; return what became of it after the commit.

    Raises:
        NotFound: there is no such run or attempt.
        Busy, StorageFailed: nothing of the batch was stored.
    """
    taken = hand_in(database, arrived(run, batch, at=at)).result()
    fold_due(database, taken)
    return taken.receipt()


def arrived(
    run: str, batch: Batch, *, token: int | None = None, at: datetime | None = None
) -> Arrival:
    """Work out all of a batch that needs no database."""
    at = at or now()
    return Arrival(run, batch.attempt, packed(batch.events, at), batch.rejected, at, token)


def hand_in(database: Database, arrival: Arrival) -> Future[Taken]:
    """Let a batch be stored; what is returned holds what became of it after the commit.

    It raises NotFound, Revoked, Busy and StorageFailed where nothing of the batch was stored.

    Raises:
        Busy: too many writes wait.
    """
    return database.writing_together(_store, arrival)


def fold_due(database: Database, taken: Taken) -> None:
    """Fold what has waited long enough; the batch is on disk, so this may also fail."""
    for rank in taken.due:
        with suppress(Busy, StorageFailed):
            fold(database, taken.attempt_id, rank)


def _store(session: Session, arrivals: list[Arrival]) -> list[Taken | SickbayError]:
    turn = Turn(session, _expected(arrivals))
    results: list[Taken | SickbayError] = []
    for arrival in arrivals:
        try:
            results.append(_take(turn, arrival))
        except SickbayError as error:
            results.append(error)
    turn.write()
    return results


def _expected(arrivals: Sequence[Arrival]) -> Mapping[tuple[str, int], set[int]]:
    ranks: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for arrival in arrivals:
        ranks[arrival.run, arrival.attempt].update(arrival.ranks)
    return ranks


def _take(turn: Turn, arrival: Arrival) -> Taken:
    turn.refuse_revoked(arrival.token)
    attempt = turn.attempt(arrival.run, arrival.attempt)
    taken = Taken(attempt.id, list(arrival.rejected))
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


def _fresh(known: dict[int, bytes], items: Sequence[Packed], taken: Taken) -> list[Packed]:
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
