from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session
from tests.quarantine.factories import (
    EVERY,
    a_record,
    decided,
    scanned,
    the_data_set,
    the_sample,
)

from sickbay.contract.errors import BadInput
from sickbay.database import Database
from sickbay.quarantine.queue.facets import facets
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.page import QueuePage, Tile, page
from sickbay.quarantine.queue.place import place
from sickbay.quarantine.tables import Action, Status


def paged(
    database: Database, chosen: Filter, after: str | None = None, size: int = 60
) -> QueuePage:
    key = the_data_set(database).id
    with database.reading() as session:
        return page(session, key, chosen, after, size)


def walked(database: Database, chosen: Filter, size: int) -> list[Tile]:
    """Read page after page; check that each says where it lies."""
    tiles: list[Tile] = []
    after: str | None = None
    while True:
        one = paged(database, chosen, after, size)
        assert one.first == (len(tiles) + 1 if one.tiles else 0)
        tiles += one.tiles
        assert one.last == (len(tiles) if one.tiles else 0)
        if one.next_after is None:
            assert one.total == len(tiles)
            return tiles
        after = one.next_after


def paths(tiles: list[Tile]) -> list[str]:
    return [tile.path for tile in tiles]


def a_mixed_set(database: Database) -> None:
    """Some of each status, with two times at which samples were held."""
    names = [f"{number:02}.jpg" for number in range(12)]
    first = [a_record(name, "image.truncated", content=name) for name in names[:6]]
    scanned(database, [*first, *(a_record(name, content=name) for name in names[6:])])
    decided(database, ["00.jpg"], Action.APPROVE)
    decided(database, ["01.jpg", "10.jpg"], Action.EXCLUDE)
    later = [a_record(name, "image.damaged", content=name) for name in names[6:9]]
    scanned(database, [*first, *later, *(a_record(name, content=name) for name in names[9:])])


@pytest.mark.parametrize("size", [1, 2, 5, 60])
def test_pages_by_path_show_each_sample_once_in_order(database: Database, size: int) -> None:
    a_mixed_set(database)

    assert paths(walked(database, EVERY, size)) == [f"{number:02}.jpg" for number in range(12)]


@pytest.mark.parametrize("size", [1, 2, 5, 60])
def test_the_newest_held_come_first_and_the_never_held_last(database: Database, size: int) -> None:
    a_mixed_set(database)

    shown = paths(walked(database, Filter(status=tuple(Status), sort="newest"), size))

    assert set(shown[:3]) == {"06.jpg", "07.jpg", "08.jpg"}
    assert set(shown[3:9]) == {f"{number:02}.jpg" for number in range(6)}
    assert set(shown[9:]) == {"09.jpg", "10.jpg", "11.jpg"}


def test_a_page_goes_on_after_a_sample_that_has_left_the_filter(database: Database) -> None:
    scanned(database, [a_record(f"{name}.jpg", "image.truncated") for name in "abcd"])
    first = paged(database, Filter(), size=2)
    decided(database, ["b.jpg"], Action.EXCLUDE)

    second = paged(database, Filter(), first.next_after, size=2)

    assert paths(list(second.tiles)) == ["c.jpg", "d.jpg"]
    assert (second.first, second.last, second.total) == (2, 3, 3)


def test_order_is_that_of_the_raw_bytes(database: Database) -> None:
    names = [b"B.jpg", b"a.jpg", b"a/b.jpg", "é.jpg".encode(), b"\xff.jpg", b"Z.jpg"]
    scanned(database, [a_record(name, "image.truncated") for name in names])

    shown = walked(database, Filter(), 2)

    assert [tile.id for tile in shown] == [the_sample(database, name).id for name in sorted(names)]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (Filter(), "abcd"),
        (Filter(code="image.truncated"), "ab"),
        (Filter(code="image.odd-mode"), "bc"),
        (Filter(code="decoder.crashed"), ""),
        (Filter(split="val"), "cd"),
        (Filter(split=""), ""),
        (Filter(label="yield"), "bd"),
        (Filter(code="image.odd-mode", split="val"), "c"),
        (Filter(path="C.JP"), "c"),
        (Filter(status=(Status.CLEAN,)), "e"),
        (Filter(status=(Status.CLEAN, Status.HELD), label="stop"), "ace"),
    ],
)
def test_each_field_of_the_filter_narrows(
    database: Database, chosen: Filter, expected: str
) -> None:
    scanned(
        database,
        [
            a_record("a.jpg", "image.truncated"),
            a_record("b.jpg", "image.truncated", "image.odd-mode", label="yield"),
            a_record("c.jpg", "image.damaged", "image.odd-mode", split="val"),
            a_record("d.jpg", "image.damaged", split="val", label="yield"),
            a_record("e.jpg"),
        ],
    )

    assert paths(walked(database, chosen, 2)) == [f"{name}.jpg" for name in expected]


@pytest.mark.parametrize(
    ("part", "expected"),
    [("%", ["100%.jpg"]), ("_", ["a_b.jpg"]), ("\\", ["a\\b.jpg"]), ("/", ["x/y.jpg"])],
)
def test_what_like_would_read_as_a_pattern_is_a_part_of_a_name(
    database: Database, part: str, expected: list[str]
) -> None:
    names = ["100%.jpg", "a_b.jpg", "a\\b.jpg", "x/y.jpg", "plain.jpg"]
    scanned(database, [a_record(name, "file.unsafe-path") for name in names])

    assert paths(walked(database, Filter(path=part), 60)) == expected
    assert paths(walked(database, Filter(path=part * 200), 60)) == []


def test_a_tile_says_what_the_grid_shows(database: Database) -> None:
    scanned(
        database,
        [a_record("a.jpg", "image.odd-mode", "image.undecodable", detail={"head": "ffd8"})],
        extras={b"a.jpg".hex(): {"thumbnail": "f" * 64}},
    )
    decided(database, ["a.jpg"], Action.EXCLUDE, reviewer="bo")

    (tile,) = paged(database, Filter(status=(Status.EXCLUDED,))).tiles

    assert (tile.path, tile.status, tile.findings) == ("a.jpg", Status.EXCLUDED, 2)
    assert (tile.worst_code, tile.phrase, tile.head) == (
        "image.undecodable",
        "It shows image.undecodable.",
        "ffd8",
    )
    assert (tile.thumbnail, tile.action, tile.decided_by) == ("f" * 64, Action.EXCLUDE, "bo")


def test_gone_samples_are_on_no_page(database: Database) -> None:
    both = [a_record("a.jpg", "image.truncated"), a_record("b.jpg", "image.truncated")]
    scanned(database, both)
    scanned(database, both[:1])

    assert paths(walked(database, EVERY, 60)) == ["a.jpg"]


def test_an_empty_page_says_so(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])

    assert paged(database, Filter()) == QueuePage((), None, 0, 0, 0)


@pytest.mark.parametrize("size", [0, -1, 201, 10**18])
def test_a_page_of_another_size_is_bad_input(database: Database, size: int) -> None:
    scanned(database, [a_record("a.jpg")])

    with pytest.raises(BadInput):
        paged(database, Filter(), size=size)


@pytest.mark.parametrize(
    "after",
    [
        "",
        "x",
        "é",
        "AAAA",
        "fDF8YQ==" * 3,
        "MjAyNnwxfGE",
        "fC0xfGE",
        "fDk5OTk5OTk5OTk5OTk5OTk5OTk5fGE",
    ],
)
def test_a_cursor_of_nobody_is_bad_input(database: Database, after: str) -> None:
    scanned(database, [a_record("a.jpg")])

    with pytest.raises(BadInput):
        paged(database, Filter(), after)


@contextmanager
def counted_queries(session: Session) -> Iterator[list[str]]:
    seen: list[str] = []
    engine = session.get_bind()

    def note(*given: object) -> None:
        seen.append(str(given[2]))

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    "chosen", [Filter(), EVERY, Filter(code="image.truncated", path="jpg", sort="newest")]
)
def test_the_number_of_queries_does_not_grow_with_the_rows(
    database: Database, chosen: Filter
) -> None:
    counts = []
    for rows in (5, 90):
        scanned(database, [a_record(f"{number}.jpg", "image.truncated") for number in range(rows)])
        key = the_data_set(database).id
        with database.reading() as session:
            after = page(session, key, chosen, size=2).next_after
            assert after is not None
            with counted_queries(session) as seen:
                page(session, key, chosen, after)
                facets(session, key, chosen)
        counts.append(len(seen))

    assert counts[0] == counts[1] <= 8


def test_a_sample_has_a_place_and_neighbours_in_its_filter(database: Database) -> None:
    a_mixed_set(database)
    key = the_data_set(database).id
    for chosen in (Filter(), EVERY, Filter(status=tuple(Status), sort="newest")):
        tiles = walked(database, chosen, 60)
        ids = [None, *(tile.id for tile in tiles), None]
        for number, tile in enumerate(tiles, start=1):
            with database.reading() as session:
                here = place(session, key, chosen, tile.id)
            assert (here.number, here.total) == (number, len(tiles))
            assert (here.previous, here.next) == (ids[number - 1], ids[number + 1])


def test_a_sample_that_has_just_left_the_filter_still_knows_what_comes_next(
    database: Database,
) -> None:
    scanned(database, [a_record(f"{name}.jpg", "image.truncated") for name in "abc"])
    decided(database, ["b.jpg"], Action.EXCLUDE)

    with database.reading() as session:
        here = place(session, the_data_set(database).id, Filter(), the_sample(database, "b.jpg").id)

    assert (here.number, here.total) == (2, 2)
    assert here.previous == the_sample(database, "a.jpg").id
    assert here.next == the_sample(database, "c.jpg").id
