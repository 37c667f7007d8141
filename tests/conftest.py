"""What most tests need: a state folder with a migrated database in it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sickbay.database import Database
from sickbay.database.schema import open_database

# Drawn examples may take their time: a busy machine is no fault of what is tested.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")


@pytest.fixture(scope="session", autouse=True)
def _caches_of_scans(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Leave the person's own cache alone, in commands that tests run too."""
    os.environ["SICKBAY_CACHE"] = str(tmp_path_factory.mktemp("cache") / "scans")


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what is wrong when a test skipped where none may."""
    if _skipped_in_ci(terminalreporter):
        terminalreporter.write_line("In CI no test may skip.", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in CI in which a test skipped: a skip there hides a missing install step."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and _skipped_in_ci(reporter) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _skipped_in_ci(reporter: pytest.TerminalReporter) -> bool:
    return os.environ.get("CI") == "true" and bool(reporter.stats.get("skipped"))
