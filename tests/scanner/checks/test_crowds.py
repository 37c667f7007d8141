"""Run-length masks: both ways of writing them are read, and no text breaks the reader."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.policy import Policy
from sickbay.scanner.checks.crowds import CROWD_CHECKS, BadCounts, counts
from sickbay.scanner.marks import Mark

FRAME = (160, 120)
# as pycocotools 2.0.11 writes them
COMPRESSED = {
    "0Pf4PR>": [0, 4800, 14400],
    "5:agb0": [5, 10, 19185],
    "T33Q3a?Soa0": [100, 3, 97, 500, 18500],
}


def compressed(values: list[int]) -> str:
    """Write counts as the format's description has it."""
    text = ""
    for number, value in enumerate(values):
        left = value - values[number - 2] if number > 2 else value
        more = True
        while more:
            bits = left & 0x1F
            left >>= 5
            more = left != -1 if bits & 0x10 else left != 0
            text += chr(48 + (bits | (0x20 if more else 0)))
    return text


def messages(rle: dict[str, Any]) -> list[str]:
    marks = [Mark("annotation 1", "a.json", 1, rle=rle, crowd=True)]
    found = [finding for check in CROWD_CHECKS for finding in check(marks, FRAME, Policy())]
    assert {finding.code for finding in found} <= {"annotation.bad-mask"}
    return [finding.message for finding in found]


@pytest.mark.parametrize(("text", "values"), COMPRESSED.items())
def test_what_the_known_library_writes_is_read(text: str, values: list[int]) -> None:
    assert counts(text) == values
    assert compressed(values) == text


@given(st.lists(st.integers(0, 10**7), max_size=40))
def test_compressed_counts_are_read_back(values: list[int]) -> None:
    assert counts(compressed(values)) == values


@given(st.text(max_size=30) | st.text(alphabet=[chr(code) for code in range(48, 112)]))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        made = counts(text)
    except BadCounts:
        return
    assert all(count >= 0 for count in made)


def test_both_ways_of_writing_a_sound_mask_are_silent() -> None:
    for given_counts in ([0, 4800, 14400], compressed([0, 4800, 14400])):
        assert messages({"size": [120, 160], "counts": given_counts}) == []


@pytest.mark.parametrize(
    ("rle", "message"),
    [
        ({}, "The mask's size is not a height and a width."),
        ({"size": [120], "counts": []}, "The mask's size is not a height and a width."),
        ({"size": [0, 160], "counts": []}, "The mask's size is not a height and a width."),
        ({"size": [True, 160], "counts": []}, "The mask's size is not a height and a width."),
        ({"size": ["120", 160], "counts": []}, "The mask's size is not a height and a width."),
        (
            {"size": [160, 120], "counts": [0, 19200]},
            "The mask is 120 x 160, the picture 160 x 120.",
        ),
        (
            {"size": [120, 160], "counts": [0, 4800]},
            "The mask's counts make 4,800 pixels, its size 19,200.",
        ),
        (
            {"size": [120, 160], "counts": [-1, 19201]},
            "The mask's counts are not all whole numbers from 0.",
        ),
        (
            {"size": [120, 160], "counts": [True, 19199]},
            "The mask's counts are not all whole numbers from 0.",
        ),
        (
            {"size": [120, 160], "counts": [19200]},
            "The mask has no pixel: whatever is drawn from it is empty.",
        ),
        ({"size": [120, 160]}, "The mask has no counts, neither a list nor text."),
        (
            {"size": [120, 160], "counts": "~~~"},
            "The mask's compressed counts hold a character that is none of theirs.",
        ),
        (
            {"size": [120, 160], "counts": "o"},
            "The mask's compressed counts end within a number.",
        ),
        (
            {"size": [120, 160], "counts": "o" * 100},
            "The mask's compressed counts hold a number that does not end.",
        ),
        (
            {"size": [120, 160], "counts": "@"},
            "The mask's compressed counts hold a negative number.",
        ),
    ],
)
def test_each_fault_is_said_in_a_sentence(rle: dict[str, Any], message: str) -> None:
    assert messages(rle) == [message]


def test_a_size_beyond_all_pictures_is_said_without_its_digits() -> None:
    (other, sums) = messages({"size": [10**60, 10**60], "counts": [1]})
    assert "more than 2^63" in sums
    assert len(other) < 500
