"""Small parts of pages: class balance, first bytes, how a sample is shown."""

import pytest

from sickbay.web.pages.balance import rows
from sickbay.web.pages.hexdump import dump
from sickbay.web.pages.tiles import look


def test_the_class_that_loses_most_comes_first_and_small_losses_stay_visible() -> None:
    small, large = rows({"large": 100_000, "small": 10}, {"small": 9, "large": 99_999})
    assert (small.label, large.label) == ("small", "large")
    assert large.lost_width >= 1
    assert large.change == "\u2212<0.1 %"
    assert not large.warned
    assert (small.change, small.warned) == ("\u221210.0 %", True)


def test_classes_that_lose_the_same_part_are_listed_largest_first() -> None:
    before = {"b": 5, "a": 5, "large": 500, "lost": 1}
    assert [row.label for row in rows(before, {"b": 5, "a": 5, "large": 500})] == [
        "lost",
        "large",
        "a",
        "b",
    ]


def test_a_bar_never_leaves_its_frame() -> None:
    for row in rows({"a": 1000, "b": 3}, {"a": 999}):
        assert row.kept_width + row.lost_width <= 100


def test_a_data_set_without_labels_has_no_balance() -> None:
    assert rows({"": 12}, {"": 12}) == ()


def test_bytes_are_shown_in_hex_and_as_text() -> None:
    (line,) = dump(b"\x89PNG\r\n".hex())
    assert line.hex.startswith("89 50 4e 47 0d 0a")
    assert line.text == ".PNG.."


@pytest.mark.parametrize("head", ["", "zz", "abc"])
def test_what_is_not_hex_shows_no_bytes(head: str) -> None:
    assert dump(head) == ()


def test_a_picture_is_asked_for_only_where_there_can_be_one() -> None:
    stored = look("/s/1", kind="thumbnail", thumbnail="ab" * 32, at_hand=False)
    assert stored.src == "/s/1/thumbnail?v=abababababab"
    assert look("/s/1", kind="thumbnail", thumbnail=None, at_hand=True).src == "/s/1/thumbnail"
    assert not look("/s/1", kind="thumbnail", thumbnail=None, at_hand=False).src
    empty = look("/s/1", kind="thumbnail", thumbnail=None, at_hand=True, code="file.empty")
    assert not empty.src
