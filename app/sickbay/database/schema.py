"""Opening a state's database: create it, bring it up to date, or refuse."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from sickbay import resources
from sickbay.contract.errors import Busy, Refused, StorageFailed
from sickbay.database import Database
from sickbay.database.damage import refuse_damaged, restoring
from sickbay.database.failures import plain_errors


def open_database(path: Path, *, migrations: Path | None = None) -> Database:
    """Open the database at ``path``, creating or migrating it first where that is due.

    A copy of the old file is kept beside it as ``NAME.before-REVISION`` before any migration;
    one that fails leaves the database as it was.

    Args:
        path: the SQLite file.
        migrations: Alembic's folder; the installed one where none is given.

    Raises:
        Refused: the file was written by a newer Sickbay.
        StorageFailed: the folder cannot be created, the file is damaged or not Sickbay's, or
            it cannot be brought up to date.
    """
    scripts = migrations or resources.folder("migrations")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(path.parent / "migrate.lock"):
            if path.exists():
                refuse_damaged(path)
            else:
                _create(path, scripts)
            return _migrated(path, scripts)
    except OSError as error:
        raise StorageFailed(
            f"The state folder {path.parent} cannot be used: {error.strerror}. "
            "Give another with --state."
        ) from error


def _create(path: Path, scripts: Path) -> None:
    """Make the database under another name, so that one that is there is always whole."""
    for left in path.parent.glob(f"{path.name}.new*"):
        left.unlink()
    new = path.with_name(f"{path.name}.new")
    new.touch(mode=0o600)
    _migrated(new, scripts).close()
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _migrated(path: Path, scripts: Path) -> Database:
    database = Database(path)
    try:
        with plain_errors(), database.writer.connect() as connection:
            _upgrade(connection, path, scripts)
    except BaseException:
        database.close()
        raise
    return database


def _upgrade(connection: Connection, path: Path, scripts: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    known = ScriptDirectory.from_config(config)
    present = _revision(connection, path)
    connection.commit()
    if present == known.get_current_head():
        return
    copy = None
    if present is not None:
        _refuse_newer(present, known)
        copy = Path(f"{path}.before-{known.get_current_head()}")
        _copy(connection, copy)
    config.attributes["connection"] = connection
    with _all_or_nothing(path, copy):
        command.upgrade(config, "head")


def _revision(connection: Connection, path: Path) -> str | None:
    """Return the schema's revision; nothing where the database has no tables yet."""
    found = MigrationContext.configure(connection).get_current_heads()
    tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_schema").scalar()
    if len(found) > 1 or (tables and not found):
        raise StorageFailed(
            f"The database {path} does not say which version it is. {restoring(path)}."
        )
    return found[0] if found else None


@contextmanager
def _all_or_nothing(path: Path, copy: Path | None) -> Iterator[None]:
    """Say plainly that the migrations failed; their one transaction was rolled back."""
    try:
        with plain_errors():
            yield
    except Busy:
        raise
    except StorageFailed as error:
        raise _not_migrated(path, copy, error.sentence) from error
    except Exception as error:
        raise _not_migrated(path, copy, f"{type(error).__name__}.") from error


def _not_migrated(path: Path, copy: Path | None, why: str) -> StorageFailed:
    kept = f" and a copy is {copy.name} beside it" if copy else ""
    return StorageFailed(
        f"The database {path} could not be brought up to date: {why} It is as it was{kept}; "
        "go on with the Sickbay that was installed before, and report this."
    )


def _copy(connection: Connection, target: Path) -> None:
    """Write a whole, compact copy of the database; VACUUM runs outside any transaction."""
    target.unlink(missing_ok=True)
    target.touch(mode=0o600)
    driver = connection.connection.driver_connection
    if driver is not None:
        driver.execute("VACUUM INTO ?", (str(target),))


def _refuse_newer(present: str, known: ScriptDirectory) -> None:
    if present not in {script.revision for script in known.walk_revisions()}:
        raise Refused(
            f"This state was written by a newer Sickbay (schema {present}). "
            "Update Sickbay, or use another --state."
        )


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Let one process at a time look at the schema."""
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
