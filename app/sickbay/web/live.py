"""What is new in runs, told to open pages: one reader of the outbox for all streams of a process.

The reader looks four times a second, in a thread and with a session of its own, for as long as
somebody listens. A stream holds a seat and a queue, nothing of the database.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool

from sickbay.contract.errors import Busy, SickbayError
from sickbay.database import Database
from sickbay.runs import outbox
from sickbay.runs.outbox import Line

LOOK_SECONDS = 0.25
"""Between two looks at the outbox: with the trainer's own pace, a point is seen within a second."""
MOST_STREAMS = 256
"""Of all people together: each costs a socket and a task."""
MOST_OF_ONE = 64
"""Of one person: a page closes its stream while its tab is hidden."""
MOST_WAITING = 1000
"""Lines a slow reader may leave lying; beyond that it reads everything anew."""
AT_ONCE = 500
_FULL = "Too many live pages are open; this one asks again by itself."


class Ear:
    """One open page: what it has not been told yet."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._news = asyncio.Event()
        self._lines: list[Line] = []
        self._lost = False

    def tell(self, lines: Sequence[Line]) -> None:
        """Note lines down; where too many lie already, only that some were lost."""
        if len(self._lines) + len(lines) > MOST_WAITING:
            self._lines, self._lost = [], True
        self._lines.extend(lines)
        self._news.set()

    async def next(self, seconds: float) -> tuple[list[Line], bool]:
        """Wait so long for news; return them, and whether some before them were lost."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)
        self._news.clear()
        lines, lost = self._lines, self._lost
        self._lines, self._lost = [], False
        return lines, lost


@dataclass(slots=True)
class Feed:
    """The reader of one process, and who listens."""

    database: Database
    _ears: defaultdict[str, set[Ear]] = field(default_factory=lambda: defaultdict(set))
    _seats: Counter[str] = field(default_factory=Counter)
    _reader: asyncio.Task[None] | None = None
    _at: int = 0

    @contextmanager
    def seat(self, person: str, run: str) -> Iterator[Ear]:
        """Take a seat, for as long as a stream is open.

        Raises:
            Busy: all are taken, by everybody or by this person.
        """
        if self._seats.total() >= MOST_STREAMS or self._seats[person] >= MOST_OF_ONE:
            raise Busy(_FULL)
        self._seats[person] += 1
        ear = Ear(run)
        self._ears[run].add(ear)
        try:
            yield ear
        finally:
            self._leave(person, ear)

    async def listen(self, ear: Ear, after: int | None, seconds: float) -> AsyncIterator["News"]:
        """Yield what is new in a run for so long: first what came after the line last seen."""
        end = asyncio.get_running_loop().time() + seconds
        start = await self._position()
        news = await run_in_threadpool(_missed, self.database, ear.run, after, start)
        yield news
        last = max(news.last, start)
        while (left := end - asyncio.get_running_loop().time()) > 0:
            lines, lost = await ear.next(left)
            fresh = tuple(line for line in lines if line.id > last)
            if fresh or lost:
                last = max([last, *(line.id for line in fresh)])
                yield News(last, fresh, everything=lost)

    async def _position(self) -> int:
        """Return the line up to which the reader has told; start it where none reads."""
        if self._reader is None or self._reader.done():
            self._at = await run_in_threadpool(_newest, self.database)
            if self._reader is None or self._reader.done():
                self._reader = asyncio.create_task(self._read())
        return self._at

    async def _read(self) -> None:
        while self._seats.total():
            await asyncio.sleep(LOOK_SECONDS)
            try:
                lines = await run_in_threadpool(_tail, self.database, self._at)
            except SickbayError:
                continue  # a database that cannot be read now may be in a moment
            if lines:
                self._at = lines[-1].id
                self._tell(lines)

    def _tell(self, lines: Sequence[Line]) -> None:
        by_run: defaultdict[str, list[Line]] = defaultdict(list)
        for line in lines:
            by_run[line.run].append(line)
        for run, its in by_run.items():
            for ear in self._ears.get(run, ()):
                ear.tell(its)

    def _leave(self, person: str, ear: Ear) -> None:
        self._ears[ear.run].discard(ear)
        if not self._ears[ear.run]:
            del self._ears[ear.run]
        self._seats[person] -= 1
        if not self._seats[person]:
            del self._seats[person]


@dataclass(frozen=True, slots=True)
class News:
    """What is new: ``everything`` says that lines were lost, and the page reads all anew."""

    last: int
    lines: tuple[Line, ...]
    everything: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object: what kinds there are, and the steps of each series."""
        return {
            "last": self.last,
            "everything": self.everything,
            "kinds": sorted({str(line.kind) for line in self.lines}),
            "series": _spans(self.lines),
        }


def changes(database: Database, run: str, after: int | None) -> News:
    """Return what is new after a line, for pages that poll."""
    with database.reading() as session:
        newest = outbox.newest(session)
    return _missed(database, run, after, newest)


def _spans(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return the first and last new step of each series of each attempt."""
    found: dict[tuple[int, str], list[int]] = {}
    for line in lines:
        if line.first_step is None or line.last_step is None:
            continue
        for name in line.series:
            span = found.setdefault((line.attempt, name), [line.first_step, line.last_step])
            span[:] = min(span[0], line.first_step), max(span[1], line.last_step)
    return [
        {"attempt": attempt, "series": name, "first": first, "last": last}
        for (attempt, name), (first, last) in found.items()
    ]


def _missed(database: Database, run: str, after: int | None, until: int) -> News:
    """Return a run's lines after one and up to another; all anew where some are trimmed."""
    if after is None:
        return News(until, ())
    with database.reading() as session:
        trimmed = after < outbox.oldest(session) - 1 or after > outbox.newest(session)
        lines = [] if trimmed else outbox.tail(session, after, AT_ONCE, run)
    if trimmed or len(lines) == AT_ONCE:
        return News(max(after, until) if not trimmed else until, (), everything=True)
    return News(max(after, until), tuple(line for line in lines if line.id <= until))


def _tail(database: Database, after: int) -> list[Line]:
    with database.reading() as session:
        return outbox.tail(session, after, AT_ONCE)


def _newest(database: Database) -> int:
    with database.reading() as session:
        return outbox.newest(session)
