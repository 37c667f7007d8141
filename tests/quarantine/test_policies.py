"""A data set's policy: who set it, and what it does to samples at the next scan."""

import sqlite3
from pathlib import Path

import pytest
from tests.quarantine.factories import (
    NAME,
    a_record,
    decided,
    scanned,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay.contract.errors import Conflict
from sickbay.contract.finding import SampleRecord
from sickbay.contract.policy import Policy
from sickbay.database import Database
from sickbay.quarantine import policies
from sickbay.quarantine.decisions.history import history
from sickbay.quarantine.policies import StoredPolicy
from sickbay.quarantine.tables import Action, Status

STRICT = Policy(severities={"image.dark": "block"})
LENIENT = Policy(severities={"image.truncated": "warn"})
DEAF = Policy(severities={"image.truncated": "silent"})


def changed(
    database: Database, wanted: Policy, expected: int = 0, by: str = "anna"
) -> StoredPolicy:
    data_set_id = the_data_set(database).id
    return database.writing(
        lambda session: policies.change(session, data_set_id, wanted, expected=expected, by=by)
    )


def present(database: Database) -> StoredPolicy:
    with database.reading() as session:
        return policies.read(session, the_data_set(database).id)


def judged(policy: Policy, path: str, *codes: str) -> SampleRecord:
    """Return the record that a scanner makes under a policy."""
    record = a_record(path, *codes)
    return SampleRecord(
        **{name: getattr(record, name) for name in record.__slots__ if name != "findings"},
        findings=policy.applied(record.findings),
    )


def test_a_data_set_that_nobody_gave_a_policy_has_the_defaults(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    assert present(database) == StoredPolicy(Policy())


def test_a_policy_is_kept_with_who_set_it_and_those_before_it(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    first = changed(database, STRICT)
    second = changed(database, LENIENT, expected=1, by="ben")
    reset = changed(database, Policy(), expected=2)

    assert (first.version, second.version, reset.version) == (1, 2, 3)
    assert present(database) == reset
    with database.reading() as session:
        kept = policies.history(session, the_data_set(database).id)
    assert [(one.policy, one.changed_by) for one in kept] == [
        (Policy(), "anna"),
        (LENIENT, "ben"),
        (STRICT, "anna"),
    ]


def test_of_two_who_change_it_at_once_the_second_is_told_of_the_first(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    changed(database, STRICT)
    with pytest.raises(Conflict, match=r"by anna at \d{4}-\d\d-\d\d \d\d:\d\d UTC"):
        changed(database, LENIENT, by="ben")
    assert present(database).policy == STRICT


def test_the_same_policy_again_changes_nothing(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    changed(database, STRICT)
    assert changed(database, STRICT, expected=1, by="ben").changed_by == "anna"


def test_no_program_changes_or_drops_a_policy_of_the_past(database: Database, state: Path) -> None:
    scanned(database, [a_record("a.jpg")])
    changed(database, STRICT)
    with sqlite3.connect(state / "sickbay.db") as connection:
        for statement in ("UPDATE policy_change SET changed_by = 'x'", "DELETE FROM policy_change"):
            with pytest.raises(sqlite3.IntegrityError, match="never changed or deleted"):
                connection.execute(statement)
    connection.close()


def test_raising_a_code_to_block_holds_its_samples_at_the_next_scan(database: Database) -> None:
    for policy, status in ((Policy(), Status.CLEAN), (STRICT, Status.HELD)):
        scanned(database, [judged(policy, "a.jpg", "image.dark")])
        assert status_of(database, "a.jpg") is status


def test_lowering_a_code_clears_its_samples_at_the_next_scan(database: Database) -> None:
    scanned(database, [judged(Policy(), "a.jpg", "image.truncated")])
    result = scanned(database, [judged(LENIENT, "a.jpg", "image.truncated")])

    assert status_of(database, "a.jpg") is Status.CLEAN
    assert result["cleared"] == 1
    sample = the_sample(database, "a.jpg")
    assert (sample.worst_code, sample.findings) == ("image.truncated", 1)
    with database.reading() as session:
        newest = history(session, sample.id)[0]
    assert (newest.action, newest.reviewer) == (Action.CLEAR, "scan 2")


def test_a_silent_code_is_gone_at_the_next_scan(database: Database) -> None:
    scanned(database, [judged(Policy(), "a.jpg", "image.truncated")])
    scanned(database, [judged(DEAF, "a.jpg", "image.truncated")])

    sample = the_sample(database, "a.jpg")
    assert (sample.status, sample.worst_code, sample.findings) == (Status.CLEAN, None, 0)


def test_an_exclusion_outlives_the_policy_that_led_to_it(database: Database) -> None:
    scanned(database, [judged(Policy(), "a.jpg", "image.truncated")])
    decided(database, ["a.jpg"], Action.EXCLUDE)
    scanned(database, [judged(DEAF, "a.jpg", "image.truncated")])
    assert status_of(database, "a.jpg") is Status.EXCLUDED


def test_an_approval_does_not_cover_a_code_that_blocks_only_now(database: Database) -> None:
    codes = ("image.truncated", "image.dark")
    scanned(database, [judged(Policy(), "a.jpg", *codes)])
    decided(database, ["a.jpg"], Action.APPROVE)
    scanned(database, [judged(STRICT, "a.jpg", *codes)])
    assert status_of(database, "a.jpg") is Status.HELD


def test_another_data_set_has_a_policy_of_its_own(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    scanned(database, [a_record("a.jpg")], name="others")
    changed(database, STRICT)
    with database.reading() as session:
        assert policies.read(session, the_data_set(database, "others").id).version == 0
        assert policies.read(session, the_data_set(database, NAME).id).version == 1
