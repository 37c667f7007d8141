"""Looking for damage before a database is used; nothing is ever written here."""

from contextlib import closing
from pathlib import Path

from sickbay.contract.errors import StorageFailed
from sickbay.database.connections import read_only, sqlite_driver
from sickbay.database.failures import BROKEN, plain_errors

LOOKED_AT_MOST = 512 << 20
"""Bytes of a database that is looked through at every start.

``quick_check`` reads every page once: 0.7 s of processor time for 518 MB (half a million held
samples), 1 to 2 s in all from the page cache, 7 s from a cold disk. That is the most that a
start, or a command beside a server, should wait; ``sickbay doctor`` has the time for more.
"""


def refuse_damaged(path: Path) -> None:
    """Refuse a database that is damaged, empty, or something else.

    Raises:
        StorageFailed: one plain sentence, which names the copies that are there.
    """
    if path.stat().st_size == 0:
        raise _unusable(path, "is empty (0 bytes)")
    quick = path.stat().st_size <= LOOKED_AT_MOST
    _refuse(path, "quick_check" if quick else None)


def examine(path: Path) -> None:
    """Check the whole database with its indexes, whatever its size.

    Raises:
        StorageFailed: it is damaged, empty, or no database of Sickbay's.
    """
    if path.stat().st_size == 0:
        raise _unusable(path, "is empty (0 bytes)")
    _refuse(path, "integrity_check")


def _refuse(path: Path, check: str | None) -> None:
    try:
        with plain_errors(), closing(read_only(path, sqlite_driver())) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
            fault = connection.execute(f"PRAGMA {check}(1)").fetchone()[0] if check else "ok"
    except StorageFailed as error:
        why = BROKEN.get(error.sentence)
        if why is None:
            raise
        raise _unusable(path, why) from error
    if fault != "ok":
        raise _unusable(path, f"is damaged ({' '.join(str(fault).split())})")
    if "alembic_version" not in tables:
        raise _unusable(path, "is a database of another program")


def _unusable(path: Path, why: str) -> StorageFailed:
    return StorageFailed(
        f"The database {path} {why}. {restoring(path)}, or choose another with --state."
    )


def restoring(path: Path) -> str:
    """Return what to put in a broken database's place; names the newest copy that was kept."""
    copies = sorted(path.parent.glob(f"{path.name}.before-*"), key=lambda one: one.stat().st_mtime)
    kept = f" or the copy {copies[-1].name}, which lies beside it" if copies else ""
    return f"Stop Sickbay and restore a backup{kept}"
