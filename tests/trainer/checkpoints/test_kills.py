"""A training is killed at random, and its newest good checkpoint loads every time.

A short loop runs with the tests. The long one:

    python -m pytest -m soak -s tests/trainer/checkpoints/test_kills.py
"""

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from tests.trainer.checkpoints import saving  # noqa: E402 (it needs torch)

KILLS = int(os.environ.get("SICKBAY_KILLS", "200"))
_MOST_FILES = 2 + 1 + 2 + 1
_ROOT = Path(__file__).parents[3]


def _train_and_kill(folder: Path) -> int:
    """Train for a moment, kill it anywhere, return the last step that was certainly saved."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.trainer.checkpoints.saving", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
    ) as training:
        assert training.stdout is not None
        assert training.stdout.readline() == "begun\n"
        time.sleep(random.uniform(0, 0.2))  # noqa: S311 (no secret)
        training.kill()
        lines = [line for line in training.stdout if line.endswith("\n")]
    return int(lines[-1]) if lines else 0


def _loop(folder: Path, kills: int) -> int:
    saved = 0
    for _ in range(kills):
        saved = max(saved, _train_and_kill(folder))
        model, _, kept = saving.parts(str(folder))
        found = kept.load()
        if not saved:
            continue
        assert found is not None
        assert found.step >= saved, "a checkpoint that was saved is lost"
        assert all(bool(torch.isfinite(one).all()) for one in model.state_dict().values())
        assert len(list(folder.glob("*.pt"))) <= _MOST_FILES
        assert not list(folder.glob(".*.part"))
    return saved


def test_after_ten_kills_the_newest_good_checkpoint_loads(tmp_path: Path) -> None:
    _loop(tmp_path / "kept", 10)


@pytest.mark.soak
def test_after_many_kills_the_newest_good_checkpoint_loads(tmp_path: Path) -> None:
    saved = _loop(tmp_path / "kept", KILLS)
    print(f"\n{KILLS} kills; step {saved:,} was the last saved, and loads")  # noqa: T201 (a soak's figures)
