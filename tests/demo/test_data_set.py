"""The demonstration's data set is the same everywhere and holds what it says."""

from pathlib import Path

import pytest

from sickbay.contract.errors import StorageFailed
from sickbay.demo import damage, data_set
from sickbay.demo.scenes import SCENES, draw


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("demo") / "state" / "data"
    data_set.make(made)
    return made


def test_every_class_stands_in_every_split(root: Path) -> None:
    for split in ("train", "val", "test"):
        assert sorted(folder.name for folder in (root / split).iterdir()) == sorted(SCENES)


def test_most_pictures_are_sound_and_some_of_every_kind_are_bad(root: Path) -> None:
    files = [path for path in root.rglob("*") if path.is_file()]
    assert len(files) > 90
    assert sum(path.stat().st_size == 0 for path in files) == damage.BAD.count(damage.nothing) * 2


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_is_drawn_from_its_seed_alone(scene: str) -> None:
    assert draw(scene, 5).tobytes() == draw(scene, 5).tobytes()
    assert draw(scene, 5).tobytes() != draw(scene, 6).tobytes()


def test_a_folder_that_is_in_the_way_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(StorageFailed, match="cannot be written"):
        data_set.make(tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_the_state_it_lies_in_is_for_its_owner_alone(root: Path) -> None:
    assert root.parent.stat().st_mode & 0o077 == 0
