"""Trainer and server are killed at random, and every point is there exactly once.

A short loop runs with the tests. The long one:

    SICKBAY_KILLS=1000 python -m pytest -m soak -s tests/trainer/test_kill_loop.py
"""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.serving import Serving, start

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.client.http import Pace
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.runs import series, view
from sickbay.trainer.line import Line
from sickbay.trainer.replay import Left, replay_all
from sickbay.trainer.writer import INTERVAL

KILLS = int(os.environ.get("SICKBAY_KILLS", "100"))
POINTS_A_STEP = 5
_SAFE = 1.0 + INTERVAL
"""Seconds after which a point is on disk, with room for a busy machine."""

_TRAINING = f"""
import itertools, time
import sickbay.trainer as sickbay
run = sickbay.init("kills")
for step in itertools.count():
    run.log({{f"s{{n}}": float(step) for n in range({POINTS_A_STEP})}}, step=step)
    if step % 10 == 0:
        print(step, time.monotonic(), flush=True)
    time.sleep(0.002)
"""


@dataclass
class Loop:
    """One loop: the server, the trainers' spool, and what was certainly logged by each."""

    state: Path
    spool: Path
    token: str
    server: Serving
    logged: list[int] = field(default_factory=list)

    def train_and_kill(self, kills_of_server: int) -> None:
        """Train for a while, kill the server in the middle of it, at last kill the trainer."""
        with subprocess.Popen(
            [sys.executable, "-c", _TRAINING],
            env={
                **os.environ,
                "SICKBAY_URL": self.server.url,
                "SICKBAY_TOKEN": self.token,
                "SICKBAY_SPOOL": str(self.spool),
            },
            stdout=subprocess.PIPE,
            text=True,
        ) as trainer:
            for _ in range(kills_of_server):
                time.sleep(random.uniform(0.3, 1.0))  # noqa: S311 (no secret)
                self.server.kill()
                self.server = start(self.state, self.server.port)
            time.sleep(random.uniform(1.3, 2.5))  # noqa: S311 (no secret)
            trainer.kill()
            died = time.monotonic()
            assert trainer.stdout is not None
            lines = [line.split() for line in trainer.stdout if line.endswith("\n")]
        safe = [int(step) for step, at in lines if float(at) < died - _SAFE]
        self.logged.append(max(safe, default=-1))

    def send_what_is_left(self) -> None:
        """Run what ``sickbay sync`` runs, twice."""
        line = Line(self.server.url, self.token, Pace(patience=30))
        left: list[Left] = []
        for _ in range(2):
            replay_all(self.spool, line, left.append, keep=False)
        assert not any(one.busy or one.delivered.rejected for one in left)
        assert not list(self.spool.iterdir())


def _check(database: Database, logged: list[int]) -> int:
    """Check that each attempt has every step once, up to what was certainly logged."""
    total = 0
    with database.reading() as session:
        run = view.named(session, "kills")
        attempts = list(range(1, len(logged) + 1))
        for n in range(POINTS_A_STEP):
            lines = series.csv_lines(session, run, f"s{n}", attempts=attempts)
            rows = b"".join(lines).decode().split()[1:]
            cells = [row.split(",") for row in rows]
            assert all(float(value) == int(step) for _, _, step, _, value in cells)
            steps: dict[int, list[int]] = {}
            for attempt, _, step, _, _ in cells:
                steps.setdefault(int(attempt), []).append(int(step))
            assert all(sorted(own) == list(range(len(own))) for own in steps.values())
            counts = Counter({attempt: len(own) for attempt, own in steps.items()})
            assert sum(last + 1 for last in logged) <= counts.total()
            total += counts.total()
    return total


def _loop(state: Path, rounds: int, kills_of_server: int) -> int:
    database = open_database(state / "sickbay.db")
    token = database.writing(lambda session: tokens.create(session, "loop", [Scope.EVENTS]))
    loop = Loop(state, state / "spool", token, start(state))
    try:
        for _ in range(rounds):
            loop.train_and_kill(kills_of_server)
        loop.send_what_is_left()
        return _check(database, loop.logged)
    finally:
        loop.server.kill()
        database.close()


def test_after_a_few_kills_every_point_is_there_once(state: Path, kit: Path) -> None:
    assert not kit.exists()
    assert _loop(state, rounds=2, kills_of_server=1) > 1000


@pytest.mark.soak
def test_after_many_kills_every_point_is_there_once(state: Path, kit: Path) -> None:
    assert not kit.exists()
    points = _loop(state, rounds=KILLS // 2, kills_of_server=1)
    print(f"\n{KILLS} kills, {points:,} points, each there once")  # noqa: T201 (a soak's figures)
