"""A logged-in browser without scripts, on a state that a real scan filled."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests import scanned
from tests.web.pages.desk import Desk

from sickbay.accounts.tables import Role
from sickbay.blobs import Blobs
from sickbay.database.schema import open_database
from sickbay.scanner.guard import Guards
from sickbay.settings import Settings
from sickbay.web.site import Site


@pytest.fixture(scope="session")
def scanned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder and the data beside it, made once; tests work on copies of the state."""
    base = tmp_path_factory.mktemp("scanned")
    scanned.fill(base / "data")
    (base / "state").mkdir()
    scanned.scan_into(base / "state", base / "data")
    return base / "state"


@pytest.fixture
def site(scanned_once: Path, tmp_path: Path) -> Iterator[Site]:
    """A site on a copy of the scanned state."""
    settings = Settings(state=tmp_path / "scanned")
    shutil.copytree(scanned_once, settings.state)
    database, guards = open_database(settings.database), Guards(1)
    yield Site(settings, database, Blobs(settings.blobs), guards)
    guards.close()
    database.close()


@pytest.fixture
def desk(site: Site, visitor: Callable[[Role], TestClient]) -> Desk:
    """A reviewer at work."""
    return Desk(visitor(Role.REVIEWER), site.database)
