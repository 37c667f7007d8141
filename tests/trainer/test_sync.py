"""``sickbay sync``: what is on disk reaches the server, once."""

from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward
from typer.testing import CliRunner, Result

import sickbay.trainer as sickbay
from sickbay.cli import app
from sickbay.contract.errors import BadInput, NotFound, Unreachable


def _offline(name: str, steps: int) -> None:
    with sickbay.init(name, dataset="cells") as run:
        for step in range(steps):
            run.log({"loss": float(step)}, step)


def _sync(*words: Any) -> Result:
    return CliRunner().invoke(app, ["sync", *map(str, words)])


def test_an_offline_run_is_sent_and_its_files_are_gone(ward: Ward, kit: Path) -> None:
    _offline("offline", 300)
    assert ward.requests == 0
    result = _sync(kit, "--server", ward.url)
    assert result.exit_code == 0
    assert "offline: " in result.output
    assert "events sent" in result.output
    assert ward.points("loss") == [(step, float(step)) for step in range(300)]
    assert ward.openings[0].dataset == "cells"
    assert not list(kit.iterdir())
    assert "Nothing is left" in _sync(kit, "--server", ward.url).output


def test_what_is_sent_twice_is_there_once(ward: Ward, kit: Path) -> None:
    _offline("twice", 50)
    for _ in range(2):
        assert _sync(kit, "--server", ward.url, "--keep").exit_code == 0
    assert ward.duplicates > 0
    assert len(ward.points("loss")) == 50
    assert list(kit.glob("*/*.spool"))


def test_one_folder_of_a_spool_can_be_sent_alone(ward: Ward, kit: Path) -> None:
    _offline("first", 5)
    _offline("second", 5)
    folder = next(path for path in kit.iterdir() if path.name.startswith("second"))
    assert _sync(folder, "--server", ward.url).exit_code == 0
    assert [opening.name for opening in ward.openings] == ["second"]
    assert len(list(kit.iterdir())) == 1


def test_a_living_process_is_left_to_send_for_itself(ward: Ward, kit: Path) -> None:
    run = sickbay.init("alive")
    run.log({"loss": 1.0})
    while not list(kit.glob("*/*.spool")):
        pass
    result = _sync(kit, "--server", ward.url)
    assert "is alive" in result.output
    assert ward.requests == 0
    run.finish()


def test_damaged_lines_are_skipped_and_said(ward: Ward, kit: Path) -> None:
    _offline("damaged", 2000)
    file = next(kit.glob("*/*.spool"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data + b"000000ff 12345678 torn")
    result = _sync(kit, "--server", ward.url)
    assert "2 damaged lines skipped" in result.output
    assert not ward.rejected


def test_a_run_whose_first_line_is_gone_is_kept(ward: Ward, kit: Path) -> None:
    _offline("headless", 10)
    file = next(kit.glob("*/*.spool"))
    file.write_bytes(b"x" + file.read_bytes())
    result = _sync(kit, "--server", ward.url)
    assert isinstance(result.exception, BadInput)
    assert file.exists()


@pytest.mark.parametrize(("mood", "error"), [("503", Unreachable), ("portal", Unreachable)])
def test_what_cannot_be_sent_stays(
    ward: Ward, kit: Path, mood: str, error: type[Exception]
) -> None:
    _offline("stays", 10)
    ward.mood = mood
    result = _sync(kit, "--server", ward.url, "--patience", "0.2")
    assert isinstance(result.exception, error)
    assert list(kit.glob("*/*.spool"))


def test_without_a_server_or_a_spool_it_says_what_to_give(kit: Path) -> None:
    assert isinstance(_sync(kit).exception, BadInput)
    assert isinstance(_sync(kit / "none", "--server", "http://127.0.0.1:9").exception, NotFound)
