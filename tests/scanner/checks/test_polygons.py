"""Polygons: what rasterisers choke on is found, what they draw is not."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.polygons import POLYGON_CHECKS
from sickbay.scanner.marks import Mark, Points

FRAME = (160, 120)
TRIANGLE = (10.0, 20.0, 40.0, 20.0, 40.0, 60.0)


def findings(*polygons: Points, tolerance: float = 1.0) -> list[Finding]:
    marks = [Mark("annotation 1", "a.json", 1, polygons=polygons)]
    policy = Policy(box_tolerance=tolerance)
    return [finding for check in POLYGON_CHECKS for finding in check(marks, FRAME, policy)]


def messages(*polygons: Points) -> list[str]:
    found = findings(*polygons)
    assert {finding.code for finding in found} <= {"annotation.bad-polygon"}
    return [finding.message for finding in found]


@pytest.mark.parametrize(
    ("polygon", "message"),
    [
        ((), "The polygon has 0 points, not three."),
        ((10, 20), "The polygon has 1 point, not three."),
        ((10, 20, 30, 40), "The polygon has 2 points, not three."),
        ((10, 20, 30, 40, 50), "The polygon has 5 numbers: half a point."),
        ((*TRIANGLE, 7), "The polygon has 7 numbers: half a point."),
        ((10, math.nan, 40, 20, 40, 60), "Number 2 of the polygon is NaN."),
        ((10, 20, 40, 20, -math.inf, 60), "Number 5 of the polygon is -Infinity."),
        ((10, 20, 10, 20, 10, 20), "The polygon has no area: its points lie on a line."),
        ((10, 20, 20, 30, 50, 60), "The polygon has no area: its points lie on a line."),
        (
            (10, 20, 40, 20, 200, 60),
            "The polygon stands 40 pixels out of the picture of 160 x 120.",
        ),
        ((-9, 20, 40, 20, 20, 60), "The polygon stands 9 pixels out of the picture of 160 x 120."),
    ],
)
def test_each_fault_is_said_in_a_sentence(polygon: Points, message: str) -> None:
    assert messages(polygon) == [message]


@pytest.mark.parametrize(
    "polygon",
    [
        TRIANGLE,
        (0, 0, 160, 0, 160, 120, 0, 120),
        (0, 0, 10, 10, 10, 0, 0, 10),  # a figure of eight, whose signed area is 0
        (10, 20, 40, 20, 40, 20.01),
        (-1, 0, 160.9, 0, 20, 121),
    ],
)
def test_what_can_be_drawn_is_silent(polygon: Points) -> None:
    assert messages(polygon) == []


def test_a_flat_part_beside_a_sound_one_is_silent() -> None:
    assert messages(TRIANGLE, (10, 20, 20, 30, 50, 60)) == []


def test_each_bad_part_is_named_with_its_points() -> None:
    found = findings((10, 20), TRIANGLE, (30, 40))
    assert [finding.detail["polygon"] for finding in found] == [[10, 20], [30, 40]]
    assert {finding.item for finding in found} == {"annotation 1"}


def test_a_long_outline_is_shown_in_part() -> None:
    (found,) = findings(tuple([5.0] * 999))
    assert len(found.detail["polygon"]) == 128


coordinate = st.floats(0, 119)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=12))
def test_points_inside_the_picture_are_at_most_flat(points: list[tuple[float, float]]) -> None:
    polygon = tuple(value for point in points for value in point)
    assert all("no area" in message for message in messages(polygon))


@given(
    st.tuples(coordinate, coordinate),
    st.tuples(st.floats(-50, 50), st.floats(-50, 50)),
    st.lists(st.floats(-3, 3), min_size=2, max_size=9),
)
def test_points_on_any_line_have_no_area(
    start: tuple[float, float], way: tuple[float, float], steps: list[float]
) -> None:
    points = [start, *((start[0] + way[0] * by, start[1] + way[1] * by) for by in steps)]
    polygon = tuple(value for point in points for value in point)
    assert any("no area" in message for message in messages(polygon))


@given(st.floats(1.01, 1e6), st.floats(0, 100))
def test_moving_out_beyond_the_tolerance_is_flagged(more: float, tolerance: float) -> None:
    moved = tuple(
        value + (160 if number % 2 == 0 else 0) + more + tolerance
        for number, value in enumerate((0.0, 0.0, 30.0, 0.0, 30.0, 40.0))
    )
    assert len(findings(moved, tolerance=tolerance)) == 1
