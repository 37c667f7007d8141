"""Samples are known by their path below the root, however a job says both."""

import os
from pathlib import Path

import pytest

from sickbay.trainer.places import below


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "clean" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("clean")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("root", ["clean", "./clean/", "{here}/clean", "link", "{here}/link"])
@pytest.mark.parametrize(
    "path", ["clean/b/1.jpg", "./clean//b/1.jpg", "b/1.jpg", "{here}/clean/b/1.jpg"]
)
def test_a_sample_below_the_root_is_known_by_what_is_below_it(
    root: str, path: str, here: Path
) -> None:
    said = path.format(here=here)
    assert below(said, root.format(here=here)).text == "b/1.jpg"
    assert below(Path(said), root.format(here=here)).text == "b/1.jpg"
    assert below(os.fsencode(said), root.format(here=here)).text == "b/1.jpg"


def test_a_sample_elsewhere_keeps_all_its_parts(here: Path) -> None:
    assert below("/data/cleaner/1.jpg", "/data/clean").text == "data/cleaner/1.jpg"
    assert below("../x/1.jpg", str(here / "clean")).text == "x/1.jpg"
    assert below("/data/1.jpg", None).text == "data/1.jpg"


def test_a_root_that_is_the_folder_one_is_in_takes_nothing_from_paths_from_there(
    here: Path,
) -> None:
    assert below("clean/b/1.jpg", str(here)).text == "clean/b/1.jpg"
    assert below("b/1.jpg", os.curdir).text == "b/1.jpg"
