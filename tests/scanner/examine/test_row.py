"""Rows in the child: facts of their bytes, whatever the depth and care."""

import hashlib

import pytest
from tests.scanner.recorded import codes

from sickbay.scanner import Setup, Task
from sickbay.scanner.evidence import Examined
from sickbay.scanner.examine.folder import FilesGiven
from sickbay.scanner.examine.row import examine
from sickbay.scanner.rows import LongRow, Row, path, place, read
from sickbay.scanner.task import CAREFUL, HASH_ONLY, QUICK


def examined(row: Row | LongRow, setup: Setup | None = None, care: int = QUICK) -> Examined:
    task = Task(path(b"data.csv", "row", 7), "row", given=row.to_json())
    return examine(FilesGiven({}), task, setup or Setup(), care)


def test_a_row_is_known_by_the_hash_of_its_bytes() -> None:
    found = examined(Row("CSV", "k\udce4se,1", 100, ",", [("text", 0, True)]))
    assert found.sha256 == hashlib.sha256(b"k\xe4se,1").hexdigest()
    assert found.size == 6
    (finding,) = found.findings
    assert (finding.file, finding.item, finding.detail["byte"]) == ("data.csv", "row 7", 101)


@pytest.mark.parametrize("care", [QUICK, CAREFUL])
def test_texts_are_checked_with_any_care(care: int) -> None:
    found = examined(Row("CSV", " ,1", 0, ",", [("text", 0, True)]), care=care)
    assert codes(found.findings) == ["text.empty"]
    assert found.decoded


def test_only_the_hash_is_left_where_a_row_is_too_much() -> None:
    found = examined(Row("CSV", " ,1", 0, ",", [("text", 0, True)]), care=HASH_ONLY)
    assert found.findings == ()
    assert not found.decoded
    assert found.sha256 is not None


def test_structure_alone_looks_at_the_encoding_only() -> None:
    row = Row("CSV", "\0,1", 0, ",", [("text", 0, True)])
    found = examined(row, Setup(depth="structure"))
    assert (found.findings, found.decoded) == ((), False)


def test_a_row_that_cannot_be_taken_apart_is_not() -> None:
    assert examined(Row("JSONL", '{"text": ')).findings == ()


def test_cells_without_a_role_are_looked_at_for_what_breaks_texts() -> None:
    found = examined(Row("CSV", "fine,nul\0,", 0, ",", [("text", 0, True)]))
    assert [(one.code, one.detail["field"]) for one in found.findings] == [
        ("text.control-characters", "column 2")
    ]


def test_findings_of_one_row_are_bounded() -> None:
    found = examined(Row("CSV", ",".join(["\0"] * 1000), 0, ",", []))
    assert len(found.findings) == 21
    assert "980 more" in found.findings[-1].message


@pytest.mark.parametrize(
    "row", [Row("TSV", "a\tb", 5, "\t", [("text", 0, True)]), LongRow("CSV", 9_000_000, "00" * 32)]
)
def test_rows_come_back_from_json_as_they_were(row: Row | LongRow) -> None:
    assert read(row.to_json()) == row


def test_a_row_has_a_path_that_sorts_as_rows_do() -> None:
    assert path(b"a.csv", "row", 2) == b"a.csv#row=000000002"
    assert path(b"a.csv", "row", 9) < path(b"a.csv", "row", 10)
    assert place(b"a#row=1.csv#line=000000010") == (b"a#row=1.csv", "line 10")
