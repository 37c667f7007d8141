"""Keypoints: three numbers a point, as many points as the class has, where they can be seen."""

import math

import pytest

from sickbay.contract.policy import Policy
from sickbay.scanner.checks.keypoints import KEYPOINT_CHECKS
from sickbay.scanner.marks import Mark

SOUND = (10.0, 20.0, 2.0, 30.0, 40.0, 1.0, 0.0, 0.0, 0.0)


def found(*values: float, points: int | None = 3) -> list[tuple[str, str]]:
    marks = [Mark("annotation 1", "a.json", 1, keypoints=values, points=points)]
    return [
        (finding.code, finding.message)
        for check in KEYPOINT_CHECKS
        for finding in check(marks, (160, 120), Policy())
    ]


def test_sound_keypoints_are_silent() -> None:
    assert found(*SOUND) == []
    assert found(*SOUND, points=None) == []
    assert found() == []


@pytest.mark.parametrize(
    ("values", "code", "message"),
    [
        (
            SOUND[:8],
            "annotation.malformed",
            "The keypoints are 8 numbers, not three for each point.",
        ),
        (SOUND[:6], "annotation.schema-mismatch", "There are 2 keypoints; the class has 3."),
        (
            (*SOUND[:8], 3.0),
            "annotation.malformed",
            "The visibility of keypoint 3 is 3.0, not 0, 1 or 2.",
        ),
        (
            (*SOUND[:8], math.nan),
            "annotation.malformed",
            "The visibility of keypoint 3 is NaN, not 0, 1 or 2.",
        ),
        (
            (math.nan, 20.0, 2.0, *SOUND[3:]),
            "annotation.malformed",
            "Keypoint 1 lies at (NaN, 20.0).",
        ),
        (
            (*SOUND[:3], 180.0, 40.0, 1.0, *SOUND[6:]),
            "box.outside",
            "Keypoint 2 stands 20 pixels out of the picture of 160 x 120.",
        ),
    ],
)
def test_each_fault_is_said_in_a_sentence(
    values: tuple[float, ...], code: str, message: str
) -> None:
    assert (code, message) in found(*values)


def test_where_a_point_that_is_not_labelled_lies_means_nothing() -> None:
    assert found(*SOUND[:6], -500.0, math.inf, 0.0) == []
