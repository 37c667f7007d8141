"""Opening a state's database: create it, bring it up to date, or refuse."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from sickbay import resources
from sickbay.contract.errors import Refused, StorageFailed
from sickbay.database import Database
from sickbay.database.failures import plain_errors


def open_database(path: Path) -> Database:
    """Open the database at ``path``, creating or migrating it first where that is due.

    A copy of the old file is kept beside it as ``NAME.before-REVISION`` before any migration.

    Raises:
        Refused: the file was written by a newer Sickbay.
        StorageFailed: the folder cannot be created, or the file cannot be used.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(path.parent / "migrate.lock"):
            path.touch(mode=0o600)
            return _migrated(path)
    except OSError as error:
        raise StorageFailed(
            f"The state folder {path.parent} cannot be used: {error.strerror}. "
            "Give another with --state."
        ) from error


def _migrated(path: Path) -> Database:
    database = Database(path)
    try:
        with plain_errors(), database.writer.connect() as connection:
            _upgrade(connection, path)
    except BaseException:
        database.close()
        raise
    return database


def _upgrade(connection: Connection, path: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(resources.folder("migrations")))
    known = ScriptDirectory.from_config(config)
    present = MigrationContext.configure(connection).get_current_revision()
    connection.commit()
    if present == known.get_current_head():
        return
    if present is not None:
        _refuse_newer(present, known)
        _copy(connection, Path(f"{path}.before-{known.get_current_head()}"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _copy(connection: Connection, target: Path) -> None:
    """Write a whole, compact copy of the database; VACUUM runs outside any transaction."""
    target.unlink(missing_ok=True)
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
