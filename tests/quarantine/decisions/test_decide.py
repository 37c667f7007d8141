import threading
from collections.abc import Callable
from typing import TypeVar

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from tests.quarantine.factories import (
    EVERY,
    a_hash,
    a_record,
    decided,
    scanned,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay.contract.errors import BadInput, Conflict, IllegalMove, NotFound, Refused
from sickbay.database import Database
from sickbay.quarantine import tally
from sickbay.quarantine.decisions.decide import (
    MAX_PICKS,
    MOVED_SHOWN,
    Act,
    Pick,
    decide,
    decide_all,
)
from sickbay.quarantine.decisions.history import history
from sickbay.quarantine.decisions.moves import LEGAL
from sickbay.quarantine.decisions.reasons import REASONS
from sickbay.quarantine.decisions.undo import undo
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Action, Decision, Sample, Status, Tally

T = TypeVar("T")
PEOPLE = (Action.HOLD, Action.APPROVE, Action.EXCLUDE, Action.REOPEN)


def brought_to(database: Database, status: Status) -> None:
    """Make one sample, a.jpg, that stands so."""
    codes = () if status is Status.CLEAN else ("image.truncated",)
    scanned(database, [a_record("a.jpg", *codes)])
    ways = {Status.APPROVED: Action.APPROVE, Status.EXCLUDED: Action.EXCLUDE}
    if status in ways:
        decided(database, ["a.jpg"], ways[status])


def one(database: Database, act: Callable[[Session], T]) -> T:
    with database.reading() as session:
        return act(session)


LEADS = {
    (Status.CLEAN, Action.HOLD): Status.HELD,
    (Status.CLEAN, Action.EXCLUDE): Status.EXCLUDED,
    (Status.HELD, Action.APPROVE): Status.APPROVED,
    (Status.HELD, Action.EXCLUDE): Status.EXCLUDED,
    (Status.APPROVED, Action.REOPEN): Status.HELD,
    (Status.EXCLUDED, Action.REOPEN): Status.HELD,
}


@pytest.mark.parametrize("action", PEOPLE)
@pytest.mark.parametrize("status", [Status.CLEAN, Status.HELD, Status.APPROVED, Status.EXCLUDED])
def test_a_person_may_do_what_the_design_allows_and_no_more(
    database: Database, status: Status, action: Action
) -> None:
    brought_to(database, status)
    becomes = LEADS.get((status, action))

    if becomes is None:
        with pytest.raises(IllegalMove):
            decided(database, ["a.jpg"], action)
    else:
        decided(database, ["a.jpg"], action)

    assert status_of(database, "a.jpg") is (becomes or status)


def test_every_action_has_its_moves() -> None:
    assert LEGAL.keys() == set(Action)


def test_status_history_version_and_tally_change_together(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", split="val", label="stop")])
    before = the_sample(database, "a.jpg")

    act = decided(database, ["a.jpg"], Action.EXCLUDE, reason="damaged", note="cut in half")

    after = the_sample(database, "a.jpg")
    assert after.version == before.version + 1
    entry = one(database, lambda session: history(session, after.id))[0]
    assert (entry.batch, entry.action, entry.was, entry.became) == (
        act.batch,
        Action.EXCLUDE,
        Status.HELD,
        Status.EXCLUDED,
    )
    assert (entry.reason, entry.note, entry.reviewer) == ("damaged", "cut in half", "anna")
    assert entry.at.utcoffset() is not None
    counted = one(
        database,
        lambda session: {
            (row.status, row.facet, row.value)
            for row in session.scalars(select(Tally).where(Tally.samples == 1))
        },
    )
    assert counted == {
        (Status.EXCLUDED, tally.ALL, ""),
        (Status.EXCLUDED, tally.CODE, "image.truncated"),
        (Status.EXCLUDED, tally.SPLIT, "val"),
        (Status.EXCLUDED, tally.LABEL, "stop"),
    }


def test_the_first_decision_wins_and_the_second_reads_who_and_when(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])
    sample = the_sample(database, "a.jpg")
    seen = [Pick(sample.id, sample.version)]
    decided(database, ["a.jpg"], Action.APPROVE, reviewer="anna")

    with pytest.raises(Conflict, match=r"approved now \(last: approve by anna, 20.* UTC\)"):
        database.writing(
            lambda session: decide(session, sample.data_set_id, seen, Action.EXCLUDE, reviewer="bo")
        )


def test_a_page_loaded_before_a_rescan_cannot_approve_what_it_did_not_show(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])
    sample = the_sample(database, "a.jpg")
    scanned(database, [a_record("a.jpg", "image.truncated", "set.split-leak")])

    with pytest.raises(Conflict, match="held now"):
        database.writing(
            lambda session: decide(
                session,
                sample.data_set_id,
                [Pick(sample.id, sample.version)],
                Action.APPROVE,
                reviewer="bo",
            )
        )


def test_of_a_hundred_simultaneous_reviewers_one_wins(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])
    sample = the_sample(database, "a.jpg")
    ready = threading.Barrier(100)
    outcomes: list[Act | Conflict] = []

    def review(number: int) -> None:
        action = (Action.APPROVE, Action.EXCLUDE)[number % 2]
        ready.wait()
        try:
            outcomes.append(
                database.writing(
                    lambda session: decide(
                        session,
                        sample.data_set_id,
                        [Pick(sample.id, sample.version)],
                        action,
                        reviewer=f"reviewer {number}",
                    )
                )
            )
        except Conflict as conflict:
            outcomes.append(conflict)

    threads = [threading.Thread(target=review, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    wins = [outcome for outcome in outcomes if isinstance(outcome, Act)]
    assert (len(wins), len(outcomes)) == (1, 100)
    assert the_sample(database, "a.jpg").status is wins[0].moved[0].status
    decisions = one(
        database,
        lambda session: session.scalar(
            select(func.count()).select_from(Decision).where(Decision.action != Action.HOLD)
        ),
    )
    assert decisions == 1


def test_an_act_on_several_is_all_or_nothing(database: Database) -> None:
    scanned(database, [a_record(f"{name}.jpg", "image.truncated") for name in "abc"])
    picks = [
        Pick(sample.id, sample.version)
        for sample in (the_sample(database, f"{name}.jpg") for name in "abc")
    ]
    key = the_data_set(database).id
    decided(database, ["b.jpg"], Action.APPROVE)

    with pytest.raises(Conflict, match="1 of 3 samples changed; the first is approved now"):
        database.writing(lambda session: decide(session, key, picks, Action.EXCLUDE, reviewer="bo"))

    assert [status_of(database, f"{name}.jpg") for name in "abc"] == ["held", "approved", "held"]


def test_what_has_no_bytes_or_an_unsafe_name_cannot_be_kept_as_it_is(
    database: Database,
) -> None:
    scanned(
        database,
        [
            a_record("gone.jpg", "file.missing", content=None),
            a_record("line\nbreak.jpg", "file.unsafe-path"),
        ],
    )

    with pytest.raises(IllegalMove, match="without readable bytes"):
        decided(database, ["gone.jpg"], Action.APPROVE)
    with pytest.raises(IllegalMove, match="control character"):
        decided(database, ["line\nbreak.jpg"], Action.APPROVE)
    decided(database, ["gone.jpg", "line\nbreak.jpg"], Action.EXCLUDE)


def test_an_approval_remembers_its_blocking_codes_and_content(database: Database) -> None:
    scanned(
        database,
        [a_record("a.jpg", "image.odd-mode", "set.split-leak", "image.truncated", content="x")],
    )

    decided(database, ["a.jpg"], Action.APPROVE)

    sample = the_sample(database, "a.jpg")
    assert sample.approved_codes == ["image.truncated", "set.split-leak"]
    assert sample.decided_sha256 == a_hash("x")


@pytest.mark.parametrize(
    ("reason", "note"), [("because", ""), ("", "x" * 2001), ("damaged", "nul\0")]
)
def test_an_unknown_reason_or_an_endless_note_is_bad_input(
    database: Database, reason: str, note: str
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])

    with pytest.raises(BadInput):
        decided(database, ["a.jpg"], Action.EXCLUDE, reason=reason, note=note)


def test_the_reasons_have_the_keys_one_to_nine() -> None:
    assert [reason.key for reason in REASONS] == list("123456789")
    assert len({reason.code for reason in REASONS}) == len(REASONS)


@pytest.mark.parametrize("action", [Action.CLEAR, Action.UNDO, Action.REPAIR])
def test_what_only_scans_undo_and_repair_do_is_no_decision(
    database: Database, action: Action
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])

    with pytest.raises(BadInput):
        decided(database, ["a.jpg"], action)


def test_samples_of_another_data_set_and_gone_ones_are_not_found(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated"), a_record("b.jpg")])
    sample = the_sample(database, "a.jpg")
    scanned(database, [a_record("b.jpg")])

    for data_set_id in (sample.data_set_id, sample.data_set_id + 1):
        with pytest.raises(NotFound):
            database.writing(
                lambda session, key=data_set_id: decide(  # type: ignore[misc]
                    session,
                    key,
                    [Pick(sample.id, sample.version + 1)],
                    Action.EXCLUDE,
                    reviewer="bo",
                )
            )


def test_no_picks_and_too_many_are_bad_input(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    for number in (0, MAX_PICKS + 1):
        picks = [Pick(key, 1) for key in range(number)]
        with pytest.raises(BadInput):
            database.writing(
                lambda session, picks=picks: decide(  # type: ignore[misc]
                    session, 1, picks, Action.EXCLUDE, reviewer="bo"
                )
            )


def many(database: Database, number: int) -> int:
    scanned(
        database,
        [
            a_record(
                f"{place:05}.jpg", "image.truncated", split=("train", "val")[place % 2], content="x"
            )
            for place in range(number)
        ],
    )
    return the_data_set(database).id


def test_all_that_match_are_decided_as_one_and_undone_as_one(database: Database) -> None:
    key = many(database, 2400)

    act = database.writing(
        lambda session: decide_all(
            session, key, Filter(split="val"), 1200, Action.EXCLUDE, reason="copy", reviewer="bo"
        )
    )

    assert (act.count, len(act.moved)) == (1200, MOVED_SHOWN)
    assert statuses(database) == {Status.HELD: 1200, Status.EXCLUDED: 1200}
    back = database.writing(lambda session: undo(session, key, act.batch, reviewer="bo"))
    assert (back.count, back.passed_over) == (1200, 0)
    assert statuses(database) == {Status.HELD: 2400}


def statuses(database: Database) -> dict[Status, int]:
    """Count the samples themselves, and check that the tally says the same."""
    with database.reading() as session:
        counted = session.execute(select(Sample.status, func.count()).group_by(Sample.status))
        found = {row[0]: row[1] for row in counted}
        tallied = session.execute(
            select(Tally.status, Tally.samples).where(Tally.facet == "", Tally.samples > 0)
        )
        assert found == {row[0]: row[1] for row in tallied}
    return found


def test_all_that_match_are_refused_when_they_are_not_as_many_as_was_shown(
    database: Database,
) -> None:
    key = many(database, 4)

    with pytest.raises(Conflict, match="matches 4 samples now, not 3"):
        database.writing(
            lambda session: decide_all(session, key, Filter(), 3, Action.EXCLUDE, reviewer="bo")
        )

    assert statuses(database) == {Status.HELD: 4}


def test_nothing_that_matches_is_refused(database: Database) -> None:
    key = many(database, 1)

    with pytest.raises(Refused):
        database.writing(
            lambda session: decide_all(
                session, key, Filter(path="nothing"), 0, Action.EXCLUDE, reviewer="bo"
            )
        )


def test_all_that_match_are_left_alone_where_one_does_not_allow_the_act(
    database: Database,
) -> None:
    key = many(database, 4)
    decided(database, ["00003.jpg"], Action.EXCLUDE)

    with pytest.raises(IllegalMove):
        database.writing(
            lambda session: decide_all(session, key, EVERY, 4, Action.APPROVE, reviewer="bo")
        )

    assert statuses(database) == {Status.HELD: 3, Status.EXCLUDED: 1}
