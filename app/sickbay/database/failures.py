"""The driver's failures as sentences for people."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from sickbay.contract.errors import Busy, StorageFailed
from sickbay.database.connections import sqlite_driver

_KEPT = "Nothing of this was written."
_SENTENCES = {
    "SQLITE_FULL": f"The disk is full. {_KEPT} Make room, then try again.",
    "SQLITE_READONLY": f"The database is read-only. {_KEPT} Check the state folder's permissions.",
    "SQLITE_IOERR": f"The disk failed while the database was used. {_KEPT} Check the disk.",
    "SQLITE_CORRUPT": f"The database is damaged. {_KEPT} Stop Sickbay and restore a backup.",
    "SQLITE_NOTADB": "The file is not a database. Restore a backup or choose another --state.",
    "SQLITE_CANTOPEN": "The database cannot be opened. Check the state folder's permissions.",
}
BROKEN = {
    _SENTENCES["SQLITE_CORRUPT"]: "is damaged",
    _SENTENCES["SQLITE_NOTADB"]: "is not a database",
}
"""Sentences that mean the file itself, and what is to be said of it."""
_TEXTS = {
    "is locked": "SQLITE_BUSY",
    "disk is full": "SQLITE_FULL",
    "readonly": "SQLITE_READONLY",
    "disk I/O error": "SQLITE_IOERR",
    "malformed": "SQLITE_CORRUPT",
    "not a database": "SQLITE_NOTADB",
    "unable to open": "SQLITE_CANTOPEN",
}
"""SQLite's own words, for drivers that give no code."""
_RAISED = (DBAPIError, sqlite3.Error, sqlite_driver().Error)
"""What SQLAlchemy raises, and what the drivers do where it does not stand between."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise Busy or StorageFailed where the driver fails in a way a person can mend."""
    try:
        yield
    except _RAISED as error:
        for name in map(_name, _chain(error)):
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise Busy(
                    f"Another process holds the database. {_KEPT} Try again soon."
                ) from error
            for prefix, sentence in _SENTENCES.items():
                if name.startswith(prefix):
                    raise StorageFailed(sentence) from error
        raise


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield what the driver raised, then what it was handling then, and so on.

    A full disk ends the transaction by itself; what comes to the surface is only that the
    savepoint is not there any more.
    """
    seen: BaseException | None = error.orig if isinstance(error, DBAPIError) else error
    while seen is not None:
        yield seen
        seen = seen.__context__


def _name(error: BaseException) -> str:
    """Return SQLite's name of the failure, or nothing."""
    given = getattr(error, "sqlite_errorname", None)
    known = [name for words, name in _TEXTS.items() if words in str(error)]
    return str(given or next(iter(known), ""))
