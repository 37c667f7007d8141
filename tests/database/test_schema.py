import stat
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from tests.quarantine.factories import a_record, decided, scanned, status_of

import sickbay.accounts.tables
import sickbay.alerts.tables
import sickbay.quarantine.tables
import sickbay.releases.tables
import sickbay.runs.failures.tables
import sickbay.runs.samples.tables
import sickbay.runs.tables
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.database.tables import Base
from sickbay.quarantine.tables import Action, Status

TABLES = (
    sickbay.accounts.tables,
    sickbay.alerts.tables,
    sickbay.quarantine.tables,
    sickbay.releases.tables,
    sickbay.runs.tables,
    sickbay.runs.failures.tables,
    sickbay.runs.samples.tables,
)


def test_the_migrations_make_what_the_models_say(database: Database) -> None:
    assert all(module.Base is Base for module in TABLES)
    with database.writer.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )

        assert compare_metadata(context, Base.metadata) == []


def test_opening_again_changes_nothing(state: Path) -> None:
    path = state / "sickbay.db"
    open_database(path).close()
    before = path.read_bytes()

    open_database(path).close()

    assert path.read_bytes() == before
    assert not list(state.glob("*.before-*"))


def test_a_new_state_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "sickbay.db"

    open_database(path).close()

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_many_that_open_a_new_state_at_once_make_it_once(tmp_path: Path) -> None:
    path = tmp_path / "state" / "sickbay.db"
    opened: list[Database] = []

    threads = [
        threading.Thread(target=lambda: opened.append(open_database(path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(opened) == 4
    for database in opened:
        with database.reading() as session:
            assert session.scalar(text("SELECT count(*) FROM alembic_version")) == 1
        database.close()


@pytest.mark.parametrize("change", ["UPDATE decision SET reviewer = 'me'", "DELETE FROM decision"])
def test_the_history_is_append_only_whoever_asks(database: Database, change: str) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])
    decided(database, ["a.jpg"], Action.EXCLUDE)

    def tampers(session: Session) -> None:
        session.execute(text(change))

    with pytest.raises(IntegrityError, match="never changed or deleted"):
        database.writing(tampers)

    assert status_of(database, "a.jpg") is Status.EXCLUDED


def test_a_row_without_its_parent_is_refused(database: Database) -> None:
    def orphan(session: Session) -> None:
        session.execute(
            text(
                "INSERT INTO tally (data_set_id, status, facet, value, samples) "
                "VALUES (99, 'held', '', '', 1)"
            )
        )

    with pytest.raises(IntegrityError):
        database.writing(orphan)
