from datetime import datetime

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from tests.quarantine.factories import (
    a_hash,
    a_record,
    a_summary,
    decided,
    scanned,
    sent,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay.contract.defects import Severity
from sickbay.contract.paths import SamplePath
from sickbay.database import Database
from sickbay.database.tables import now
from sickbay.quarantine import data_sets, intake
from sickbay.quarantine.decisions.decide import Pick
from sickbay.quarantine.decisions.history import Entry, history
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.tables import Action, Finding, Source, Status


def newest(database: Database, path: str) -> Entry:
    with database.reading() as session:
        return history(session, the_sample(database, path).id)[0]


def times_found(database: Database, path: str) -> dict[str, datetime]:
    with database.reading() as session:
        rows = session.execute(
            select(Finding.code, Finding.found_at).where(
                Finding.sample_id == the_sample(database, path).id
            )
        )
        return {row[0]: row[1] for row in rows}


def repaired(database: Database, path: str) -> None:
    sample = the_sample(database, path)
    facts = Facts(sha256=a_hash("mended"), size=6)
    database.writing(
        lambda session: repair(
            session, sample.data_set_id, Pick(sample.id, sample.version), facts, reviewer="anna"
        )
    )


def test_only_a_blocking_finding_holds_a_new_sample(database: Database) -> None:
    result = scanned(
        database,
        [
            a_record("a.jpg"),
            a_record("b.jpg", "image.odd-mode", "image.truncated"),
            a_record("c.jpg", "image.duplicate"),
        ],
    )

    assert [status_of(database, f"{name}.jpg") for name in "abc"] == ["clean", "held", "clean"]
    assert result["new"] == 3
    worst = the_sample(database, "b.jpg")
    assert (worst.worst_code, worst.worst_severity, worst.findings) == (
        "image.truncated",
        Severity.BLOCK,
        2,
    )
    assert newest(database, "b.jpg").reviewer == "scan 1"


def test_a_file_fixed_on_disk_leaves_quarantine_and_the_history_says_so(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="half")])

    result = scanned(database, [a_record("a.jpg", content="whole")])

    assert status_of(database, "a.jpg") is Status.CLEAN
    assert result["cleared"] == 1
    entry = newest(database, "a.jpg")
    assert (entry.action, entry.was, entry.became, entry.reviewer) == (
        Action.CLEAR,
        Status.HELD,
        Status.CLEAN,
        "scan 2",
    )


def test_a_clean_file_that_breaks_is_held(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])

    result = scanned(database, [a_record("a.jpg", "image.truncated", content="half")])

    assert status_of(database, "a.jpg") is Status.HELD
    assert result["held_again"] == 1


def test_a_sample_that_a_person_holds_stays_held_without_a_finding(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    decided(database, ["a.jpg"], Action.HOLD, reason="wrong-label")

    scanned(database, [a_record("a.jpg")])

    assert status_of(database, "a.jpg") is Status.HELD


APPROVED_ON = ("image.truncated", "image.damaged")


@pytest.mark.parametrize(
    ("codes", "content", "becomes"),
    [
        (APPROVED_ON, "same", Status.APPROVED),
        (APPROVED_ON[:1], "same", Status.APPROVED),
        ((), "same", Status.APPROVED),
        ((*APPROVED_ON, "image.odd-mode"), "same", Status.APPROVED),
        ((*APPROVED_ON, "set.split-leak"), "same", Status.HELD),
        (APPROVED_ON, "other", Status.HELD),
        ((), "other", Status.CLEAN),
        (("file.missing",), None, Status.HELD),
    ],
)
def test_an_approval_holds_for_its_codes_on_its_content(
    database: Database, codes: tuple[str, ...], content: str | None, becomes: Status
) -> None:
    scanned(database, [a_record("a.jpg", *APPROVED_ON, content="same")])
    decided(database, ["a.jpg"], Action.APPROVE)

    scanned(database, [a_record("a.jpg", *codes, content=content)])

    assert status_of(database, "a.jpg") is becomes


@pytest.mark.parametrize(
    ("codes", "content", "becomes"),
    [
        (("image.truncated",), "same", Status.REPAIRED),
        (("image.truncated", "set.split-leak"), "same", Status.REPAIRED),
        (("image.truncated",), "other", Status.HELD),
        ((), "other", Status.HELD),
    ],
)
def test_a_repair_stands_while_the_original_is_the_same(
    database: Database, codes: tuple[str, ...], content: str, becomes: Status
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="same")])
    repaired(database, "a.jpg")

    scanned(database, [a_record("a.jpg", *codes, content=content)])

    assert status_of(database, "a.jpg") is becomes
    kept = a_hash("mended") if becomes is Status.REPAIRED else None
    assert the_sample(database, "a.jpg").replacement == kept


@pytest.mark.parametrize(
    ("codes", "content", "becomes"),
    [
        ((), "same", Status.EXCLUDED),
        (("image.truncated",), "same", Status.EXCLUDED),
        (("file.unreadable",), None, Status.EXCLUDED),
        ((), "other", Status.HELD),
        (("image.truncated",), "other", Status.HELD),
    ],
)
def test_an_excluded_file_comes_back_for_review_when_its_content_changed(
    database: Database, codes: tuple[str, ...], content: str | None, becomes: Status
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="same")])
    decided(database, ["a.jpg"], Action.EXCLUDE)

    scanned(database, [a_record("a.jpg", *codes, content=content)])

    assert status_of(database, "a.jpg") is becomes


def test_an_excluded_file_unreadable_for_a_while_is_still_known_by_its_content(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="same")])
    decided(database, ["a.jpg"], Action.EXCLUDE)

    scanned(database, [a_record("a.jpg", "file.unreadable", content=None)])
    scanned(database, [a_record("a.jpg", "image.truncated", content="same")])
    assert status_of(database, "a.jpg") is Status.EXCLUDED

    scanned(database, [a_record("a.jpg", "image.truncated", content="other")])
    assert status_of(database, "a.jpg") is Status.HELD


def test_a_gone_sample_is_no_part_of_the_data_set_and_keeps_its_history(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg"), a_record("b.jpg", "image.truncated")])
    decided(database, ["b.jpg"], Action.EXCLUDE)

    result = scanned(database, [a_record("a.jpg")])

    assert result["gone"] == 1
    with database.reading() as session:
        assert data_sets.card(session, the_data_set(database).id).samples == 1
    assert the_sample(database, "b.jpg").gone
    assert newest(database, "b.jpg").action is Action.EXCLUDE
    assert scanned(database, [a_record("a.jpg")])["gone"] == 0


def test_a_sample_that_comes_back_stands_where_it_stood(database: Database) -> None:
    both = [a_record("a.jpg"), a_record("b.jpg", "image.truncated")]
    scanned(database, both)
    decided(database, ["b.jpg"], Action.EXCLUDE)
    scanned(database, both[:1])

    result = scanned(database, both)

    assert (result["new"], result["gone"]) == (0, 0)
    assert status_of(database, "b.jpg") is Status.EXCLUDED
    assert not the_sample(database, "b.jpg").gone


def test_decisions_taken_while_a_scan_was_on_its_way_are_respected(database: Database) -> None:
    records = [a_record("a.jpg", "image.truncated"), a_record("b.jpg", "image.truncated")]
    scanned(database, records)
    key = database.writing(lambda session: sent(session, records))
    decided(database, ["a.jpg"], Action.APPROVE)
    decided(database, ["b.jpg"], Action.EXCLUDE)

    database.writing(lambda session: intake.finish(session, key, a_summary(records)))

    assert status_of(database, "a.jpg") is Status.APPROVED
    assert status_of(database, "b.jpg") is Status.EXCLUDED


def test_the_time_found_of_what_persists_is_kept(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", "image.odd-mode")])
    before = times_found(database, "a.jpg")

    scanned(database, [a_record("a.jpg", "image.truncated", "image.damaged", content="new")])

    after = times_found(database, "a.jpg")
    assert after.keys() == {"image.truncated", "image.damaged"}
    assert after["image.truncated"] == before["image.truncated"]
    assert after["image.damaged"] > before["image.truncated"]


def test_the_same_scan_again_changes_no_version(database: Database) -> None:
    records = [a_record("a.jpg"), a_record("b.jpg", "image.truncated", detail={"at": [1, 2.5]})]
    scanned(database, records)
    before = [the_sample(database, path).version for path in ("a.jpg", "b.jpg")]

    result = scanned(database, records)

    assert [the_sample(database, path).version for path in ("a.jpg", "b.jpg")] == before
    assert [result[name] for name in ("new", "gone", "held_again", "cleared")] == [0, 0, 0, 0]


def test_new_findings_on_a_held_sample_make_a_loaded_page_stale(database: Database) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated")])
    before = the_sample(database, "a.jpg").version

    scanned(database, [a_record("a.jpg", "image.truncated", "set.split-leak")])

    assert the_sample(database, "a.jpg").version == before + 1


def test_a_finding_of_a_training_run_outlives_scans_and_goes_on_blocking(
    database: Database,
) -> None:
    scanned(database, [a_record("a.jpg", "image.truncated", content="half")])
    sample = the_sample(database, "a.jpg")

    def found_in_training(session: Session) -> None:
        session.add(
            Finding(
                data_set_id=sample.data_set_id,
                sample_id=sample.id,
                code="training.non-finite-loss",
                severity=Severity.BLOCK,
                file="a.jpg",
                item=None,
                message="The loss was not finite.",
                detail={},
                source=Source.TRAINING,
                found_at=now(),
            )
        )

    database.writing(found_in_training)
    scanned(database, [a_record("a.jpg", content="whole")])

    after = the_sample(database, "a.jpg")
    assert (after.status, after.findings, after.worst_code) == (
        Status.HELD,
        1,
        "training.non-finite-loss",
    )


ODD_NAMES = [
    b"\xff\xfe.jpg",
    b"a\\b.jpg",
    "\N{LATIN SMALL LETTER A WITH DIAERESIS}.jpg".encode(),
    b"line\nbreak.jpg",
    b"caf\xe9/\\x.jpg",
]


def test_names_of_any_bytes_round_trip(database: Database) -> None:
    records = [a_record(name, "file.unsafe-path") for name in ODD_NAMES]

    scanned(database, records, size=2)
    again = scanned(database, records)

    assert (again["new"], again["gone"]) == (0, 0)
    for name in ODD_NAMES:
        assert the_sample(database, name).path == SamplePath(name).text


def test_a_scan_that_fails_while_it_is_applied_changes_nothing(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    records = [a_record("a.jpg", "image.truncated"), a_record("b.jpg")]

    def fails(session: Session) -> None:
        key = sent(session, records)
        intake.finish(session, key, a_summary(records))
        session.execute(update(Finding).values(message="lost"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        database.writing(fails)

    assert status_of(database, "a.jpg") is Status.CLEAN
    with database.reading() as session:
        assert data_sets.card(session, the_data_set(database).id).samples == 1
