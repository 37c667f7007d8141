"""A migration that fails leaves the database as it was, and says so in one sentence."""

import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sickbay import resources
from sickbay.contract.errors import Busy, Refused, StorageFailed
from sickbay.database.connections import sqlite_driver
from sickbay.database.schema import open_database

FIRST = """
revision = "0901"
down_revision = "{newest}"
def upgrade():
    from alembic import op
    op.execute("CREATE TABLE planted (id INTEGER)")
    op.execute("INSERT INTO person (name, role, created_at) VALUES ('eve', 'admin', 1)")
"""
SECOND = """
revision = "0902"
down_revision = "0901"
def upgrade():
    from alembic import op
    op.execute("DROP TABLE tally")
    {fails}
"""
FAILURES = {
    "its own": "raise ZeroDivisionError('secret')",
    "of the database": "op.execute('SELECT no_such_column FROM person')",
    "of a constraint": "op.execute('INSERT INTO planted SELECT * FROM no_such_table')",
    "at the end of the process": "raise SystemExit(3)",
}
Plant = Callable[[str], Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """Makes a later Sickbay's migrations, of which the second ends in a statement."""

    def make(fails: str) -> Path:
        folder = tmp_path / "migrations 100%"
        shutil.copytree(resources.folder("migrations"), folder)
        newest = max(path.name[:4] for path in (folder / "versions").glob("0*.py"))
        (folder / "versions" / "0901_first.py").write_text(FIRST.format(newest=newest))
        (folder / "versions" / "0902_second.py").write_text(SECOND.format(fails=fails))
        return folder

    return make


def contents(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    dump = sorted(connection.iterdump())
    connection.close()
    return dump


@pytest.mark.parametrize("name", list(FAILURES)[:3])
def test_a_migration_that_fails_half_way_is_one_sentence_and_changes_nothing(
    state: Path, plant: Plant, name: str
) -> None:
    path = state / "sickbay.db"
    before = contents(path)

    with pytest.raises(StorageFailed, match="could not be brought up to date") as failed:
        open_database(path, migrations=plant(FAILURES[name]))

    assert failed.value.exit_code == 5
    assert "sickbay.db.before-0902" in failed.value.sentence
    assert "secret" not in failed.value.sentence
    assert "\n" not in failed.value.sentence
    assert contents(path) == before
    assert contents(state / "sickbay.db.before-0902") == before
    open_database(path).close()


def test_a_process_that_ends_in_a_migration_leaves_the_database_as_it_was(
    state: Path, plant: Plant
) -> None:
    before = contents(state / "sickbay.db")
    with pytest.raises(SystemExit):
        open_database(state / "sickbay.db", migrations=plant("raise SystemExit(3)"))
    assert contents(state / "sickbay.db") == before


def test_a_migration_that_works_keeps_a_copy_for_its_owner_only(state: Path, plant: Plant) -> None:
    path = state / "sickbay.db"
    before = contents(path)
    open_database(path, migrations=plant("")).close()
    copy = state / "sickbay.db.before-0902"
    assert contents(copy) == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert any("planted" in line for line in contents(path))


def test_a_new_state_whose_migrations_fail_is_not_there_afterwards(
    tmp_path: Path, plant: Plant
) -> None:
    path = tmp_path / "new" / "sickbay.db"
    with pytest.raises(StorageFailed, match="could not be brought up to date"):
        open_database(path, migrations=plant(FAILURES["its own"]))
    assert not path.exists()
    open_database(path).close()


def test_a_database_in_use_is_migrated_later(state: Path, plant: Plant) -> None:
    other = sqlite_driver().connect(str(state / "sickbay.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy, match="Try again"):
        open_database(state / "sickbay.db", migrations=plant(""))
    other.close()


@pytest.mark.parametrize("revision", ["9999", "", "0002b", "x" * 32])
def test_a_state_whose_revision_is_unknown_is_refused_and_left_as_it_is(
    state: Path, revision: str
) -> None:
    path = state / "sickbay.db"
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.commit()
    connection.close()
    before = contents(path)
    with pytest.raises(Refused, match="newer Sickbay") as refused:
        open_database(path)
    assert refused.value.exit_code == 2
    assert contents(path) == before
    assert not list(state.glob("*.before-*"))


def test_a_state_without_or_with_two_revisions_is_refused(state: Path) -> None:
    path = state / "sickbay.db"
    for change in (
        "DELETE FROM alembic_version",
        "INSERT INTO alembic_version VALUES ('1'), ('2')",
    ):
        connection = sqlite3.connect(path)
        connection.execute(change)
        connection.commit()
        connection.close()
        with pytest.raises(StorageFailed, match="which version"):
            open_database(path)
