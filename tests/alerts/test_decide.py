"""One message for a subject and window; the rest in one digest; what is over is said."""

from datetime import timedelta

import pytest
from sqlalchemy import select
from tests.alerts.conftest import BASE, Ward
from tests.quarantine.factories import a_record, scanned
from tests.runs.sending import Trainer, failure

from sickbay.alerts import rules
from sickbay.alerts.tables import Message, MessageKind, RuleKind
from sickbay.contract.event import (
    Alert,
    Body,
    Ending,
    FailureKind,
    Finish,
    Heartbeat,
    Level,
)
from sickbay.database import Database


def test_ten_thousand_failures_of_one_kind_are_one_message_and_one_digest(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.FAILURE)
    trainer = Trainer(database, "resnet")
    for _ in range(5):
        trainer.log(*[failure(step=3) for _ in range(1000)])
    assert ward.look(seconds=6) == ["resnet: loader-error at step 3"]
    for _ in range(5):
        trainer.log(*[failure(step=4) for _ in range(1000)])
    assert ward.look(seconds=6) == []
    assert ward.look(minutes=10) == ["5,000 more: resnet: loader-error at step 3"]
    assert ward.look(hours=1) == []


def test_failures_of_which_it_is_open_whose_group_is_whose_are_waited_for(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.FAILURE)
    Trainer(database).log(failure())
    assert ward.look() == []
    assert ward.look(seconds=6) == ["a run: loader-error"]


def test_a_failure_in_a_window_that_has_ended_is_said_at_once_again(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.FAILURE, window_minutes=3)
    trainer = Trainer(database)
    trainer.log(failure())
    assert len(ward.look(seconds=6)) == 1
    assert ward.look(minutes=4) == []
    trainer.send(trainer.event(failure()), at=ward.clock())
    assert ward.look(seconds=6) == ["a run: loader-error"]


def test_a_flood_of_groups_is_five_messages_and_a_digest(ward: Ward, database: Database) -> None:
    ward.rule(RuleKind.FAILURE)
    trainer = Trainer(database)
    kinds = ("ValueError", "TypeError", "KeyError", "IndexError", "OSError", "EOFError", "IOError")
    trainer.log(*[failure(exception_type=kind) for kind in kinds])
    assert len(ward.look(seconds=6)) == 5
    assert ward.look(minutes=10) == ["2 more in 2 subjects"]
    assert ward.entries()[0].kind is MessageKind.DIGEST


def test_a_rule_hears_of_its_kinds_and_its_data_set_only(ward: Ward, database: Database) -> None:
    scanned(database, [a_record("a.jpg")], name="pets")
    ward.rule(RuleKind.FAILURE, only=["out-of-memory"], data_set="pets")
    for data_set in ("pets", "cars"):
        Trainer(database, f"run on {data_set}", dataset=data_set).log(
            failure(), failure("oom", what=FailureKind.OUT_OF_MEMORY, exception_type="")
        )
    assert ward.look(seconds=6) == ["run on pets: out-of-memory"]
    assert ward.look(hours=1) == []


def test_a_rule_for_spikes_hears_of_nothing_else(ward: Ward, database: Database) -> None:
    ward.rule(RuleKind.SPIKE)
    Trainer(database).log(failure(), failure(what=FailureKind.LOSS_SPIKE, step=7))
    assert ward.look(seconds=6) == ["a run: loss-spike at step 7"]


def test_what_happened_before_a_rule_was_made_or_resumed_is_no_news(
    ward: Ward, database: Database
) -> None:
    trainer = Trainer(database)
    trainer.log(failure(), Alert("old"), Finish(Ending.FAILED))
    ward.clock.move(minutes=1)
    made = [ward.rule(kind) for kind in (RuleKind.FAILURE, RuleKind.TOLD, RuleKind.ENDED)]
    assert ward.look(seconds=6) == []
    for rule in made:
        database.writing(lambda session, rule=rule: rules.pause(session, rule))  # type: ignore[misc]
    trainer.send(trainer.event(failure()), trainer.event(Alert("t")), at=ward.clock())
    assert ward.look(seconds=6) == []
    for rule in made:
        database.writing(lambda session, rule=rule: rules.resume(session, rule))  # type: ignore[misc]
    assert ward.look(seconds=6) == []


def test_a_run_that_falls_silent_and_lives_again_is_said_twice(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.SILENT, threshold=5)
    trainer = Trainer(database, "resnet")
    assert ward.look(minutes=4) == []
    assert ward.look(minutes=2) == ["resnet: silent for 5 min"]
    assert ward.look(minutes=1) == []
    _beat(ward, trainer)
    assert ward.look(seconds=1) == ["resnet is alive again"]
    assert ward.entries()[0].kind is MessageKind.RECOVERY


def test_a_silence_that_was_held_back_and_is_over_is_not_said_at_all(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.SILENT, threshold=5, window_minutes=60)
    trainer = Trainer(database, "resnet")
    ward.look(minutes=6)
    _beat(ward, trainer)
    ward.look(seconds=1)
    assert ward.look(minutes=6) == []
    _beat(ward, trainer)
    assert ward.look(seconds=1) == []
    assert ward.look(hours=2) == ["resnet: silent for 5 min"]


def test_a_silent_run_that_ended_or_was_launched_anew_is_said_to_be_so(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.SILENT, threshold=5)
    one = Trainer(database, "one")
    Trainer(database, "two")
    assert len(ward.look(minutes=6)) == 2
    _beat(ward, one, Finish(Ending.STOPPED))
    Trainer(database, "two", launch="again")
    # The new launch began by the real clock, minutes ago by this one.
    assert ward.look(seconds=1)[:2] == ["one was stopped", "two was launched anew"]


def test_a_server_that_was_away_does_not_call_a_run_silent(ward: Ward, database: Database) -> None:
    ward.rule(RuleKind.SILENT, threshold=5)
    Trainer(database)
    ward.clock.move(hours=1)
    ward.alerts._listening_since = ward.clock()  # noqa: SLF001 (as if it was started now)
    assert ward.look(minutes=4) == []
    assert len(ward.look(minutes=2)) == 1


def test_a_run_that_ends_is_said_once_with_how(ward: Ward, database: Database) -> None:
    ward.rule(RuleKind.ENDED, only=["failed"])
    ward.rule(RuleKind.ENDED)
    for name, ending in (("good", Ending.FINISHED), ("bad", Ending.FAILED)):
        Trainer(database, name).log(Finish(ending))
    assert ward.look(seconds=1) == ["bad failed", "good finished", "bad failed"]
    assert ward.look(hours=1) == []


def test_what_a_script_tells_is_passed_on_by_its_level(ward: Ward, database: Database) -> None:
    ward.rule(RuleKind.TOLD, only=["error"])
    trainer = Trainer(database, "resnet")
    trainer.log(Alert("lr", "too low", Level.INFO), Alert("disk", "nearly full", Level.ERROR))
    assert ward.look(seconds=1) == ["resnet: disk"]
    trainer.log(Alert("disk", "full", Level.ERROR))
    assert ward.look(seconds=1) == []
    assert ward.look(minutes=10) == ["1 more: resnet: disk"]


def test_what_a_script_tells_is_one_line_and_rings_for_nobody(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.TOLD)
    Trainer(database).log(Alert('all\r\nBcc: x <at user_id="all">'))
    assert ward.look(seconds=1) == ['a run: all Bcc: x < at user_id="all">']


def test_a_finished_scan_is_said_with_its_numbers(ward: Ward, database: Database) -> None:
    ward.rule(RuleKind.SCAN)
    scanned(database, [a_record("a.jpg"), a_record("b.jpg", "image.truncated")])
    assert ward.look(seconds=1) == ["road-signs: scan 1 finished, 1 held"]
    assert ward.look(hours=1) == []


def test_too_many_held_samples_are_said_and_that_they_are_fewer(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.HELD, threshold=1)
    broken = [a_record("a.jpg", "image.truncated"), a_record("b.jpg", "image.truncated")]
    scanned(database, broken[:1])
    assert ward.look(seconds=1) == []
    scanned(database, broken)
    assert ward.look(seconds=1) == ["road-signs: 2 samples held"]
    assert ward.look(hours=1) == []
    scanned(database, [a_record("a.jpg"), a_record("b.jpg")])
    assert ward.look(seconds=1) == ["road-signs: 0 samples held, no more than 1"]


@pytest.mark.parametrize(
    "kind", [RuleKind.TOLD, RuleKind.ENDED, RuleKind.SILENT, RuleKind.SCAN, RuleKind.HELD]
)
def test_every_kind_of_rule_can_be_for_one_data_set(
    ward: Ward, database: Database, kind: RuleKind
) -> None:
    for name in ("cars", "pets"):
        scanned(database, [a_record("b.jpg", "image.truncated")], name=name)
    least = 1 if kind is RuleKind.SILENT else 0
    ward.rule(kind, data_set="pets", threshold=least)
    for name in ("cars", "pets"):
        trainer = Trainer(database, f"run on {name}", dataset=name)
        if kind is not RuleKind.SILENT:
            trainer.send(
                trainer.event(Alert("a word")),
                trainer.event(Finish(Ending.FAILED)),
                at=ward.clock() + timedelta(seconds=1),
            )
    (title,) = ward.look(minutes=2)
    assert "pets" in title


def test_a_digest_names_the_most_frequent_and_counts_the_rest(
    ward: Ward, database: Database
) -> None:
    ward.rule(RuleKind.FAILURE)
    trainer = Trainer(database)
    trainer.log(*[failure(exception_type=f"Error{number:03}") for number in range(60)])
    ward.look(seconds=6)
    assert ward.look(minutes=10) == ["55 more in 55 subjects"]
    with database.reading() as session:
        text = session.scalars(select(Message.text).order_by(Message.id.desc())).first()
    assert text is not None
    assert "and 5 more" in text
    assert text.count(f"{BASE}/runs/{trainer.run}/groups/") == 51


def test_what_was_held_back_before_a_pause_is_said_after_it(ward: Ward, database: Database) -> None:
    rule = ward.rule(RuleKind.FAILURE)
    trainer = Trainer(database)
    for _ in range(2):
        trainer.log(failure())
        ward.look(seconds=6)
    database.writing(lambda session: rules.pause(session, rule))
    assert ward.look(hours=1) == []
    database.writing(lambda session: rules.resume(session, rule, at=ward.clock()))
    assert ward.look(seconds=1) == ["1 more: a run: loader-error"]


def _beat(ward: Ward, trainer: Trainer, body: Body | None = None) -> None:
    """Let a trainer give a sign of life, by the clock of the test."""
    at = ward.clock() + timedelta(milliseconds=1)
    trainer.send(trainer.event(body or Heartbeat()), at=at)
