from dataclasses import replace

from tests.quarantine.factories import a_hash, a_record, decided, scanned, the_data_set

from sickbay.database import Database
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.listing import CHUNK, ListedRow, rows
from sickbay.quarantine.tables import Action, Status


def listed(database: Database, chosen: Filter | None = None) -> list[ListedRow]:
    key = the_data_set(database).id
    with database.reading() as session:
        return list(rows(session, key, chosen))


def test_the_list_has_all_that_was_ever_held_and_nothing_clean(database: Database) -> None:
    scanned(
        database,
        [
            a_record("b.jpg", "image.odd-mode", "image.truncated", content="half", split="val"),
            a_record("a.jpg", "image.damaged"),
            a_record("c.jpg"),
        ],
    )
    decided(database, ["b.jpg"], Action.EXCLUDE, reason="damaged", note="no copy left")

    held, excluded = listed(database)

    assert (held.path, held.status, held.decision, held.reviewer) == (
        "a.jpg",
        Status.HELD,
        Action.HOLD,
        "scan 1",
    )
    assert (excluded.path, excluded.path_bytes, excluded.status) == (
        "b.jpg",
        None,
        Status.EXCLUDED,
    )
    assert excluded.codes == ("image.odd-mode", "image.truncated")
    assert (excluded.worst_code, excluded.message) == (
        "image.truncated",
        "It shows image.truncated.",
    )
    assert (excluded.split, excluded.label, excluded.size) == ("val", "stop", 4)
    assert (excluded.sha256, excluded.replacement) == (a_hash("half"), None)
    assert (excluded.decision, excluded.reason, excluded.note, excluded.reviewer) == (
        Action.EXCLUDE,
        "damaged",
        "no copy left",
        "anna",
    )
    assert excluded.found_at is not None
    assert excluded.decided_at is not None
    assert excluded.found_at < excluded.decided_at


def test_a_row_says_where_its_worst_finding_is(database: Database) -> None:
    row = a_record("data.csv#row=000000002", "text.empty")
    finding = replace(row.findings[0], file="data.csv", item="row 2")
    scanned(database, [replace(row, findings=(finding,)), a_record("a.jpg", "file.empty")])

    first, second = listed(database)

    assert (first.file, first.item) == ("a.jpg", None)
    assert (second.path, second.file, second.item) == (
        "data.csv#row=000000002",
        "data.csv",
        "row 2",
    )


def test_the_list_follows_a_filter(database: Database) -> None:
    scanned(database, [a_record(f"{name}.jpg", "image.truncated") for name in "abc"])

    chosen = Filter(path="b", sort="newest")

    assert [row.path for row in listed(database, chosen)] == ["b.jpg"]


def test_a_long_list_has_each_sample_once_in_order(database: Database) -> None:
    number = 2 * CHUNK + 1
    scanned(database, [a_record(f"{place:05}", "image.truncated") for place in range(number)])

    assert [row.path for row in listed(database)] == [f"{place:05}" for place in range(number)]


def test_names_that_are_not_utf8_are_listed_with_their_bytes(database: Database) -> None:
    scanned(database, [a_record(b"\xff\\.jpg", "file.unsafe-path")])

    (row,) = listed(database)

    assert (row.path, row.path_bytes) == ("\\xff\\\\.jpg", "/1wuanBn")
