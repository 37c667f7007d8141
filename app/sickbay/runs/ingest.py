"""Batches of events coming in: each event once, whole batches or none, acknowledged when on disk.

What needs no database happens before the writer's turn; in it there are a few statements, each
prepared once. The key (attempt, rank, seq) is unique: the same event again is free, another one
under the same key is rejected alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from sickbay.contract.event_batch import Batch, Receipt, Rejection
from sickbay.database import Database
from sickbay.database.tables import now
from sickbay.runs import heard, keys, standing
from sickbay.runs.curves.fold import fold
from sickbay.runs.packed import Packed, packed
from sickbay.runs.standing import RankNow


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
    received_at = at or now()
    ranks = packed(batch.events)
    taken = database.writing(
        lambda session: _store(session, run, batch.attempt, ranks, received_at)
    )
    for rank in taken.due:
        fold(database, taken.attempt_id, rank)
    return Receipt(taken.accepted, taken.duplicate, (*batch.rejected, *taken.rejected))


def _store(
    session: Session,
    run: str,
    number: int,
    ranks: Mapping[int, Sequence[Packed]],
    at: datetime,
) -> _Taken:
    attempt = standing.attempt_now(session, run, number)
    taken = _Taken(attempt.id)
    for items in ranks.values():
        rank = standing.rank_now(session, attempt.id, items, at)
        fresh = list(_fresh(session, rank, items, taken))
        taken.accepted += len(fresh)
        heard.note(session, attempt, rank, fresh, at)
        if rank.is_due():
            taken.due.append(rank.rank)
    return taken


def _fresh(
    session: Session, rank: RankNow, items: Sequence[Packed], taken: _Taken
) -> Iterator[Packed]:
    """Yield the events that were not there yet; count replays, reject contradictions."""
    known: dict[int, bytes] = {}
    first, last = items[0].event.seq, items[-1].event.seq
    if first <= rank.last_seq or last >= keys.IMPORTED:
        known = keys.known(session, rank.attempt_id, rank.rank, first, last)
    for item in items:
        seq = item.event.seq
        if seq not in known:
            known[seq] = item.digest
            yield item
        elif known[seq] == item.digest:
            taken.duplicate += 1
        else:
            taken.rejected.append(
                Rejection(seq, f"Rank {rank.rank} sent another event under this seq before.")
            )
