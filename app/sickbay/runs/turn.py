"""One turn of the writer: what several batches change, read once and written in bulk.

Batches that wait at the same time are stored together: eight ranks that fail at once cost hardly
more statements than one.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from sickbay.accounts import tokens
from sickbay.contract.event import Event
from sickbay.runs import keys, outbox, standing
from sickbay.runs.failures.ready import ReadyFailure
from sickbay.runs.failures.store import store_failures
from sickbay.runs.other_events import note_other
from sickbay.runs.packed import Packed
from sickbay.runs.standing import AttemptNow, RankNow
from sickbay.runs.tables import ChangeKind, Waiting

_WAIT = insert(Waiting)


@dataclass(slots=True)
class Turn:
    """What is to be written; nothing is before :meth:`write`.

    Attributes:
        expected: the ranks that will be asked for, by run and attempt.
    """

    session: Session
    expected: Mapping[tuple[str, int], Collection[int]]
    _admitted: set[int] = field(default_factory=set)
    _attempts: dict[tuple[str, int], AttemptNow] = field(default_factory=dict)
    _ranks: dict[tuple[int, int], RankNow] = field(default_factory=dict)
    _keys: list[dict[str, Any]] = field(default_factory=list)
    _waiting: list[dict[str, Any]] = field(default_factory=list)
    _lines: list[dict[str, Any]] = field(default_factory=list)
    _failures: defaultdict[int, list[ReadyFailure]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _others: list[tuple[AttemptNow, Event, datetime]] = field(default_factory=list)

    def refuse_revoked(self, token: int | None) -> None:
        """Let a batch in whose token still counts, or that needed none.

        Raises:
            Revoked: it does not.
        """
        if token is not None and token not in self._admitted:
            tokens.refuse_revoked(self.session, token)
            self._admitted.add(token)

    def attempt(self, run: str, number: int) -> AttemptNow:
        """Return how an attempt stands.

        Raises:
            NotFound: there is no such run or attempt.
        """
        found = self._attempts.get((run, number))
        if found is None:
            found = standing.attempt_now(self.session, run, number)
            self._attempts[run, number] = found
            ranks = standing.ranks_now(self.session, found.id, self.expected[run, number])
            self._ranks |= {(found.id, rank.rank): rank for rank in ranks.values()}
        return found

    def rank(self, attempt: AttemptNow, number: int, newest: datetime, at: datetime) -> RankNow:
        """Return how a rank stands, with this sign of life noted."""
        found = self._ranks.get((attempt.id, number))
        if found is None:
            found = standing.taken_in(self.session, attempt.id, number, newest, at)
            self._ranks[attempt.id, number] = found
        found.alive(newest, at)
        attempt.alive(at)
        return found

    def known(self, rank: RankNow, first: int, last: int) -> dict[int, bytes]:
        """Return digests of events received before, by seq."""
        if first > rank.last_seq and last < keys.IMPORTED:
            return {}
        stored = keys.known(self.session, rank.attempt_id, rank.rank, first, last)
        return {**stored, **rank.digests}

    def take(
        self, attempt: AttemptNow, rank: RankNow, fresh: Sequence[Packed], at: datetime
    ) -> None:
        """Take a rank's events that were not there yet, in ascending order of seq."""
        self._keys += keys.rows(attempt.id, rank.rank, fresh)
        rank.received(fresh)
        self._wait(attempt, rank, fresh)
        for item in fresh:
            if item.failure is not None:
                self._failures[attempt.id].append(item.failure)
            elif item.extent is None:
                self._others.append((attempt, item.event, at))

    def _wait(self, attempt: AttemptNow, rank: RankNow, fresh: Sequence[Packed]) -> None:
        """Let points wait as they came; a fold sorts them into their series later."""
        spans = [item.extent for item in fresh if item.extent is not None]
        if not spans:
            return
        span = reduce(or_, spans)
        self._waiting.append(
            {
                "attempt_id": attempt.id,
                "rank": rank.rank,
                "points": span.points,
                "body": b"".join(item.segment for item in fresh),
            }
        )
        rank.waits(span)
        attempt.reached(span)
        self._lines.append(
            outbox.line(
                attempt.run_id,
                ChangeKind.POINTS,
                attempt.number,
                rank.rank,
                steps=(span.first_step, span.last_step),
                series=span.series,
            )
        )

    def write(self) -> None:
        """Write everything down."""
        keys.write(self.session, self._keys)
        if self._waiting:
            self.session.connection().execute(_WAIT, self._waiting)
        attempts = {attempt.id: attempt for attempt in self._attempts.values()}
        for attempt_id, failures in self._failures.items():
            self._lines += store_failures(self.session, attempts[attempt_id], failures)
        if self._ranks:
            standing.write(self.session, attempts.values(), self._ranks.values())
        for attempt, event, at in self._others:
            self._lines += note_other(self.session, attempt.id, event, at)
        outbox.write(self.session, self._lines)
