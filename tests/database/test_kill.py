"""What was answered survives ``kill -9``, and nothing is there twice."""

import subprocess
import sys
from pathlib import Path

import pytest

from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets

_WRITES_UNTIL_KILLED = """
import sys, threading
from pathlib import Path
from sickbay.database import Database
from sickbay.quarantine import data_sets

database = Database(Path(sys.argv[1]))

def write(thread):
    for number in range(100_000):
        name = f"{sys.argv[2]}-{thread}-{number}"
        database.writing(lambda session: data_sets.register(session, name=name, layout="plain"))
        sys.stdout.write(name + "\\n")
        sys.stdout.flush()

for thread in range(4):
    threading.Thread(target=write, args=(thread,)).start()
"""


@pytest.mark.parametrize("answers", [1, 7, 50])
def test_every_answered_write_is_there_after_a_kill(state: Path, answers: int) -> None:
    path = state / "sickbay.db"
    answered: list[str] = []
    for launch in range(2):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITES_UNTIL_KILLED, str(path), str(launch)],
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            answered += [writer.stdout.readline().strip() for _ in range(answers)]
            writer.kill()
            rest = writer.stdout.read().split("\n")
        # The last piece may be cut; a whole line is an answer.
        answered += rest[:-1]

    database = open_database(path)
    with database.reading() as session:
        present = [card.name for card in data_sets.cards(session)]
    database.close()
    assert set(answered) <= set(present)
    assert len(present) == len(set(present))
