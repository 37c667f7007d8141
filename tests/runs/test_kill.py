"""A server process that is killed while batches come in loses nothing it acknowledged."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.runs.sending import Trainer, failure, points

from sickbay.contract.event import Event
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.runs import series
from sickbay.runs.charts import chart
from sickbay.runs.failures import find

WRITER = """
import sys
from pathlib import Path
from sickbay.database.schema import open_database
from tests.runs.sending import Trainer, failure, points

database = open_database(Path(sys.argv[1]))
trainer = Trainer(database)
trainer.seq = int(sys.argv[2])
while True:
    seq = trainer.seq
    trainer.log(points("loss", [seq, seq + 1], [float(seq), float(seq + 1)]), failure(step=seq))
    print(trainer.seq, flush=True)
"""


def _killed_while_writing(path: Path, seq: int, acknowledgements: int) -> int:
    """Run a writer, kill it after so many acknowledgements; return the last seq acknowledged."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(seq)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    with process.stdout as lines:
        for _ in range(acknowledgements):
            seq = int(lines.readline())
        process.send_signal(signal.SIGKILL)
        rest = lines.read().splitlines(keepends=True)
    process.wait()
    return int(rest[-1]) if rest and rest[-1].endswith("\n") else seq


def _events(trainer: Trainer, last: int) -> list[Event]:
    made = []
    trainer.seq = 0
    while trainer.seq < last:
        seq = trainer.seq
        made.append(trainer.event(points("loss", [seq, seq + 1], [float(seq), float(seq + 1)])))
        made.append(trainer.event(failure(step=seq)))
    return made


def _check(database: Database, acknowledged: int) -> int:
    """Every acknowledged event is there once: a replay of all finds them, and nothing twice."""
    trainer = Trainer(database)
    events = _events(trainer, acknowledged)
    assert trainer.send(*events).duplicate == len(events)
    with database.reading() as session:
        number = series.count_points(session, trainer.run)
        (curve,) = chart(session, trainer.run, "loss", buckets=10_000).curves
        assert sum(curve.columns["n"]) == number
        failures = sum(group.failures for group in find.groups(session))
    assert number == 2 * failures >= acknowledged
    return failures * 2


def _loop(path: Path, rounds: int) -> None:
    chance, there = random.Random(), 0  # noqa: S311 (no secret)
    for _ in range(rounds):
        acknowledged = _killed_while_writing(path, there, chance.randrange(1, 12))
        database = open_database(path)
        there = _check(database, acknowledged)
        database.close()


def test_kill_9_in_ingest_loses_and_doubles_nothing(state: Path) -> None:
    _loop(state / "sickbay.db", 4)


@pytest.mark.soak
def test_kill_9_in_ingest_a_hundred_times(state: Path) -> None:
    _loop(state / "sickbay.db", 100)
