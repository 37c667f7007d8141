"""Stated sizes: the picture's own, or that of the picture as EXIF turns it."""

import pytest

from sickbay.scanner.checks.sizes import frame_of, is_turned, size_mismatch
from sickbay.scanner.evidence import Evidence
from sickbay.scanner.marks import Frame

LYING = Evidence(width=160, height=120, orientation=6)
UPRIGHT = Evidence(width=160, height=120)


def mismatch(stated: Frame, evidence: Evidence) -> str | None:
    found = size_mismatch(stated, evidence, "a.json", "image 1")
    return found.message if found else None


@pytest.mark.parametrize(
    ("stated", "evidence"),
    [((160, 120), UPRIGHT), ((160, 120), LYING), ((120, 160), LYING), ((7, 7), Evidence())],
)
def test_a_size_that_fits_one_way_up_is_silent(stated: Frame, evidence: Evidence) -> None:
    assert mismatch(stated, evidence) is None


@pytest.mark.parametrize(
    ("stated", "evidence"),
    [
        ((120, 160), UPRIGHT),
        ((320, 240), UPRIGHT),
        ((240, 320), LYING),
        ((120, 160), Evidence(width=160, height=120, orientation=3)),
    ],
)
def test_another_size_is_said_with_both(stated: Frame, evidence: Evidence) -> None:
    said = f"The stated size is {stated[0]} x {stated[1]}, the picture is 160 x 120."
    assert mismatch(stated, evidence) == said


def test_boxes_are_judged_in_the_orientation_of_the_stated_size() -> None:
    assert frame_of((120, 160), LYING) == (120, 160)
    assert frame_of((160, 120), LYING) == (160, 120)
    assert is_turned((120, 160), LYING)
    assert not is_turned((160, 120), LYING)
    assert not is_turned((100, 100), Evidence(width=100, height=100, orientation=6))


def test_without_a_stated_size_either_way_up_will_do() -> None:
    assert frame_of(None, UPRIGHT) == (160, 120)
    assert frame_of(None, LYING) == (160, 160)
    assert frame_of(None, Evidence()) is None
