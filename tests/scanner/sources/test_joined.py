"""A walk and what annotation files say come in one order, whatever order they were told in."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import write

from sickbay.contract.errors import StorageFailed
from sickbay.scanner.sources.joined import Joined, storing
from sickbay.scanner.trees import HIDDEN, OUTSIDE, Entry, Skipped, What
from sickbay.scanner.trees.local import LocalTree


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[Joined]:
    root = tmp_path / "root"
    for name in ("images/b.jpg", "images/a.jpg", "a/same.jpg", "b/same.jpg", ".hidden"):
        write(root, name, b"bytes")
    (root / "broken.jpg").symlink_to("nowhere")
    with closing(Joined(LocalTree(root))) as made:
        yield made


def test_places_come_in_order_of_raw_path_and_each_once(joined: Joined) -> None:
    for raw in (b"zz.jpg", b"images/b.jpg", b"images/aa.jpg", b"images/b.jpg", b"0.jpg"):
        joined.say(raw, {"of": raw.decode()})
    assert [(place.raw, place.count) for place in joined.places()] == [
        (b".hidden", 0),
        (b"0.jpg", 1),
        (b"a/same.jpg", 0),
        (b"b/same.jpg", 0),
        (b"broken.jpg", 0),
        (b"images/a.jpg", 0),
        (b"images/aa.jpg", 1),
        (b"images/b.jpg", 2),
        (b"zz.jpg", 1),
    ]


def test_what_lies_there_comes_back_as_the_walk_gave_it(joined: Joined) -> None:
    found = {place.raw: place.entry for place in joined.places()}
    assert found[b".hidden"] == Skipped(b".hidden", HIDDEN)
    assert found[b"images/a.jpg"] == Entry(b"images/a.jpg")
    assert found[b"broken.jpg"] == Entry(b"broken.jpg", What.BROKEN)


def test_a_skipped_folder_keeps_its_finding(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.jpg", b"bytes")
    (root / "out").symlink_to(tmp_path)
    with closing(Joined(LocalTree(root))) as made:
        skipped = [place.entry for place in made.places()][1]
    assert isinstance(skipped, Skipped)
    assert skipped.finding is not None
    assert (skipped.reason, skipped.finding.code) == (OUTSIDE, "file.unsafe-path")


def test_what_is_said_of_one_path_is_bounded_and_counted(joined: Joined) -> None:
    for number in range(5000):
        joined.say(b"images/a.jpg", number)
    (place,) = [place for place in joined.places(most=3) if place.said]
    assert (place.said, place.count) == ([0, 1, 2], 5000)


def test_a_file_is_found_by_the_last_part_of_its_name_where_only_one_has_it(joined: Joined) -> None:
    assert joined.called(b"a.jpg") == b"images/a.jpg"
    assert joined.called(b"same.jpg") is None
    assert joined.called(b".hidden") is None


def test_names_lie_there_unless_they_were_left_out(joined: Joined) -> None:
    assert joined.lies(b"broken.jpg")
    assert not joined.lies(b".hidden")
    assert not joined.lies(b"images")


def test_files_are_listed_by_the_end_of_their_name(joined: Joined) -> None:
    assert list(joined.files(b"e.jpg")) == [b"a/same.jpg", b"b/same.jpg"]


def test_a_full_disk_is_said_in_a_sentence(joined: Joined) -> None:
    joined.database.execute("PRAGMA max_page_count = 10")
    for number in range(1999):
        joined.say(b"a" * 500, number)
    with pytest.raises(StorageFailed, match="free some space"):
        list(joined.places())
    with pytest.raises(StorageFailed), storing():
        joined.database.execute("no SQL")


@given(st.lists(st.binary(min_size=1, max_size=3), max_size=20))
def test_any_names_come_in_the_order_of_their_bytes(names: list[bytes]) -> None:
    with closing(Joined(_Empty())) as made:
        for number, raw in enumerate(names):
            made.say(raw, number)
        places = list(made.places())
    assert [place.raw for place in places] == sorted(set(names))
    assert all(
        place.said == [number for number, raw in enumerate(names) if raw == place.raw]
        for place in places
    )


class _Empty(LocalTree):
    """A tree without anything in it."""

    def __init__(self) -> None:
        self.where = ""

    def entries(self) -> Iterator[Entry | Skipped]:
        return iter(())
