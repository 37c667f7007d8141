"""The database: one writer, many read-only readers.

Every write is a function handed to :meth:`Database.writing`. One thread runs them, several in
one ``BEGIN IMMEDIATE`` transaction (group commit, ``synchronous=FULL``), each in a savepoint of
its own, and the caller gets its result only after the commit: what was acknowledged survives
``kill -9`` and power loss. Reads use connections that cannot write.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from sickbay.contract.errors import Busy
from sickbay.database.connections import BUSY_SECONDS, reader_engine, sqlite_driver, writer_engine
from sickbay.database.failures import plain_errors

T = TypeVar("T")
Item = TypeVar("Item")

GROUP_MOST = 100
"""Writes that may share one commit."""
GATHER_SECONDS = 0.004
"""How long a group may wait to become as large as the one before: who was just answered asks
again, and one commit for all is sooner done than two."""
WAITING_MOST = 1000
"""Writes that may wait; more are answered with Busy."""
_STOPPING = "Sickbay is stopping; this was not carried out. Try again in a moment."


class Database:
    """One SQLite file, opened for one writer thread and any number of readers."""

    def __init__(self, path: Path, *, driver: ModuleType | None = None) -> None:
        self.path = path
        driver = driver or sqlite_driver()
        self.writer = writer_engine(path, driver)
        self._readers = reader_engine(path, driver)
        self._waiting: queue.Queue[_Write | None] = queue.Queue(WAITING_MOST)
        self._awaited = 0
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sickbay-writer", daemon=True)
        self._closed = False
        self._thread.start()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Give a session on one consistent, read-only snapshot.

        Raises:
            StorageFailed: the file cannot be read.
        """
        with plain_errors(), Session(self._readers, expire_on_commit=False) as session:
            yield session

    def writing(self, act: Callable[[Session], T]) -> T:
        """Run ``act`` in a write transaction; return its result after the commit.

        ``act`` may run again when another write of its group failed, so it does nothing but
        read and write through its session. What it raises undoes its own writes only.

        Raises:
            Busy: too many writes wait, or another process holds the database.
            StorageFailed: disk full, read-only or broken; nothing of this write was kept.
        """
        result: T = self._hand_in(_Write(act), BUSY_SECONDS).result()
        return result

    def writing_together(
        self, act: Callable[[Session, list[Item]], list[Any]], item: Item
    ) -> Future[Any]:
        """Run ``act`` on this item and on others that wait for the same ``act``, all at once.

        It returns a result for each item, in order; an exception among them is that item's
        alone. Where ``act`` itself raises, each item is tried alone. Returns without waiting
        what holds this item's result after the commit: an event loop can await that.

        Raises:
            Busy: too many writes wait. The future raises Busy and StorageFailed as
                :meth:`writing` does.
        """
        return self._hand_in(_Write(lambda session: _only(act(session, [item])), act, item))

    def _hand_in(self, write: "_Write", patience: float = 0) -> Future[Any]:
        """Put a write in the writer's queue, where there is room within so many seconds."""
        if self._closed:
            raise Busy(_STOPPING)
        try:
            self._waiting.put(write, block=patience > 0, timeout=patience)
        except queue.Full:
            raise Busy("Too many writes wait; this one was not carried out. Try again.") from None
        if self._waiting.qsize() >= self._awaited:
            self._enough.set()
        return self._future(write)

    def _future(self, write: "_Write") -> Future[Any]:
        """Return what will hold the result of a write in the queue."""
        if self._closed:
            # Closing came between: what stands behind its mark in the queue is never taken.
            self._thread.join()
            if not write.done.done():
                raise Busy(_STOPPING)
        return write.done

    def close(self) -> None:
        """Finish what was handed in, then close every connection."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
            self._thread.join()
            self._readers.dispose()
            self.writer.dispose()

    def _work(self) -> None:
        """Take what waits, as one group; stop after the group that ends with nothing."""
        group: list[_Write | None] = []
        while not group or group[-1] is not None:
            group = self._next_group(len(group))
            self._write(_joined([write for write in group if write is not None and write.begins()]))

    def _next_group(self, before: int) -> list["_Write | None"]:
        """Wait for a write; take with it what waits too, or what came together before."""
        group = [self._waiting.get()]
        self._awaited = before - 1
        self._enough.clear()
        if self._waiting.qsize() < self._awaited:
            self._enough.wait(GATHER_SECONDS)
        while group[-1] is not None and len(group) < GROUP_MOST and not self._waiting.empty():
            group.append(self._waiting.get())
        return group

    def _write(self, group: list["_Write"]) -> None:
        """Commit a group as one; where the database itself fails, each write alone."""
        try:
            with plain_errors(), self.writer.begin() as connection:
                outcomes = [write.attempt(connection) for write in group]
        except BaseException as error:  # noqa: BLE001 (the writer must outlive any failure)
            # After a failed fsync the connection's idea of the file is not to be trusted.
            self.writer.dispose()
            alone = [part for write in group for part in write.parts()]
            if len(alone) == 1:
                alone[0].done.set_exception(error)
            else:
                for write in alone:
                    self._write([write])
            return
        for write, outcome in zip(group, outcomes, strict=True):
            write.settle(outcome)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a write came to, before its commit."""

    result: Any = None
    error: Exception | None = None


class _Write:
    """A write that waits for its commit; ``together`` is set where it may share an act."""

    def __init__(
        self,
        act: Callable[[Session], Any],
        together: Callable[[Session, list[Any]], list[Any]] | None = None,
        item: Any = None,
    ) -> None:
        self.act = act
        self.together = together
        self.item = item
        self.done: Future[Any] = Future()

    def begins(self) -> bool:
        """Whether its caller still waits for it; from here on it cannot be called off."""
        return self.done.set_running_or_notify_cancel()

    def parts(self) -> list["_Write"]:
        """Return the writes it consists of."""
        return [self]

    def attempt(self, connection: Connection) -> _Outcome:
        """Run in a savepoint: an error of ours undoes this write, the driver's the group.

        The savepoint is not the session's own: that one is compiled anew for every write.
        """
        group = connection.get_transaction()
        connection.exec_driver_sql("SAVEPOINT write_begins")
        with Session(
            connection, join_transaction_mode="rollback_only", expire_on_commit=False
        ) as session:
            try:
                result = self.act(session)
                session.flush()
            except DBAPIError:
                raise
            except Exception as error:
                if group is None or not group.is_active:
                    raise  # a flush that fails ends the transaction, and the savepoint with it
                connection.exec_driver_sql("ROLLBACK TO write_begins")
                return _Outcome(error=error)
        connection.exec_driver_sql("RELEASE write_begins")
        return _Outcome(result=result)

    def settle(self, outcome: _Outcome) -> None:
        """Hand the caller what came out, now that it is on disk."""
        if outcome.error is not None:
            self.done.set_exception(outcome.error)
        else:
            self.done.set_result(outcome.result)


class _Joined(_Write):
    """Several writes of one act, carried out at once."""

    def __init__(self, writes: list[_Write]) -> None:
        together = writes[0].together
        items = [write.item for write in writes]
        super().__init__(lambda session: [] if together is None else together(session, items))
        self._writes = writes

    def parts(self) -> list[_Write]:
        """Return the writes it consists of."""
        return self._writes

    def attempt(self, connection: Connection) -> _Outcome:
        """Run all at once; where that fails, one by one, so that only the culprit does."""
        outcome = super().attempt(connection)
        if outcome.error is None:
            return outcome
        return _Outcome(result=[_either(write.attempt(connection)) for write in self._writes])

    def settle(self, outcome: _Outcome) -> None:
        """Hand each caller its own."""
        for write, result in zip(self._writes, outcome.result, strict=True):
            failed = isinstance(result, Exception)
            write.settle(_Outcome(error=result) if failed else _Outcome(result=result))


def _joined(group: list[_Write]) -> list[_Write]:
    """Put writes that share an act together, at the place of the first."""
    shared: dict[Any, list[_Write]] = {}
    for write in group:
        shared.setdefault(write.together or write, []).append(write)
    return [writes[0] if len(writes) == 1 else _Joined(writes) for writes in shared.values()]


def _either(outcome: _Outcome) -> Any:
    return outcome.result if outcome.error is None else outcome.error


def _only(results: list[Any]) -> Any:
    """Return the one result, or raise it where it is an exception."""
    (result,) = results
    if isinstance(result, Exception):
        raise result
    return result
