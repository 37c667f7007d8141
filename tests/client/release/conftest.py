"""A data set with a release, for the tests of pull and verify."""

from pathlib import Path

import pytest
from tests.releases.a_data_set import ADataSet, with_every_decision

from sickbay.client.release_source import StoredRelease
from sickbay.database import Database
from sickbay.releases.make import Made


@pytest.fixture
def data_set(database: Database, state: Path, tmp_path: Path) -> ADataSet:
    """A data set with one sample of each status."""
    made = ADataSet(database, state, tmp_path / "root")
    with_every_decision(made)
    return made


@pytest.fixture
def made(data_set: ADataSet) -> Made:
    """Its release."""
    return data_set.make()


@pytest.fixture
def release(data_set: ADataSet, made: Made) -> Path:
    """The folder with the release's files."""
    return data_set.folder(made)


@pytest.fixture
def source(data_set: ADataSet, made: Made, release: Path) -> StoredRelease:
    """The release, where a pull takes it from."""
    return StoredRelease(release, data_set.blobs.path, made.digest)
