"""What most tests need: a state folder with a migrated database in it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sickbay.database import Database
from sickbay.database.schema import open_database


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database file at the newest schema, made once and copied for each test."""
    path = tmp_path_factory.mktemp("migrated") / "sickbay.db"
    open_database(path).close()
    return path


@pytest.fixture
def state(tmp_path: Path, migrated: Path) -> Path:
    """A state folder of its own for each test."""
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    shutil.copyfile(migrated, folder / "sickbay.db")
    return folder


@pytest.fixture
def database(state: Path) -> Iterator[Database]:
    """The state's database, opened."""
    opened = open_database(state / "sickbay.db")
    yield opened
    opened.close()
