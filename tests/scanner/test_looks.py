"""How pictures look, in numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFilter, ImageStat
from tests.pictures import picture

from sickbay.scanner.looks import looks
from sickbay.scanner.small import Grey, factor, of_image


def grey(image: Image.Image) -> Grey:
    return np.asarray(image.convert("L").resize((64, 48)))


def test_brightness_is_the_mean_of_the_grey_values() -> None:
    values = grey(picture(1))
    assert looks(values).brightness == pytest.approx(values.mean())


def test_a_darkened_picture_is_darker_at_its_brightest() -> None:
    usual = looks(grey(picture(1)))
    dark = looks(grey(picture(1).point(lambda value: value // 4)))
    assert dark.brightest < 0.25 < usual.brightest


def test_a_faded_picture_is_brighter_at_its_darkest() -> None:
    faded = looks(grey(picture(1).point(lambda value: 245 + value // 26)))
    assert faded.darkest > 0.95 > looks(grey(picture(1))).darkest


def test_blur_takes_sharpness_away() -> None:
    sharp = looks(grey(picture(1, (320, 240)))).sharpness
    soft = looks(grey(picture(1, (320, 240)).filter(ImageFilter.GaussianBlur(20)))).sharpness
    assert soft < 0.25 < sharp


def test_a_page_is_not_blurry() -> None:
    page = np.full((48, 64), 255, np.uint8)
    page[10:38:4, 8:56] = 235
    assert looks(page).sharpness > 0.5


def test_information_is_the_entropy_that_pillow_computes() -> None:
    values = grey(picture(2))
    assert looks(values).information * 10 == pytest.approx(Image.fromarray(values).entropy())


def test_one_colour_holds_no_information() -> None:
    assert looks(np.full((48, 64), 90, np.uint8)).information == 0


def test_sharpness_is_the_deviation_of_edges_by_that_of_the_picture() -> None:
    values = grey(picture(3))
    edges = Image.fromarray(values).filter(ImageFilter.FIND_EDGES)
    (deviation,) = ImageStat.Stat(edges.crop((1, 1, 63, 47))).stddev
    flatter = Image.fromarray(values // 2 + 60)
    assert looks(values).sharpness == pytest.approx(min(1, deviation / values.std()), abs=1e-4)
    assert looks(np.asarray(flatter)).sharpness == pytest.approx(looks(values).sharpness, rel=0.2)


def test_without_contrast_nothing_is_blurry() -> None:
    assert looks(np.full((48, 64), 90, np.uint8)).sharpness == 1


@given(st.integers(1, 90), st.integers(1, 90), st.integers(0, 9))
def test_all_numbers_stay_within_their_bounds(width: int, height: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 256, (height, width), np.uint8)
    found = looks(values)
    for value in (found.brightest, found.darkest, found.sharpness, found.information):
        assert 0 <= value <= 1
    assert 0 <= found.brightness <= 255


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_a_picture_is_decoded_at_most_eight_times_smaller_and_not_below_48_pixels(
    width: int, height: int
) -> None:
    times = factor(width, height)
    assert times in (1, 2, 4, 8)
    assert times == 1 or max(width, height) / times >= 48


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
def test_a_copy_of_any_mode_is_small_and_knows_its_true_size(mode: str) -> None:
    small = of_image(picture(1, (1501, 700)).convert(mode))
    assert small is not None
    assert small.grey.shape == (44, 94)
    assert (small.width, small.height) == pytest.approx((1501 / 16, 700 / 16))


def test_a_small_picture_is_copied_as_it_is() -> None:
    small = of_image(picture(1, (40, 30), "L"))
    assert small is not None
    assert small.grey.shape == (30, 40)
