"""Data sets for the tests of releases."""

from pathlib import Path

import pytest
from tests.releases.a_data_set import ADataSet

from sickbay.database import Database


@pytest.fixture
def data_set(database: Database, state: Path, tmp_path: Path) -> ADataSet:
    """An empty data set with a root of its own."""
    return ADataSet(database, state, tmp_path / "root")
