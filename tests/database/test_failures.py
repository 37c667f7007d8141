import sqlite3
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from sickbay.contract.errors import Busy, Refused, StorageFailed
from sickbay.database import Database
from sickbay.database.connections import has_wal_reset_bug, sqlite_driver
from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets

DRIVERS = pytest.mark.parametrize("driver", [sqlite_driver(), sqlite3], ids=["bundled", "stdlib"])


def register(session: Session) -> None:
    data_sets.register(session, name="signs", layout="imagefolder")


def names(database: Database) -> list[str]:
    with database.reading() as session:
        return [card.name for card in data_sets.cards(session)]


@DRIVERS
def test_a_full_disk_is_one_plain_sentence_and_room_mends_it(
    state: Path, driver: ModuleType
) -> None:
    database = Database(state / "sickbay.db", driver=driver)
    database.writing(register)

    def fills(session: Session) -> None:
        pages = session.scalar(text("PRAGMA page_count"))
        session.execute(text(f"PRAGMA max_page_count = {pages}"))
        for number in range(1000):
            data_sets.register(session, name=f"{number:080}", layout="imagefolder")

    with pytest.raises(StorageFailed, match="The disk is full"):
        database.writing(fills)

    assert names(database) == ["signs"]
    database.writing(lambda session: data_sets.register(session, name="after", layout="plain"))
    assert names(database) == ["after", "signs"]
    database.close()


@DRIVERS
def test_a_database_held_by_another_program_is_busy_and_reads_go_on(
    state: Path, driver: ModuleType
) -> None:
    database = Database(state / "sickbay.db", driver=driver)
    database.writing(lambda session: session.execute(text("PRAGMA busy_timeout = 50")).close())
    other = driver.connect(str(state / "sickbay.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(Busy, match="Another process holds the database"):
        database.writing(register)
    assert names(database) == []

    other.execute("ROLLBACK")
    other.close()
    database.writing(register)
    assert names(database) == ["signs"]
    database.close()


def test_a_read_only_database_is_one_plain_sentence(state: Path) -> None:
    database = open_database(state / "sickbay.db")
    database.writing(lambda session: session.execute(text("PRAGMA query_only = ON")).close())

    with pytest.raises(StorageFailed, match="read-only"):
        database.writing(register)

    database.close()


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "sickbay.db"
    path.write_bytes(b"Dear diary, " * 1000)

    with pytest.raises(StorageFailed, match="not a database"):
        open_database(path)

    assert path.read_bytes() == b"Dear diary, " * 1000


def test_a_damaged_database_is_one_plain_sentence(state: Path) -> None:
    path = state / "sickbay.db"
    whole = path.read_bytes()
    database = open_database(path)
    database.writing(register)
    database.close()
    page = 4096
    path.write_bytes(path.read_bytes()[:page] + b"\xff" * (len(whole) - page))
    database = Database(path)

    with pytest.raises(StorageFailed, match="damaged"):
        names(database)

    database.close()


def test_a_state_folder_that_cannot_be_made_is_one_plain_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageFailed, match="--state"):
        open_database(tmp_path / "file" / "sickbay.db")


def test_a_state_of_a_newer_sickbay_is_refused_and_left_as_it_is(state: Path) -> None:
    path = state / "sickbay.db"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    with pytest.raises(Refused, match="newer Sickbay"):
        open_database(path)

    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    connection.close()


@pytest.mark.parametrize(
    ("version", "has_it"),
    [
        ((3, 6, 23), False),
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 53, 0), False),
    ],
)
def test_the_versions_with_the_wal_reset_bug_are_known(
    version: tuple[int, int, int],
    has_it: bool,  # noqa: FBT001 (a column of the table)
) -> None:
    assert has_wal_reset_bug(version) is has_it


@DRIVERS
def test_the_write_ahead_log_is_used_only_where_it_is_sound(
    state: Path, driver: ModuleType
) -> None:
    database = Database(state / "sickbay.db", driver=driver)

    mode = database.writing(lambda session: session.scalar(text("PRAGMA journal_mode")))

    sound = not has_wal_reset_bug(driver.sqlite_version_info)
    assert mode == ("wal" if sound else "delete")
    database.close()


def test_a_state_moves_between_drivers_and_back(state: Path) -> None:
    for number, driver in enumerate((sqlite_driver(), sqlite3, sqlite_driver())):
        database = Database(state / "sickbay.db", driver=driver)
        database.writing(
            lambda session, name=f"set-{number}": data_sets.register(  # type: ignore[misc]
                session, name=name, layout="imagefolder"
            )
        )
        database.close()

    database = Database(state / "sickbay.db")
    assert names(database) == ["set-0", "set-1", "set-2"]
    database.close()
