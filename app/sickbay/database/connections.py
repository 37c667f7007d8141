"""SQLite as it is opened: the driver, its settings, and transactions that are what they say."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

BUSY_SECONDS = 5
"""How long a write waits for another process that holds the database."""

_BUG_SINCE, _BUG_FIXED = (3, 7, 0), (3, 51, 3)
_BACKPORTS = {(3, 44): (3, 44, 6), (3, 50): (3, 50, 7)}


def sqlite_driver() -> ModuleType:
    """Return ``pysqlite3``, which bundles a current SQLite, or else the standard library's."""
    try:
        from pysqlite3 import dbapi2  # noqa: PLC0415 (has no wheel on every platform)
    except ImportError:
        return sqlite3
    module: ModuleType = dbapi2
    return module


def has_wal_reset_bug(version: tuple[int, int, int]) -> bool:
    """Say whether this SQLite may lose commits in WAL mode with more than one connection.

    The bug is in 3.7.0 to 3.51.2, but not in the back-ports 3.44.6 and 3.50.7
    (sqlite.org/wal.html#walresetbug).
    """
    backport = _BACKPORTS.get(version[:2])
    if backport is not None and version >= backport:
        return False
    return _BUG_SINCE <= version < _BUG_FIXED


def writer_engine(path: Path, driver: ModuleType) -> Engine:
    """Return an engine with one connection, which creates the file where there is none."""
    engine = create_engine(
        "sqlite+pysqlite://",
        module=driver,
        creator=lambda: _connect(path, driver, "rwc"),
        poolclass=StaticPool,
        hide_parameters=True,  # an error that reaches the log must not carry notes and names
    )
    event.listen(engine, "begin", _begin_immediate)
    return engine


def reader_engine(path: Path, driver: ModuleType) -> Engine:
    """Return an engine whose connections cannot write."""
    engine = create_engine(
        "sqlite+pysqlite://",
        module=driver,
        creator=lambda: _connect(path, driver, "ro"),
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=32,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_deferred)
    return engine


def read_only(path: Path, driver: ModuleType) -> Any:
    """Return a bare connection that cannot write, for a file that may be damaged."""
    return _connect(path, driver, "ro")


def _connect(path: Path, driver: ModuleType, mode: str) -> Any:
    connection = driver.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # no transactions but those the engine's "begin" event opens
        check_same_thread=False,
    )
    wal = not has_wal_reset_bug(driver.sqlite_version_info)
    for pragma in _pragmas(read_only=mode == "ro", wal=wal):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _pragmas(*, read_only: bool, wal: bool) -> Iterator[str]:
    yield "trusted_schema=OFF"
    yield "foreign_keys=ON"
    if read_only:
        yield "query_only=ON"
    else:
        # A rollback journal is slower and makes readers wait, but knows no WAL-reset bug.
        yield f"journal_mode={'WAL' if wal else 'DELETE'}"
        yield "synchronous=FULL"
        yield "journal_size_limit=67108864"


def _begin_immediate(connection: Connection) -> None:
    """Take the write lock at once: upgrading a read snapshot later fails without waiting."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_deferred(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
