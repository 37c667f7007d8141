"""Boxes: inside is never flagged, outside always is, and between lies a documented pixel."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks import boxes
from sickbay.scanner.marks import Box, Frame, Mark

FRAME = (160, 120)
side = st.integers(2, 5000)
share = st.floats(0, 1)


def marked(*found: Box, label: int | str | None = 1, file: str = "a.json") -> list[Mark]:
    return [
        Mark(f"annotation {number}", file, label, box) for number, box in enumerate(found, start=1)
    ]


def flagged(
    marks: list[Mark], frame: Frame | None = FRAME, policy: Policy | None = None
) -> list[tuple[str, str | None]]:
    return [(one.code, one.item) for one in findings(marks, frame, policy)]


def findings(
    marks: list[Mark], frame: Frame | None = FRAME, policy: Policy | None = None
) -> list[Finding]:
    return [
        finding for check in boxes.BOX_CHECKS for finding in check(marks, frame, policy or Policy())
    ]


@st.composite
def inside(draw: st.DrawFn) -> tuple[Box, Frame]:
    """A box of at least a tenth of a pixel within a picture."""
    frame = draw(side), draw(side)
    edges = []
    for length in frame:
        low = draw(st.floats(0, length - 0.5))
        edges.append((low, draw(st.floats(0.1, length - low))))
    return (edges[0][0], edges[1][0], edges[0][1], edges[1][1]), frame


@given(inside())
def test_a_box_inside_its_picture_is_never_flagged(case: tuple[Box, Frame]) -> None:
    box, frame = case
    assert flagged(marked(box), frame) == []
    assert flagged(marked(box), frame, Policy(box_tolerance=0)) == []


@given(inside(), st.floats(0, 50), st.floats(1e-3, 1e6), st.sampled_from(range(4)))
def test_a_box_beyond_the_tolerance_is_always_flagged(
    case: tuple[Box, Frame], tolerance: float, more: float, way: int
) -> None:
    (left, top, width, height), frame = case
    over = tolerance + more
    moved = (
        (-over, top, width, height),
        (left, -over, width, height),
        (frame[0] + over - width, top, width, height),
        (left, frame[1] + over - height, width, height),
    )[way]
    assert flagged(marked(moved), frame, Policy(box_tolerance=tolerance)) == [
        ("box.outside", "annotation 1")
    ]


@given(inside(), st.floats(0, 1), st.sampled_from(range(4)))
def test_standing_out_by_less_than_a_pixel_is_silent(
    case: tuple[Box, Frame], over: float, way: int
) -> None:
    (left, top, width, height), frame = case
    moved = (
        (-over, top, width, height),
        (left, -over, width, height),
        (frame[0] + over - width, top, width, height),
        (left, frame[1] + over - height, width, height),
    )[way]
    assert flagged(marked(moved), frame) == []


@given(inside(), st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=6))
def test_what_is_flagged_stays_flagged_when_moved_further(
    case: tuple[Box, Frame], shifts: list[float]
) -> None:
    (left, top, width, height), frame = case
    for sign in (1, -1):
        ordered = sorted((shift for shift in shifts if shift * sign >= 0), key=abs)
        seen = [bool(flagged(marked((left + by, top, width, height)), frame)) for by in ordered]
        assert seen == sorted(seen)


@given(inside(), share, share)
def test_a_higher_tolerance_never_flags_more(
    case: tuple[Box, Frame], low: float, high: float
) -> None:
    assume(low <= high)
    (left, top, width, height), frame = case
    box = (left - 50 * low, top + 30 * high, width, height)
    strict, lenient = (
        len(flagged(marked(box), frame, Policy(box_tolerance=100 * tolerance)))
        for tolerance in (low, high)
    )
    assert lenient <= strict


@pytest.mark.parametrize(
    "box",
    [
        (math.nan, 0, 10, 10),
        (0, math.inf, 10, 10),
        (0, 0, -math.inf, 10),
        (0, 0, 10, math.nan),
    ],
)
def test_a_value_that_is_no_number_is_said_once(box: Box) -> None:
    (found,) = findings(marked(box))
    assert found.code == "box.not-finite"
    assert all(isinstance(value, str | float) for value in found.detail["box"])
    assert "NaN" in found.message or "Infinity" in found.message


@pytest.mark.parametrize("box", [(5, 5, 0, 10), (5, 5, 10, 0), (5, 5, -1, 10), (5, 5, 10, -3)])
def test_a_box_without_width_or_height_is_not_positive(box: Box) -> None:
    assert flagged(marked(box)) == [("box.not-positive", "annotation 1")]


def test_a_flat_box_out_of_its_picture_is_both() -> None:
    assert [code for code, _ in flagged(marked((500, 5, 0, 10)))] == [
        "box.not-positive",
        "box.outside",
    ]


def test_a_finding_says_how_far_and_where() -> None:
    (found,) = findings(marked((150, 5, 30, 10)))
    assert found.message == "The box stands 20 pixels out of the picture of 160 x 120 on the right."
    assert found.detail == {"box": [150, 5, 30, 10], "over": 20}


def test_without_a_known_size_nothing_is_outside() -> None:
    assert flagged(marked((1e9, 5, 30, 10)), None) == []


def test_the_first_copy_of_a_box_is_fine_and_later_ones_are_not() -> None:
    box = (10.0, 20.0, 30.0, 40.0)
    near = (10.05, 20.0, 30.0, 39.95)
    assert flagged(marked(box, box, near)) == [
        ("box.duplicate", "annotation 2"),
        ("box.duplicate", "annotation 3"),
    ]
    assert findings(marked(box, box))[0].detail["first"] == "annotation 1"


def test_the_same_place_with_another_label_or_in_another_file_is_no_duplicate() -> None:
    box = (10.0, 20.0, 30.0, 40.0)
    marks = [*marked(box, label=1), *marked(box, label=2), *marked(box, file="other.json")]
    assert flagged(marks) == []


def test_two_outlines_in_one_box_are_two_objects() -> None:
    box = (10.0, 20.0, 30.0, 40.0)
    one = Mark("annotation 1", "a.json", 1, box, polygons=((10, 20, 40, 20, 40, 60),))
    two = Mark("annotation 2", "a.json", 1, box, polygons=((10, 20, 40, 60, 10, 60),))
    assert flagged([one, two]) == []
    assert flagged([one, two, one]) == [("box.duplicate", "annotation 1")]


def test_outlines_without_boxes_are_compared_as_well() -> None:
    one = Mark("line 1", "a.txt", 1, polygons=((10, 20, 40, 20, 40, 60),))
    assert flagged([one, one]) == [("box.duplicate", "line 1")]


@given(inside(), st.tuples(*[st.floats(-0.099, 0.099)] * 4))
def test_copies_within_a_tenth_of_a_pixel_are_found_wherever_the_box_lies(
    case: tuple[Box, Frame], shift: tuple[float, float, float, float]
) -> None:
    box, _ = case
    copy = tuple(value + by for value, by in zip(box, shift, strict=True))
    marks = marked(box, copy)  # type: ignore[arg-type]
    assert len(list(boxes.duplicate(marks, None, Policy()))) == 1


@given(inside(), st.sampled_from(range(4)), st.floats(0.11, 100))
def test_boxes_further_apart_than_that_are_two(
    case: tuple[Box, Frame], which: int, by: float
) -> None:
    box, _ = case
    other = [*box]
    other[which] += by
    marks = marked(box, tuple(other))  # type: ignore[arg-type]
    assert list(boxes.duplicate(marks, None, Policy())) == []


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-320])
def test_extreme_numbers_are_no_trouble(value: float) -> None:
    assert [code for code, _ in flagged(marked((value, value, abs(value), abs(value))))] in (
        [],
        ["box.outside"],
    )
