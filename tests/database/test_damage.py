"""A database that is broken is refused at the start, in one sentence, and left as it is."""

import os
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from sickbay.contract.errors import StorageFailed
from sickbay.database import damage
from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets

PAGE = 4096


@pytest.fixture
def used(state: Path) -> Path:
    """A database with some rows on several pages."""

    def fill(session: Session) -> None:
        for number in range(300):
            data_sets.register(session, name=f"{number:080}", layout="imagefolder")

    path = state / "sickbay.db"
    database = open_database(path)
    database.writing(fill)
    database.close()
    return path


def pages_of_rows(path: Path) -> list[int]:
    """Return where the pages begin that hold names."""
    whole = path.read_bytes()
    return [at for at in range(0, len(whole), PAGE) if b"0" * 60 in whole[at : at + PAGE]]


def overwritten(whole: bytes, at: int) -> bytes:
    """Return the file with a page as a failing disk hands it out."""
    return whole[:at] + b"\xff" * PAGE + whole[at + PAGE :]


def refusal(path: Path) -> str:
    before = path.read_bytes()
    with pytest.raises(StorageFailed) as refused:
        open_database(path)
    assert path.read_bytes() == before
    return refused.value.sentence


def test_damage_in_any_page_that_holds_rows_is_found_at_the_start(used: Path) -> None:
    whole = used.read_bytes()
    assert len(pages_of_rows(used)) > 10
    for at in pages_of_rows(used):
        used.write_bytes(overwritten(whole, at))
        assert "is damaged" in refusal(used)
    used.write_bytes(whole)
    open_database(used).close()


def test_a_database_that_was_cut_off_is_damaged(used: Path) -> None:
    os.truncate(used, used.stat().st_size // 2)
    assert "is damaged" in refusal(used)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty (0 bytes)"),
        (b"Dear diary, " * 1000, "is not a database"),
        (b"SQLite format 3\0", "is not a database"),
    ],
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "sickbay.db"
    path.write_bytes(content)
    said = refusal(path)
    assert words in said
    assert "--state" in said


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sickbay.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.close()
    assert "is a database of another program" in refusal(path)


def test_the_refusal_names_the_newest_copy_that_was_kept(used: Path) -> None:
    for revision, at in (("0009", 1), ("0002", 2)):
        copy = used.with_name(f"sickbay.db.before-{revision}")
        copy.write_bytes(b"")
        os.utime(copy, (at, at))
    os.truncate(used, PAGE + 100)
    assert "restore a backup or the copy sickbay.db.before-0002" in refusal(used)


def test_only_the_doctor_looks_through_a_database_that_is_huge(
    used: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(damage, "LOOKED_AT_MOST", used.stat().st_size - 1)
    used.write_bytes(overwritten(used.read_bytes(), pages_of_rows(used)[-1]))
    open_database(used).close()
    with pytest.raises(StorageFailed, match="is damaged"):
        damage.examine(used)


def test_a_first_start_that_was_killed_is_done_again(tmp_path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        (tmp_path / f"sickbay.db.new{ending}").write_bytes(b"half")
    open_database(tmp_path / "sickbay.db").close()
    assert not list(tmp_path.glob("*.new*"))
