"""What the scan in force was told, and what it says of the data set as a whole."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.orm import Session
from tests.quarantine.factories import NAME, a_record, a_summary, the_data_set

from sickbay.contract.errors import NotFound
from sickbay.contract.finding import Depth, Finding, SampleRecord, ScanRecord, to_line
from sickbay.contract.policy import Policy
from sickbay.database import Database
from sickbay.quarantine import data_sets, intake, policies, scan_facts
from sickbay.quarantine.scan_facts import ChangedSeverity, Difference, ScanFacts

HEADER = ScanRecord(NAME, "imagefolder", ("stop",), Policy().to_json())
DRIFT = Finding.of("set.drift", "", "train and val differ in brightness.", distance=0.3)


def scanned(
    database: Database, header: ScanRecord = HEADER, *records: SampleRecord, **of_set: Any
) -> Mapping[str, Any]:
    every = records or (a_record("a.jpg"),)

    def act(session: Session) -> Mapping[str, Any]:
        key = intake.begin(session, header, "me").key
        lines = [to_line(record) for record in every]
        digest = hashlib.sha256(b"".join(lines)).hexdigest()
        intake.receive(session, key, 0, intake.check(lines, {}, digest))
        return intake.finish(session, key, replace(a_summary(every), **of_set))

    return database.writing(act)


def the_facts(database: Database) -> ScanFacts:
    with database.reading() as session:
        found = scan_facts.facts(session, the_data_set(database).id)
    assert found is not None
    return found


def test_before_the_first_scan_there_is_nothing_to_say(database: Database) -> None:
    database.writing(lambda session: data_sets.register(session, name=NAME, layout="csv"))
    with database.reading() as session:
        assert scan_facts.facts(session, the_data_set(database).id) is None
        with pytest.raises(NotFound):
            scan_facts.facts(session, 99)


def test_a_scan_by_the_defaults_differs_in_nothing(database: Database) -> None:
    scanned(database)
    found = the_facts(database)
    assert (found.policy, found.depth, found.outdated) == (Policy(), Depth.FULL, False)
    assert (found.differences, found.severities, found.findings) == ((), (), ())


def test_what_of_its_policy_is_not_as_usual_is_said(database: Database) -> None:
    policy = Policy.from_json(
        {"min_side": 8, "severities": {"image.dark": "silent", "file.empty": "block"}}
    )
    header = replace(HEADER, policy=policy.to_json(), depth=Depth.STRUCTURE)
    scanned(database, header)
    found = the_facts(database)
    assert (found.number, found.policy, found.depth) == (1, policy, Depth.STRUCTURE)
    assert found.differences == (Difference("min_side", 8, 32),)
    assert found.severities == (ChangedSeverity("image.dark", "silent", "note"),)


def test_labels_and_findings_of_the_whole_set_are_kept(database: Database) -> None:
    labels = {"train": {"stop": 3, "": 1}, "val": {"stop": 1}}
    scanned(database, HEADER, labels=labels, findings=(DRIFT,))
    found = the_facts(database)
    assert found.labels == labels
    (drift,) = found.findings
    assert (drift.code, drift.message, drift.detail) == (
        "set.drift",
        DRIFT.message,
        {"distance": 0.3},
    )
    assert drift.advice.startswith("Check how the splits were made")


def test_samples_that_no_decoder_looked_into_are_counted(database: Database) -> None:
    decoded = replace(a_record("a.jpg"), decoded=True)
    result = scanned(database, HEADER, decoded, a_record("b.jpg"), a_record("c.jpg"))
    assert result["not_decoded"] == the_facts(database).not_decoded == 2


def test_a_scan_is_outdated_once_the_policy_is_another(database: Database) -> None:
    def give(wanted: Policy, expected: int) -> None:
        data_set_id = the_data_set(database).id
        database.writing(
            lambda session: policies.change(
                session, data_set_id, wanted, expected=expected, by="anna"
            )
        )

    strict = Policy(min_side=64)
    scanned(database)
    give(strict, 0)
    assert the_facts(database).outdated

    scanned(database, replace(HEADER, policy=strict.to_json()))
    assert not the_facts(database).outdated

    give(Policy(), 1)
    assert the_facts(database).outdated
    give(strict, 2)
    assert not the_facts(database).outdated


def test_a_scan_with_options_of_its_own_is_not_outdated_by_them(database: Database) -> None:
    scanned(database, replace(HEADER, policy=Policy(max_tokens=5).to_json()))
    assert not the_facts(database).outdated
