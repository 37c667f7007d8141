"""The quarantine list as a file: complete, one line a sample, nothing a spreadsheet would run."""

import json

from tests import scanned
from tests.web.pages.desk import Desk


def test_the_whole_list_has_path_error_time_and_status_of_each_sample(desk: Desk) -> None:
    desk.decide(scanned.EMPTY, "exclude", reason="damaged", note="two\nlines\tand a tab")
    answer = desk.get("/review.jsonl")
    rows = {row["path"]: row for row in map(json.loads, answer.text.splitlines())}
    assert len(rows) == scanned.HELD
    empty = rows[scanned.EMPTY]
    assert empty["status"] == "excluded"
    assert empty["codes"] == ["file.empty"]
    assert empty["note"] == "two\nlines\tand a tab"
    assert empty["found_at"].startswith("20")
    assert "attachment" in answer.headers["content-disposition"]


def test_the_tsv_has_the_same_rows_each_on_one_line(desk: Desk) -> None:
    desk.decide(scanned.EMPTY, "exclude", note="two\nlines\tand a tab")
    head, *lines = desk.get("/review.tsv").text.splitlines()
    columns = head.split("\t")
    rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    assert len(rows) == scanned.HELD
    noted = next(row for row in rows if row["path"] == scanned.EMPTY)
    assert noted["note"] == "two\\nlines\\tand a tab"


def test_cells_that_a_spreadsheet_would_run_are_neutralised(desk: Desk) -> None:
    for number, note in enumerate(("=1+1", "+1", "-1", "@SUM(A1)")):
        desk.decide(scanned.CUT[number], "exclude", note=note)
    lines = desk.get("/review.tsv").text.splitlines()
    cells = [cell for line in lines for cell in line.split("\t")]
    assert {"'=1+1", "'+1", "'-1", "'@SUM(A1)"} <= set(cells)
    assert not [cell for cell in cells if cell[:1] in set("=+-@")]


def test_the_list_follows_the_filter_of_the_page(desk: Desk) -> None:
    head, *lines = desk.get("/review.tsv", code="file.empty").text.splitlines()
    assert head.startswith("path\t")
    assert len(lines) == 1


def test_a_data_set_that_is_not_there_has_no_list(desk: Desk) -> None:
    answer = desk.client.get("/datasets/nothing/review.tsv")
    assert answer.status_code == 404
