"""Stairs: pictures that shift within a row of coded units and stay so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter
from tests.pictures import encoded, picture

from sickbay.scanner import shift
from sickbay.scanner.decode import examine
from sickbay.scanner.task import Setup

SIZE = (320, 240)
UNIT = (16, 16)


def pixels(seed: int = 0) -> NDArray[np.uint8]:
    return np.array(picture(seed, SIZE).filter(ImageFilter.BoxBlur(2)))


def shifted(
    data: NDArray[np.uint8], row: int, column: int, by: int, channel: int | slice = slice(None)
) -> NDArray[np.uint8]:
    """Shift all that follows a place in the order of coded units."""
    wide = data.astype(np.int16)
    wide[row : row + UNIT[1], column:, channel] += by
    wide[row + UNIT[1] :, :, channel] += by
    return wide.clip(0, 255).astype(np.uint8)


def certainty(data: NDArray[np.uint8]) -> float:
    found = shift.find(data, UNIT)
    return found.certainty if found else 0.0


@pytest.mark.parametrize("by", [-60, -30, 30, 60])
def test_a_shift_is_found_where_it_begins(by: int) -> None:
    found = shift.find(shifted(pixels(), 96, 160, by), UNIT)
    assert found is not None
    assert (found.row, found.column) == (96, 160)
    assert found.height == pytest.approx(by, abs=6)
    assert found.certainty > shift.LIKELY


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_a_shift_of_one_colour_is_enough(channel: int) -> None:
    assert certainty(shifted(pixels(1), 64, 208, 40, channel)) > shift.LIKELY


def test_a_sound_picture_has_no_shift() -> None:
    assert max(certainty(pixels(seed)) for seed in range(12)) < shift.LIKELY


def test_a_straight_edge_from_side_to_side_is_no_shift() -> None:
    assert certainty(shifted(pixels(2), 96, 0, 60)) < shift.LIKELY


def test_a_line_that_ends_within_the_picture_is_no_shift() -> None:
    image = picture(3, SIZE)
    ImageDraw.Draw(image).rectangle((160, 96, SIZE[0], SIZE[1]), fill=(250, 250, 250))
    assert certainty(np.array(image)) < shift.LIKELY


def test_bars_and_panels_are_no_shift() -> None:
    image = Image.new("RGB", SIZE, (236, 236, 236))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, SIZE[0], 31), fill=(60, 60, 70))
    draw.rectangle((0, 32, 95, SIZE[1]), fill=(200, 210, 220))
    draw.rectangle((112, 48, 300, 63), fill=(255, 255, 255))
    assert certainty(np.array(image)) < shift.LIKELY


def test_means_of_blocks_show_a_shift_too() -> None:
    broken = shifted(pixels(4), 96, 160, 50)
    assert shift.suspicious(shift.blocks(broken, 8), (2, 2))
    assert not shift.suspicious(shift.blocks(pixels(4), 8), (2, 2))


def test_a_file_that_shifts_is_held_and_told_where() -> None:
    data = encoded(Image.fromarray(shifted(pixels(5), 96, 160, 50)), "JPEG", quality=92)
    (finding,) = examine(data, ".jpg", Setup()).findings
    assert (finding.code, finding.severity) == ("image.damaged", "block")
    assert (finding.detail["row"], finding.detail["column"]) == (96, 160)


def test_a_shift_that_is_only_likely_is_a_warning_and_the_picture_is_still_compared() -> None:
    data = encoded(Image.fromarray(shifted(pixels(6), 96, 160, 14)), "JPEG", quality=92)
    found = examine(data, ".jpg", Setup())
    assert [(finding.code, finding.severity) for finding in found.findings] == [
        ("image.damaged", "warn")
    ]
    assert found.traits is not None


@given(
    st.integers(1, 70), st.integers(1, 70), st.sampled_from([1, 3]), st.integers(1, 2), st.data()
)
def test_pictures_of_any_size_can_be_looked_at(
    width: int, height: int, channels: int, across: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    small = rng.integers(0, 256, (height, width, channels), np.uint8)
    shift.suspicious(small, (across, across))
    shift.find(small, (8 * across, 8))
