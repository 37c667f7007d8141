import pytest
from tests.runs.sending import Trainer, failure, points

from sickbay.contract.blame import Outcome, Verdict
from sickbay.contract.event import Alert, Ending, Finish
from sickbay.contract.report import Change, Passed, Report
from sickbay.database import Database
from sickbay.runs import outbox
from sickbay.runs.outbox import Line
from sickbay.runs.tables import ChangeKind


def _tail(database: Database, after: int = 0, run: str | None = None) -> list[Line]:
    with database.reading() as session:
        return outbox.tail(session, after, run=run)


def test_every_write_of_a_run_leaves_a_line_and_a_replay_none(database: Database) -> None:
    trainer = Trainer(database)
    batch = [
        trainer.event(body)
        for body in (
            points("loss", [3, 9], [1.0, 2.0]),
            points("lr", [4], [1.0]),
            failure(step=7),
            Alert("look"),
            Verdict("0123456789abcdef", Outcome.NOT_REPRODUCED),
            Change("learning-rate", "0.1", "0.05"),
            Report("Triage", Passed.PASSED),
            Finish(Ending.FINISHED),
        )
    ]
    trainer.send(*batch)
    lines = _tail(database)
    assert [line.kind for line in lines] == [
        ChangeKind.ATTEMPT,
        ChangeKind.POINTS,
        ChangeKind.FAILURE,
        ChangeKind.ALERT,
        ChangeKind.VERDICT,
        ChangeKind.COURSE,
        ChangeKind.REPORT,
        ChangeKind.STATE,
    ]
    assert {(line.run, line.attempt, line.rank) for line in lines} == {(trainer.run, 1, 0)}
    assert (lines[1].first_step, lines[1].last_step) == (3, 9)
    assert lines[1].series == ("loss", "lr")
    assert (lines[2].first_step, lines[2].ref) == (7, 1)
    trainer.send(*batch)
    assert _tail(database) == lines


def test_a_reader_goes_on_after_the_last_line_it_saw(database: Database) -> None:
    one, other = Trainer(database, "one"), Trainer(database, "other")
    seen = _tail(database)[-1].id
    one.log(points("loss", [1], [1.0]))
    other.log(points("loss", [2], [1.0]))
    assert [line.run for line in _tail(database, seen)] == [one.run, other.run]
    assert [line.run for line in _tail(database, seen, other.run)] == [other.run]
    with database.reading() as session:
        assert outbox.newest(session) == seen + 2
        assert len(outbox.tail(session, 0, limit=1)) == 1


def test_old_lines_are_trimmed(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEPT", 5)
    monkeypatch.setattr(outbox, "_TRIM_EVERY", 10)
    trainer = Trainer(database)
    for step in range(40):
        trainer.log(points("loss", [step], [1.0]))
    lines = _tail(database)
    assert len(lines) < 16
    assert lines[-1].last_step == 39
    with database.reading() as session:
        assert outbox.oldest(session) == lines[0].id > 1
