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

GROUP_MOST = 100
"""Writes that may share one commit."""
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
        if self._closed:
            raise Busy(_STOPPING)
        write = _Write(act)
        try:
            self._waiting.put(write, timeout=BUSY_SECONDS)
        except queue.Full:
            raise Busy("Too many writes wait; this one was not carried out. Try again.") from None
        result: T = self._outcome(write)
        return result

    def _outcome(self, write: "_Write") -> Any:
        """Wait for the commit of what was handed in."""
        if self._closed:
            # Closing came between: what stands behind its mark in the queue is never taken.
            self._thread.join()
            if not write.done.done():
                raise Busy(_STOPPING)
        return write.done.result()

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
        stop = False
        while not stop:
            group = [self._waiting.get()]
            while group[-1] is not None and len(group) < GROUP_MOST and not self._waiting.empty():
                group.append(self._waiting.get())
            stop = group[-1] is None
            self._write([write for write in group if write is not None])

    def _write(self, group: list["_Write"]) -> None:
        """Commit a group as one; where the database itself fails, each write alone."""
        try:
            with plain_errors(), self.writer.begin() as connection:
                outcomes = [write.attempt(connection) for write in group]
        except BaseException as error:  # noqa: BLE001 (the writer must outlive any failure)
            # After a failed fsync the connection's idea of the file is not to be trusted.
            self.writer.dispose()
            if len(group) == 1:
                group[0].done.set_exception(error)
            else:
                for write in group:
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
    """A write that waits for its commit."""

    def __init__(self, act: Callable[[Session], Any]) -> None:
        self.act = act
        self.done: Future[Any] = Future()

    def attempt(self, connection: Connection) -> _Outcome:
        """Run in a savepoint: an error of ours undoes this write, the driver's the group."""
        with Session(
            connection, join_transaction_mode="create_savepoint", expire_on_commit=False
        ) as session:
            try:
                result = self.act(session)
                session.commit()
            except DBAPIError:
                raise
            except Exception as error:  # noqa: BLE001 (handed to the caller as it is)
                session.rollback()
                return _Outcome(error=error)
        return _Outcome(result=result)

    def settle(self, outcome: _Outcome) -> None:
        """Hand the caller what came out, now that it is on disk."""
        if outcome.error is not None:
            self.done.set_exception(outcome.error)
        else:
            self.done.set_result(outcome.result)
