"""Which events were received: spans of seqs without a gap, with a digest of each event."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.orm import Session

from sickbay.runs.packed import DIGEST_BYTES, Packed
from sickbay.runs.tables import EventKeys

_OWN = (
    EventKeys.attempt_id == bindparam("attempt_id"),
    EventKeys.rank == bindparam("rank"),
)
_BEFORE = (
    select(func.max(EventKeys.first_seq))
    .where(*_OWN, EventKeys.first_seq <= bindparam("first"))
    .scalar_subquery()
)
_KNOWN = select(EventKeys.first_seq, EventKeys.digests).where(
    *_OWN,
    EventKeys.first_seq <= bindparam("last"),
    EventKeys.first_seq >= func.coalesce(_BEFORE, bindparam("first")),
)
_WRITE = insert(EventKeys)


@dataclass(frozen=True, slots=True)
class Gap:
    """Seqs of a rank that never came, both ends included."""

    rank: int
    first: int
    last: int


def known(session: Session, attempt_id: int, rank: int, first: int, last: int) -> dict[int, bytes]:
    """Return the digests of the events already there with seqs from ``first`` to ``last``."""
    spans = session.connection().execute(
        _KNOWN, {"attempt_id": attempt_id, "rank": rank, "first": first, "last": last}
    )
    found = {}
    for start, digests in spans:
        for at in range(0, len(digests), DIGEST_BYTES):
            found[start + at // DIGEST_BYTES] = digests[at : at + DIGEST_BYTES]
    return found


def rows(attempt_id: int, rank: int, fresh: Sequence[Packed]) -> Iterator[dict[str, Any]]:
    """Yield what is to be written down of events, given in ascending order of seq."""
    for span in _spans(fresh):
        yield {
            "attempt_id": attempt_id,
            "rank": rank,
            "first_seq": span[0].event.seq,
            "last_seq": span[-1].event.seq,
            "digests": b"".join(item.digest for item in span),
        }


def write(session: Session, new: Sequence[Mapping[str, Any]]) -> None:
    """Write down which events were received."""
    if new:
        session.connection().execute(_WRITE, new)


def _spans(fresh: Sequence[Packed]) -> Iterator[list[Packed]]:
    """Yield runs of events whose seqs follow one another."""
    span: list[Packed] = []
    for item in fresh:
        if span and item.event.seq != span[-1].event.seq + 1:
            yield span
            span = []
        span.append(item)
    if span:
        yield span


def gaps(session: Session, attempt_id: int, rank: int, limit: int = 100) -> list[Gap]:
    """Return the first gaps among what a rank sent; its first event has seq 1."""
    spans = session.execute(
        select(EventKeys.first_seq, EventKeys.last_seq)
        .where(EventKeys.attempt_id == attempt_id, EventKeys.rank == rank)
        .order_by(EventKeys.first_seq)
    )
    found: list[Gap] = []
    expected = 1
    for first, last in spans:
        if len(found) == limit or first >= IMPORTED:
            break
        if first > expected:
            found.append(Gap(rank, expected, first - 1))
        expected = last + 1
    return found


IMPORTED = 1 << 62
"""Seqs from here on are made from the content of files, so they leave gaps that are none."""
