"""Rows, texts and arrays in the queue: what there is to look at where there is no picture."""

from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session
from tests.quarantine.factories import EVERY, a_record, scanned, the_data_set, the_sample

from sickbay.contract.errors import IllegalMove
from sickbay.contract.rows import Row, row_of, row_path
from sickbay.database import Database
from sickbay.quarantine.decisions.decide import Pick
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.queue.kinds import ArrayFacts, SampleKind
from sickbay.quarantine.queue.page import Tile, page
from sickbay.quarantine.queue.sample import SampleView, view
from sickbay.quarantine.tables import Action, DataSet

ROW = row_path(b"data.csv", "row", 2)


def shown(database: Database, layout: str, path: bytes, **detail: Any) -> tuple[Tile, SampleView]:
    scanned(database, [a_record(path, "text.empty", detail=detail)])
    database.writing(lambda session: _lay_out(session, layout))
    data_set_id = the_data_set(database).id
    with database.reading() as session:
        (tile,) = page(session, data_set_id, EVERY).tiles
        return tile, view(session, data_set_id, tile.id)


def _lay_out(session: Session, layout: str) -> None:
    session.execute(update(DataSet).values(layout=layout))


def test_a_row_says_of_which_file_it_is_which(database: Database) -> None:
    for one in shown(database, "csv", ROW):
        assert (one.kind, one.row) == (SampleKind.ROW, Row("data.csv", "row 2"))


@pytest.mark.parametrize(
    ("layout", "path", "kind"),
    [
        ("imagefolder", b"a.jpg", SampleKind.PICTURE),
        ("imagefolder", ROW, SampleKind.PICTURE),
        ("csv", b"a.jpg", SampleKind.PICTURE),
        ("jsonl", row_path(b"a.jsonl", "line", 12), SampleKind.ROW),
        ("text", row_path(b"a.jsonl", "line", 12), SampleKind.ROW),
        ("text", b"a.txt", SampleKind.TEXT),
        ("arrays", b"a.npy", SampleKind.ARRAY),
        ("a layout of tomorrow", b"a", SampleKind.PICTURE),
    ],
)
def test_a_kind_follows_from_layout_and_path(
    database: Database, layout: str, path: bytes, kind: SampleKind
) -> None:
    assert [one.kind for one in shown(database, layout, path)] == [kind, kind]


def test_the_place_in_the_text_is_shown_as_far_as_it_fits(database: Database) -> None:
    for one in shown(database, "text", b"a.txt", excerpt="x" * 501):
        assert one.excerpt == "x" * 500


@pytest.mark.parametrize(
    ("array", "facts"),
    [
        ({"shape": [3, 224], "dtype": "float32"}, ArrayFacts((3, 224), "float32")),
        ({"shape": [], "dtype": "int8"}, ArrayFacts((), "int8")),
        ({"shape": [3, "?"], "dtype": 7}, ArrayFacts(None, None)),
        ({"shape": 3}, ArrayFacts(None, None)),
        ("3 x 224", None),
        (None, None),
    ],
)
def test_an_array_says_its_shape_and_type_where_a_finding_knows_them(
    database: Database, array: Any, facts: ArrayFacts | None
) -> None:
    for one in shown(database, "arrays", b"a.npy", array=array, excerpt=3):
        assert (one.array, one.excerpt) == (facts, None)


def test_no_file_stands_for_a_row(database: Database) -> None:
    _, seen = shown(database, "csv", ROW)
    sample = the_sample(database, ROW)
    assert Action.REPAIR not in seen.allowed
    assert Action.EXCLUDE in seen.allowed

    def act(session: Session) -> None:
        pick = Pick(sample.id, sample.version)
        repair(session, sample.data_set_id, pick, Facts("ab" * 32, 3), reviewer="anna")

    with pytest.raises(IllegalMove, match="correct the row and scan again"):
        database.writing(act)


def test_rows_are_in_the_order_of_their_numbers() -> None:
    paths = [row_path(b"a.csv", "row", number) for number in (1, 9, 10, 99, 100, 999_999_999)]
    assert sorted(paths) == paths
    assert [row_of("csv", path) for path in paths[:3]] == [
        Row("a.csv", "row 1"),
        Row("a.csv", "row 9"),
        Row("a.csv", "row 10"),
    ]


@pytest.mark.parametrize(
    "path", [b"a.csv", b"#row=000000001", b"a.csv#row=1", b"a.csv#row=000000001.jpg"]
)
def test_what_only_looks_like_a_row_is_a_file(path: bytes) -> None:
    assert row_of("csv", path) is None


def test_a_file_whose_name_holds_a_row_may_have_rows_itself() -> None:
    nested = row_path(row_path(b"a\n.csv", "row", 1), "line", 2)
    assert row_of("jsonl", nested) == Row("a\n.csv#row=000000001", "line 2")
