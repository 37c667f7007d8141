"""Frames, and what is believed of a child's answer."""

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.finding import Finding
from sickbay.scanner import Examined, wire

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)
FOUND = Examined(
    size=3,
    mtime_ns=5,
    stat=(1, 2, 3),
    sha256="0" * 64,
    width=4,
    height=5,
    format="JPEG",
    mode="RGB",
    findings=(Finding.of("image.huge", "", "Large.", pixels=7),),
    thumbnail=b"picture",
)


def read_back(*frames: bytes) -> list[tuple[Any, bytes]]:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"".join(frames))
        os.close(writing)
        reader = wire.Reader(reading)
        return [reader.frame(1) for _ in frames]
    finally:
        os.close(reading)


def test_frames_come_back_as_they_were_sent() -> None:
    sent = [([1, "\u732b", None], b"\0raw"), ({}, b""), ([], bytes(5000))]
    assert read_back(*(wire.pack(value, raw) for value, raw in sent)) == sent


def test_what_was_found_comes_back_as_it_was() -> None:
    ((value, raw),) = read_back(wire.pack(wire.from_examined(FOUND), b"picture"))
    assert wire.to_examined(value, raw) == FOUND


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        b"\0\0\0\5\0\0\0\0[1,",
        b"\0\0\0\2\0\0\0\0no",
        b"\xff" * 8,
        b"\0\0\0\2\0\0\0\1[]",
    ],
    ids=range(6),
)
def test_a_broken_frame_means_the_other_side_is_gone(data: bytes) -> None:
    with pytest.raises(wire.Closed):
        read_back(data)


def test_nothing_is_waited_for_longer_than_allowed() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(wire.Late):
            wire.Reader(reading).frame(0.01)
    finally:
        os.close(reading)
        os.close(writing)


@given(JSON)
def test_an_answer_of_any_other_form_is_refused(value: Any) -> None:
    with pytest.raises(wire.Closed):
        wire.to_examined(value, b"")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (0, -1),
        (0, True),
        (0, 1 << 63),
        (1, "5"),
        (2, [1, 2]),
        (2, [1, 2, "3"]),
        (3, "0" * 63),
        (3, "x" * 64),
        (4, 1.5),
        (6, "J" * 33),
        (7, "two\nlines"),
        (8, [["no.such-code", "block", "", {}]]),
        (8, [["image.huge", "worst", "", {}]]),
        (8, [["image.huge", "note", 5, {}]]),
        (8, [["image.huge", "note", "", {"x": "y" * 9000}]]),
        (8, [["image.huge", "note", "", [1]]]),
        (8, None),
        (9, "no hex"),
    ],
    ids=range(18),
)
def test_no_field_of_an_answer_is_believed_as_it_comes(field: int, value: Any) -> None:
    answer = wire.from_examined(FOUND)
    answer[field] = value
    with pytest.raises(wire.Closed):
        wire.to_examined(answer, b"")
