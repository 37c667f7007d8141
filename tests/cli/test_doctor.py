"""``sickbay doctor``: one line for each thing that is wrong, and an exit code."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.commands import as_anybody, mount_small, run, unmount

from sickbay.cli.doctor import little_room, old_pillow, old_sqlite
from sickbay.database import Database
from sickbay.database.connections import has_wal_reset_bug, sqlite_driver
from sickbay.database.damage import refuse_damaged

PAGE = 4096


@pytest.fixture
def private(state: Path) -> Path:
    """A state as Sickbay makes it."""
    (state / "sickbay.db").chmod(0o600)
    return state


def lines(state: Path) -> list[str]:
    ran = run("doctor", "--state", state)
    assert (ran.code, ran.err) == (1, "")
    return ran.out.splitlines()


def test_a_sound_state_is_said_to_be_so_and_left_as_it_is(private: Path) -> None:
    before = (private / "sickbay.db").read_bytes()
    ran = run("doctor", "--state", private)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Nothing is wrong")
    assert (private / "sickbay.db").read_bytes() == before
    assert not list(private.glob("migrate.lock"))


def test_it_may_look_while_the_database_is_in_use(private: Path) -> None:
    opened = Database(private / "sickbay.db")
    assert run("doctor", "--state", private).code == 0
    opened.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"no database" * 900, "is not a database"), (None, "is damaged")],
)
def test_a_broken_database_is_one_line(private: Path, content: bytes | None, words: str) -> None:
    path = private / "sickbay.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:PAGE] + b"\xff" * (len(whole) - PAGE) if content is None else content)
    (line,) = lines(private)
    assert line.startswith("wrong: ")
    assert words in line


def test_the_full_check_finds_an_index_that_lacks_a_row(private: Path) -> None:
    made = sqlite_driver().connect(str(private / "sickbay.db"))
    made.execute("INSERT INTO person (name, role, created_at) VALUES ('anna', 'ADMIN', 1)")
    made.execute("CREATE INDEX ix_planted ON person (name)")
    made.execute("PRAGMA writable_schema = ON")
    made.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, '(name)', '(role)') WHERE name = 'ix_planted'"
    )
    made.commit()
    made.close()
    refuse_damaged(private / "sickbay.db")
    (line,) = lines(private)
    assert "is damaged (row 1 missing from index ix_planted)" in line


def test_what_others_may_read_is_named_with_the_command_that_mends_it(private: Path) -> None:
    private.chmod(0o755)
    (private / "sickbay.db").chmod(0o644)
    path = private / "sickbay.db"
    assert lines(private) == [
        f"wrong: Others may use {private} (mode 0755): run `chmod 700 {private}`.",
        f"wrong: Others may use {path} (mode 0644): run `chmod 600 {path}`.",
    ]


@pytest.fixture
def small_disk(tmp_path: Path, private: Path) -> Iterator[Path]:
    """The state on a disk of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not mount_small(folder, "3m,mode=0700"):
        pytest.skip("mounting a small file system is not allowed here")
    shutil.copy2(private / "sickbay.db", folder)
    yield folder
    unmount(folder)


def test_a_disk_that_is_nearly_full_is_one_line(small_disk: Path) -> None:
    (line,) = lines(small_disk)
    assert "less than 1 GB: make room." in line


def test_room_is_measured_against_one_gigabyte(tmp_path: Path) -> None:
    assert list(little_room(tmp_path, 1 << 30)) == []
    assert len(list(little_room(tmp_path, (1 << 30) - 1))) == 1


@pytest.mark.parametrize("found", [(3, 45, 1), (3, 51, 2), (3, 51, 3), (3, 44, 6), (3, 50, 7)])
def test_an_sqlite_with_the_wal_reset_bug_is_named_with_what_is_done_instead(
    found: tuple[int, int, int],
) -> None:
    said = list(old_sqlite(found))
    assert bool(said) == has_wal_reset_bug(found)
    assert all("a rollback journal is used" in one for one in said)


@pytest.mark.parametrize(("found", "old"), [("12.3.0", True), ("9.5.0", True), ("13.0.0", False)])
def test_an_old_pillow_is_named(found: str, *, old: bool) -> None:
    assert bool(list(old_pillow(found))) == old


def test_a_state_that_is_not_there_is_one_sentence_and_none_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for name in ("none", "file/below", "folder"):
        ran = run("doctor", "--state", tmp_path / name)
        assert ran.code == 2
        assert "There is no state" in ran.sentence
    assert run("doctor", "--state", tmp_path / "file").code == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_state_of_somebody_else_is_one_sentence(private: Path) -> None:
    (private / "sickbay.db").chmod(0)
    (line,) = _without_rights(private)
    assert "cannot be opened" in line
    private.chmod(0)
    (line,) = _without_rights(private)
    assert "cannot be" in line
    private.chmod(0o700)


def _without_rights(private: Path) -> list[str]:
    ran = run("doctor", "--state", private, prepare=as_anybody)
    assert ran.code in {1, 5}
    return (ran.out + ran.err).splitlines()
