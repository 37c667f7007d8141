"""Findings of files that are no samples: annotation files, lists, what was skipped."""

import hashlib
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy.orm import Session
from tests.quarantine.factories import NAME, a_record, a_summary, the_data_set

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord, Finding, SampleRecord, ScanRecord, to_line
from sickbay.contract.paths import SamplePath
from sickbay.database import Database
from sickbay.quarantine import file_findings, intake
from sickbay.quarantine.file_findings import FileFindingPage

ROWS = [f"row {number}" for number in range(1, 6)]


def a_file(path: str | bytes, *items: str, code: str = "file.missing") -> FileRecord:
    where = SamplePath(path.encode() if isinstance(path, str) else path)
    return FileRecord(
        where,
        tuple(Finding.of(code, where.text, f"Of {item}.", item, line=3) for item in items),
    )


def scanned(database: Database, *records: SampleRecord | FileRecord, name: str = NAME) -> None:
    ordered = sorted(records, key=lambda record: record.path)
    samples = [record for record in ordered if isinstance(record, SampleRecord)]

    def act(session: Session) -> None:
        key = intake.begin(session, ScanRecord(name, "csv", ()), "me").key
        for number, record in enumerate(ordered):
            line = to_line(record)
            batch = intake.check([line], {}, hashlib.sha256(line).hexdigest())
            intake.receive(session, key, number, batch)
        intake.finish(session, key, a_summary(samples))

    database.writing(act)


def a_page(database: Database, name: str = NAME, **more: Any) -> FileFindingPage:
    with database.reading() as session:
        return file_findings.page(session, the_data_set(database, name).id, **more)


def told(page: FileFindingPage) -> Sequence[tuple[str, str | None]]:
    return [(row.path, row.item) for row in page.rows]


def test_findings_of_a_file_are_there_with_the_catalogue_s_words(database: Database) -> None:
    scanned(database, a_record("a.jpg"), a_file("labels.csv", "row 3"))

    (row,) = a_page(database).rows

    assert (row.path, row.item, row.code) == ("labels.csv", "row 3", "file.missing")
    assert (row.message, row.detail) == ("Of row 3.", {"line": 3})
    assert (row.meaning, row.advice) == (
        "The file is named but not there.",
        "Restore it, or leave it out.",
    )


def test_a_page_goes_on_after_the_one_before_by_file_then_as_told(database: Database) -> None:
    scanned(database, a_file("b.csv", *reversed(ROWS)), a_file("a.csv", *ROWS))
    whole = [("a.csv", row) for row in ROWS] + [("b.csv", row) for row in reversed(ROWS)]

    seen: list[tuple[str, str | None]] = []
    after = None
    for first in (1, 5, 9):
        page = a_page(database, after=after, size=4)
        assert (page.first, page.total) == (first, 10)
        assert page.last == first + len(page.rows) - 1
        seen += told(page)
        after = page.next_after
    assert after is None
    assert seen == whole


def test_a_page_of_one_code_counts_that_code_only(database: Database) -> None:
    scanned(
        database, a_file("a.csv", "row 1"), a_file("b.csv", "row 1", code="annotation.malformed")
    )
    page = a_page(database, code="annotation.malformed")
    assert (told(page), page.total) == ([("b.csv", "row 1")], 1)


def test_no_findings_are_a_page_without_rows(database: Database) -> None:
    scanned(database, a_record("a.jpg"))
    page = a_page(database)
    assert (page.rows, page.first, page.last, page.total) == ((), 0, 0, 0)


@pytest.mark.parametrize("odd", [{"size": 0}, {"size": 201}, {"after": 999}])
def test_a_page_out_of_range_is_refused(database: Database, odd: dict[str, Any]) -> None:
    scanned(database, a_file("a.csv", "row 1"))
    with pytest.raises(BadInput):
        a_page(database, **odd)


def test_what_the_next_scan_finds_no_more_is_gone_and_what_stays_keeps_its_time(
    database: Database,
) -> None:
    scanned(database, a_file("a.csv", "row 1", "row 2"), a_file("b.csv", "row 1"))
    before = {(row.path, row.item): row.found_at for row in a_page(database).rows}

    scanned(database, a_file("a.csv", "row 2", "row 3"), a_record("c.jpg"))

    after = {(row.path, row.item): row.found_at for row in a_page(database).rows}
    assert list(after) == [("a.csv", "row 2"), ("a.csv", "row 3")]
    assert after["a.csv", "row 2"] == before["a.csv", "row 2"]
    assert after["a.csv", "row 3"] > before["a.csv", "row 2"]


def test_data_sets_do_not_share_their_files(database: Database) -> None:
    scanned(database, a_file("a.csv", "row 1"))
    scanned(database, a_file("a.csv", "row 2"), name="others")
    scanned(database, a_record("b.jpg"), name="third")
    assert told(a_page(database)) == [("a.csv", "row 1")]
    assert told(a_page(database, name="others")) == [("a.csv", "row 2")]


def test_a_name_that_is_not_utf_8_is_shown_as_records_show_it(database: Database) -> None:
    scanned(database, a_file(b"\xff.csv", "row 1"))
    (row,) = a_page(database).rows
    assert (row.path, row.path_bytes) == ("\\xff.csv", "/y5jc3Y=")


def test_findings_of_files_hold_no_sample(database: Database) -> None:
    scanned(database, a_record("a.jpg"), a_file("labels.csv", "row 1"))
    with database.reading() as session:
        assert file_findings.total(session, the_data_set(database).id) == 1
    assert a_page(database, code="file.empty").total == 0
