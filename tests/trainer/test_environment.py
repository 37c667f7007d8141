"""What is recorded of the machine, and what is not."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sickbay.trainer.environment import ask_git, at_once, command, describe, git, packages
from sickbay.trainer.plain import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_packages_are_those_that_are_installed() -> None:
    found = packages()
    assert found["pytest"] == pytest.__version__
    assert all(name == name.lower() and "_" not in name for name in found)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["train.py", "--lr", "0.1"], ["train.py", "--lr", "0.1"]),
        (["train.py", "--token", "sesame", "x"], ["train.py", "--token", HIDDEN, "x"]),
        (["train.py", "--api-key=sesame"], ["train.py", f"--api-key={HIDDEN}"]),
        (["train.py", "db.password=sesame"], ["train.py", f"db.password={HIDDEN}"]),
        (["train.py", "http://me:sesame@host/"], ["train.py", f"http://{HIDDEN}@host/"]),
        (["train.py", "--token", "--lr", "1"], ["train.py", "--token", "--lr", "1"]),
        (["train.py", "--tokenizer", "bpe"], ["train.py", "--tokenizer", "bpe"]),
    ],
)
def test_the_command_line_is_shown_without_secrets(words: list[str], shown: list[str]) -> None:
    assert command(words) == shown


def _repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = folder / "train.py"
    script.write_text("pass\n")
    for words in (
        ("init", "-q", "-b", "trunk"),
        ("add", "train.py"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    monkeypatch.setattr(sys, "argv", [str(script)])
    return script


def test_git_is_asked_for_revision_branch_and_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _repository(tmp_path, monkeypatch)
    clean = git(ask_git())
    assert len(clean["revision"]) == 40
    assert (clean["branch"], clean["dirty"]) == ("trunk", False)
    script.write_text("changed\n")
    assert git(ask_git())["dirty"] is True


def test_without_git_nothing_is_said_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "train.py")])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git(ask_git()) == {}


def test_other_ranks_leave_out_what_is_the_same_for_all() -> None:
    told: list[Mapping[str, Any]] = []
    for whole in (True, False):
        describe(told.append, whole=whole).join()
    first, other = told
    assert {"packages", "python", "host", "platform"} <= set(first)
    assert {"python", "host", "platform"} <= set(other)
    assert "packages" not in other


def test_what_is_known_at_once_needs_nothing_looked_up() -> None:
    assert set(at_once()) == {"python", "pid", "command"}
