import json
from pathlib import Path

import pytest
from tests.runs.sending import Trainer
from typer.testing import CliRunner

from sickbay.cli import app
from sickbay.contract.errors import BadInput
from sickbay.contract.event import Failure
from sickbay.database import Database
from sickbay.runs import elastic, view
from sickbay.runs.failures import find

STACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\n'


def _file(message: object, **more: object) -> bytes:
    return json.dumps({"message": message, **more}).encode()


RECORDED = _file(
    {
        "message": "ValueError: bad sample",
        "extraInfo": {"py_callstack": STACK, "timestamp": "1800000000"},
        "errorCode": 1,
    }
)


def test_an_error_file_of_a_recorded_function_is_read() -> None:
    event = elastic.failure_of(RECORDED, 3, found_at=1.0)
    body = event.body
    assert isinstance(body, Failure)
    assert (event.rank, event.time) == (3, 1_800_000_000.0)
    assert (body.exception_type, body.message, body.traceback) == (
        "ValueError",
        "bad sample",
        STACK,
    )
    assert body.detail["error_code"] == "1"


@pytest.mark.parametrize(
    "data",
    [
        _file("Signal 9 (SIGKILL) received by PID 12", timestamp=5),
        _file({"message": "Signal 9 (SIGKILL) received by PID 12", "extraInfo": {"timestamp": 5}}),
    ],
)
def test_a_process_that_died_without_an_exception_is_read(data: bytes) -> None:
    event = elastic.failure_of(data, 0, found_at=1.0)
    assert isinstance(event.body, Failure)
    assert event.body.message.startswith("Signal 9")
    assert event.time == 5.0


@pytest.mark.parametrize("stated", ["soon", None, "nan", [], "1e999"])
def test_a_time_that_is_none_is_that_of_the_import(stated: object) -> None:
    data = _file({"message": "x", "extraInfo": {"timestamp": stated}})
    assert elastic.failure_of(data, 0, found_at=7.0).time == 7.0


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b"not json", b'{"message": 1' + b"0" * (4 << 20)]
)
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        elastic.failure_of(data, 0, found_at=1.0)


def test_the_command_adds_failures_once_and_takes_ranks_from_folders(
    database: Database, state: Path, tmp_path: Path
) -> None:
    trainer = Trainer(database, "night run")
    files = []
    for rank in (0, 5):
        file = tmp_path / "attempt_0" / str(rank) / "error.json"
        file.parent.mkdir(parents=True)
        file.write_bytes(RECORDED.replace(b"bad", b"bad" * (rank + 1)))
        files.append(str(file))
    command = ["import-error", *files, "--run", "night run", "--state", str(state)]
    assert "2 added to night run, 0 there before." in CliRunner().invoke(app, command).output
    assert "0 added to night run, 2 there before." in CliRunner().invoke(app, command).output
    with database.reading() as session:
        groups = find.groups(session, trainer.run)
        assert sum(group.failures for group in groups) == 2
        assert view.view(session, trainer.run).attempts[0].missing == 0


def test_the_command_names_what_it_cannot_use(
    database: Database, state: Path, tmp_path: Path
) -> None:
    del database
    file = tmp_path / "error.json"
    command = ["import-error", str(file), "--run", "nobody", "--state", str(state)]
    missing = CliRunner().invoke(app, command)
    assert isinstance(missing.exception, BadInput)
    file.write_bytes(RECORDED)
    assert "There is no run of that name." in str(CliRunner().invoke(app, command).exception)
