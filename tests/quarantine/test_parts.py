"""Parts of a scan that say what the scan in force said: neither sent nor merged again."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.orm import Session
from tests.quarantine.factories import (
    NAME,
    a_record,
    a_summary,
    decided,
    scanned,
    status_of,
    the_data_set,
    the_sample,
)

from sickbay.contract.errors import BadInput, Conflict, NotFound, Refused
from sickbay.contract.finding import FileRecord, Finding, SampleRecord, ScanRecord, to_line
from sickbay.contract.paths import SamplePath
from sickbay.database import Database
from sickbay.quarantine import data_sets, file_findings, intake
from sickbay.quarantine.batches import Batch
from sickbay.quarantine.intake import Ticket
from sickbay.quarantine.tables import Action, Status

Records = Sequence[SampleRecord | FileRecord]
HEADER = ScanRecord(NAME, "imagefolder", ())
PARTS: tuple[Records, ...] = (
    (a_record("a.jpg"), a_record("b.jpg", "file.empty")),
    (
        FileRecord(
            SamplePath(b"c.csv"), (Finding.of("annotation.malformed", "c.csv", "It is so."),)
        ),
        replace(a_record("d.jpg"), decoded=True),
    ),
    (a_record("e.jpg"), a_record("f/g.jpg", "image.truncated")),
)


def packed(records: Records, stat: str = "") -> Batch:
    lines = [to_line(record) for record in records]
    extras = {record.path.raw.hex(): {"stat": stat} for record in records if stat}
    return intake.check(lines, extras, hashlib.sha256(b"".join(lines)).hexdigest())


def begun(database: Database) -> Ticket:
    return database.writing(lambda session: intake.begin(session, HEADER, "me"))


def finished(database: Database, key: str, parts: Sequence[Records]) -> Mapping[str, Any]:
    samples = [one for part in parts for one in part if isinstance(one, SampleRecord)]
    return database.writing(lambda session: intake.finish(session, key, a_summary(samples)))


def rescanned(database: Database, parts: Sequence[Records]) -> tuple[int, Mapping[str, Any]]:
    """Scan part by part, repeating what is known; return how many were, and the result."""
    ticket = begun(database)
    repeated = 0
    for number, part in enumerate(parts):
        batch = packed(part)
        known = batch.content in ticket.known
        repeated += known

        def act(session: Session, number: int = number, batch: Batch = batch) -> int:
            if batch.content in ticket.known:
                return intake.repeat(session, ticket.key, number, batch.content)
            return intake.receive(session, ticket.key, number, batch)

        assert database.writing(act) == number + 1
    return repeated, finished(database, ticket.key, parts)


def everything(database: Database) -> list[tuple[Any, ...]]:
    """All that a scan sets, but its own number."""
    with database.reading() as session:
        data_set_id = the_data_set(database).id
        files = [
            (row.path, row.code, row.found_at)
            for row in file_findings.page(session, data_set_id).rows
        ]
        counts = data_sets.card(session, data_set_id).counts
    paths = [b"a.jpg", b"b.jpg", b"d.jpg", b"e.jpg", b"f/g.jpg"]
    samples = [the_sample(database, path) for path in paths]
    return [
        *((one.raw_path, one.status, one.version, one.gone, one.findings) for one in samples),
        *files,
        *counts.items(),
    ]


def test_a_scan_that_repeats_everything_changes_nothing(database: Database) -> None:
    assert rescanned(database, PARTS)[0] == 0
    before = everything(database)

    repeated, result = rescanned(database, PARTS)

    assert repeated == len(PARTS)
    assert [result[name] for name in ("new", "gone", "held_again", "cleared")] == [0, 0, 0, 0]
    assert (result["scan"], result["not_decoded"]) == (2, 4)
    assert everything(database) == before
    assert rescanned(database, PARTS)[0] == len(PARTS), "what was repeated is known again"


@pytest.mark.parametrize("changed", range(len(PARTS)))
def test_only_the_part_that_changed_is_merged(database: Database, changed: int) -> None:
    rescanned(database, PARTS)
    parts = list(PARTS)
    parts[changed] = (*PARTS[changed][:-1], a_record(PARTS[changed][-1].path.raw, "image.dark"))

    repeated, result = rescanned(database, parts)

    assert repeated == len(PARTS) - 1
    assert (result["new"], result["gone"]) == (0, 0)
    assert the_sample(database, PARTS[changed][-1].path.raw).worst_code == "image.dark"


def test_what_a_changed_part_does_not_have_any_more_is_gone(database: Database) -> None:
    rescanned(database, PARTS)
    _, result = rescanned(database, (PARTS[0][:1], *PARTS[1:]))
    assert result["gone"] == 1
    assert the_sample(database, "b.jpg").gone
    _, result = rescanned(database, (*PARTS[:1], *PARTS[2:]))
    assert (result["gone"], the_sample(database, "b.jpg").gone) == (1, False)
    with database.reading() as session:
        assert file_findings.total(session, the_data_set(database).id) == 0


def test_decisions_stand_over_a_scan_that_repeats(database: Database) -> None:
    rescanned(database, PARTS)
    decided(database, ["b.jpg"], Action.APPROVE)
    decided(database, ["f/g.jpg"], Action.EXCLUDE)
    decided(database, ["a.jpg"], Action.HOLD)
    before = everything(database)

    assert rescanned(database, PARTS)[0] == len(PARTS)

    assert everything(database) == before
    assert status_of(database, "a.jpg") is Status.HELD


def test_a_file_that_another_one_replaced_is_not_the_same() -> None:
    assert packed(PARTS[0], "1:2:3").content != packed(PARTS[0], "1:2:4").content
    assert packed(PARTS[0]).content != packed(PARTS[0], "1:2:3").content


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ([[a_record("a.jpg"), a_record("f")], PARTS[2][1:]], 1),
        ([[a_record("a.jpg"), a_record("f")], [a_record("f!")], PARTS[2][1:]], 2),
        ([PARTS[2][1:], [a_record("f/g.jpg/h.jpg")]], 0),
    ],
)
def test_a_repeated_part_lies_in_no_file_of_a_new_one(
    database: Database, parts: list[Records], place: int
) -> None:
    scanned(database, [one for one in PARTS[2][1:] if isinstance(one, SampleRecord)])
    ticket = begun(database)
    assert packed(parts[place]).content in ticket.known
    with pytest.raises(BadInput, match="a folder of another"):
        rescanned(database, parts)


def test_a_part_that_is_not_in_force_any_more_is_refused_at_the_end(database: Database) -> None:
    rescanned(database, PARTS)
    older, newer = begun(database), begun(database)
    changed = [[a_record("a.jpg"), a_record("b.jpg")], *PARTS[1:]]
    for number, part in enumerate(PARTS):
        content = packed(part).content
        database.writing(
            lambda session, number=number, content=content: intake.repeat(  # type: ignore[misc]
                session, newer.key, number, content
            )
        )
        batch = packed(changed[number])
        database.writing(
            lambda session, number=number, batch=batch: intake.receive(  # type: ignore[misc]
                session, older.key, number, batch
            )
        )
    finished(database, older.key, changed)

    with pytest.raises(Refused, match="Another scan of this data set finished"):
        finished(database, newer.key, PARTS)
    assert status_of(database, "b.jpg") is Status.CLEAN


def test_what_no_part_said_is_to_be_sent(database: Database) -> None:
    rescanned(database, PARTS)
    key = begun(database).key
    for content in ("0" * 64, ""):
        with pytest.raises(NotFound, match="send its records"):
            database.writing(
                lambda session, content=content: intake.repeat(session, key, 0, content)  # type: ignore[misc]
            )


def test_a_repeat_is_a_batch_like_any_other(database: Database) -> None:
    rescanned(database, PARTS)
    key = begun(database).key
    first, second, _ = (packed(part).content for part in PARTS)

    def repeat(number: int, content: str) -> int:
        return database.writing(lambda session: intake.repeat(session, key, number, content))

    with pytest.raises(Refused, match="takes batch 0 next, not 1"):
        repeat(1, second)
    assert [repeat(0, first), repeat(0, first)] == [1, 1]
    with pytest.raises(Conflict, match="other content"):
        repeat(0, second)
    repeat(1, second)
    with pytest.raises(Refused, match="does not come after"):
        repeat(2, first)


def test_another_data_set_has_parts_of_its_own(database: Database) -> None:
    rescanned(database, PARTS)
    other = replace(HEADER, dataset="other")
    ticket = database.writing(lambda session: intake.begin(session, other, "me"))
    assert ticket.known == ()
    with pytest.raises(NotFound):
        database.writing(
            lambda session: intake.repeat(session, ticket.key, 0, packed(PARTS[0]).content)
        )
