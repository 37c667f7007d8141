import pytest
from tests.quarantine.factories import (
    a_hash,
    a_record,
    decided,
    scanned,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay.contract.errors import Conflict, IllegalMove, NotFound
from sickbay.database import Database
from sickbay.quarantine.decisions.decide import Act, Pick, decide_all
from sickbay.quarantine.decisions.history import Entry, history
from sickbay.quarantine.decisions.recent import recent
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.decisions.undo import latest, undo
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Action, Status


def undone(database: Database, batch: str, reviewer: str = "anna") -> Act:
    key = the_data_set(database).id
    return database.writing(lambda session: undo(session, key, batch, reviewer=reviewer))


def newest_act(database: Database, reviewer: str = "anna") -> str | None:
    key = the_data_set(database).id
    with database.reading() as session:
        return latest(session, key, reviewer)


def entries(database: Database, path: str) -> list[Entry]:
    with database.reading() as session:
        return history(session, the_sample(database, path).id)


def three_held(database: Database) -> None:
    scanned(database, [a_record(f"{name}.jpg", "image.truncated") for name in "abc"])


def test_undo_goes_back_act_by_act_across_samples(database: Database) -> None:
    three_held(database)
    acts = [
        decided(database, ["a.jpg"], Action.EXCLUDE),
        decided(database, ["b.jpg", "c.jpg"], Action.APPROVE),
        decided(database, ["a.jpg"], Action.REOPEN),
    ]
    seen = []

    while (batch := newest_act(database)) is not None:
        undone(database, batch)
        seen.append([status_of(database, f"{name}.jpg").value for name in "abc"])

    assert seen == [
        ["excluded", "approved", "approved"],
        ["excluded", "held", "held"],
        ["held", "held", "held"],
    ]
    assert len(acts) == len(seen)


def test_undo_restores_all_that_the_act_changed(database: Database) -> None:
    three_held(database)
    sample = the_sample(database, "a.jpg")
    facts = Facts(sha256=a_hash("mended"), size=6)
    database.writing(
        lambda session: repair(
            session, sample.data_set_id, Pick(sample.id, sample.version), facts, reviewer="anna"
        )
    )
    act = decided(database, ["a.jpg"], Action.REOPEN)
    assert the_sample(database, "a.jpg").replacement is None

    undone(database, act.batch)

    after = the_sample(database, "a.jpg")
    assert (after.status, after.replacement) == (Status.REPAIRED, facts.sha256)
    assert (after.held_at, after.decided_sha256) == (sample.held_at, sample.sha256)
    assert after.version == sample.version + 3


def test_the_history_shows_both_the_act_and_its_undo(database: Database) -> None:
    three_held(database)
    act = decided(database, ["a.jpg"], Action.EXCLUDE)

    back = undone(database, act.batch, reviewer="bo")

    newest, before, first = entries(database, "a.jpg")
    assert (newest.action, newest.undoes, newest.reviewer) == (Action.UNDO, act.batch, "bo")
    assert (newest.batch, newest.was, newest.became) == (
        back.batch,
        Status.EXCLUDED,
        Status.HELD,
    )
    assert (before.action, before.undone) == (Action.EXCLUDE, True)
    assert (first.action, first.undone) == (Action.HOLD, False)


def test_an_act_is_undone_once(database: Database) -> None:
    three_held(database)
    act = decided(database, ["a.jpg"], Action.EXCLUDE)
    undone(database, act.batch)

    with pytest.raises(Conflict, match="undone already, by anna"):
        undone(database, act.batch)


def test_what_others_decided_since_is_left_alone(database: Database) -> None:
    three_held(database)
    act = decided(database, ["a.jpg", "b.jpg"], Action.EXCLUDE)
    decided(database, ["b.jpg"], Action.REOPEN, reviewer="bo")

    back = undone(database, act.batch)

    assert (back.count, back.passed_over) == (1, 1)
    assert [status_of(database, f"{name}.jpg") for name in "ab"] == ["held", "held"]
    assert entries(database, "b.jpg")[0].reviewer == "bo"


def test_an_act_that_no_sample_stands_by_any_more_cannot_be_undone(database: Database) -> None:
    three_held(database)
    act = decided(database, ["a.jpg"], Action.EXCLUDE)
    decided(database, ["a.jpg"], Action.REOPEN, reviewer="bo")

    with pytest.raises(Conflict, match="since"):
        undone(database, act.batch)


def test_an_act_under_one_that_was_undone_can_be_undone_too(database: Database) -> None:
    three_held(database)
    first = decided(database, ["a.jpg"], Action.EXCLUDE)
    second = decided(database, ["a.jpg"], Action.REOPEN, reviewer="bo")
    undone(database, second.batch, reviewer="bo")

    undone(database, first.batch)

    assert status_of(database, "a.jpg") is Status.HELD


def test_undos_and_scans_are_not_undone(database: Database) -> None:
    three_held(database)
    back = undone(database, decided(database, ["a.jpg"], Action.EXCLUDE).batch)

    with pytest.raises(IllegalMove, match="An undo is not undone"):
        undone(database, back.batch)
    with pytest.raises(IllegalMove, match="What a scan found is not undone"):
        undone(database, entries(database, "b.jpg")[0].batch)


def test_an_unknown_act_and_one_of_another_data_set_are_not_found(database: Database) -> None:
    three_held(database)
    act = decided(database, ["a.jpg"], Action.EXCLUDE)
    other = the_data_set(database).id + 1

    with pytest.raises(NotFound):
        undone(database, "0" * 32)
    with pytest.raises(NotFound):
        database.writing(lambda session: undo(session, other, act.batch, reviewer="anna"))


def test_each_reviewer_has_a_newest_act_of_their_own(database: Database) -> None:
    three_held(database)
    mine = decided(database, ["a.jpg"], Action.EXCLUDE, reviewer="anna")
    theirs = decided(database, ["b.jpg"], Action.EXCLUDE, reviewer="bo")

    assert newest_act(database, "anna") == mine.batch
    assert newest_act(database, "bo") == theirs.batch
    assert newest_act(database, "chris") is None


def test_an_act_that_cannot_be_undone_does_not_stand_in_the_way(database: Database) -> None:
    three_held(database)
    mine = decided(database, ["a.jpg"], Action.EXCLUDE)
    decided(database, ["b.jpg"], Action.EXCLUDE)
    decided(database, ["b.jpg"], Action.REOPEN, reviewer="bo")

    assert newest_act(database) == mine.batch


def test_undo_does_not_bring_back_a_clean_sample_that_a_scan_found_bad_since(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", content="same")])
    act = decided(database, ["a.jpg"], Action.EXCLUDE, reason="copy")
    scanned(database, [a_record("a.jpg", "set.split-leak", content="same")])
    assert status_of(database, "a.jpg") is Status.EXCLUDED

    undone(database, act.batch)

    assert status_of(database, "a.jpg") is Status.HELD
    assert the_sample(database, "a.jpg").held_at is not None


def test_undo_does_not_bring_back_an_approval_of_content_that_has_changed(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="old")])
    decided(database, ["a.jpg"], Action.APPROVE)
    act = decided(database, ["a.jpg"], Action.REOPEN)
    scanned(database, [a_record("a.jpg", "image.truncated", content="new")])

    undone(database, act.batch)

    assert status_of(database, "a.jpg") is Status.HELD


def test_a_scan_that_held_again_what_was_approved_stands_above_the_approval(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="old")])
    act = decided(database, ["a.jpg"], Action.APPROVE)
    scanned(database, [a_record("a.jpg", "image.truncated", content="new")])

    with pytest.raises(Conflict):
        undone(database, act.batch)


def test_samples_that_are_gone_are_passed_over(database: Database) -> None:
    three_held(database)
    act = decided(database, ["a.jpg", "b.jpg"], Action.EXCLUDE)
    scanned(database, [a_record("a.jpg", "image.truncated")])

    back = undone(database, act.batch)

    assert (back.count, back.passed_over) == (1, 1)


def test_the_status_line_tells_the_newest_act_that_can_be_undone(database: Database) -> None:
    three_held(database)
    key = the_data_set(database).id
    act = decided(database, ["b.jpg", "c.jpg"], Action.EXCLUDE, reason="damaged")
    later = decided(database, ["a.jpg"], Action.APPROVE)
    undone(database, later.batch)

    with database.reading() as session:
        told = recent(session, key, "anna")
        nothing = recent(session, key, "bo")

    assert told is not None
    assert (told.batch, told.action, told.reason, told.count, told.path) == (
        act.batch,
        Action.EXCLUDE,
        "damaged",
        2,
        "b.jpg",
    )
    assert nothing is None


def test_an_act_of_thousands_that_was_undone_is_passed_in_one_step(database: Database) -> None:
    scanned(database, [a_record(f"{place:05}", "image.truncated") for place in range(1200)])
    key = the_data_set(database).id
    mine = decided(database, ["00000"], Action.EXCLUDE)
    bulk = database.writing(
        lambda session: decide_all(session, key, Filter(), 1199, Action.EXCLUDE, reviewer="anna")
    )
    undone(database, bulk.batch)

    assert newest_act(database) == mine.batch
