"""The perceptual hash: near for copies, far for others, silent on plain pictures."""

import numpy as np
import pytest
from PIL import Image, ImageEnhance
from tests.pictures import encoded, picture

from sickbay.contract.policy import Policy
from sickbay.scanner.decode import examine
from sickbay.scanner.task import Setup

NEAR = Policy().near_duplicate_distance


def hashed(image: Image.Image, kind: str = "JPEG", **options: int) -> int | None:
    found = examine(encoded(image, kind, **options), "", Setup())
    assert found.traits is not None
    return found.traits.hash


def distance(one: Image.Image, other: Image.Image, quality: int = 75) -> int:
    first, second = hashed(one), hashed(other, "JPEG", quality=quality)
    assert first is not None
    assert second is not None
    return (first ^ second).bit_count()


@pytest.mark.parametrize("seed", range(4))
def test_copies_in_another_quality_size_or_light_are_near(seed: int) -> None:
    image = picture(seed, (500, 375))
    assert distance(image, image, quality=40) <= NEAR
    assert distance(image, image.resize((250, 188))) <= NEAR
    assert distance(image, image.resize((750, 562))) <= NEAR
    assert distance(image, ImageEnhance.Contrast(image).enhance(0.85)) <= NEAR


def test_other_pictures_are_far() -> None:
    hashes = [hashed(picture(seed, (320, 240))) for seed in range(30)]
    known = [value for value in hashes if value is not None]
    assert len(known) == 30
    distances = [
        (one ^ other).bit_count() for at, one in enumerate(known) for other in known[at + 1 :]
    ]
    assert min(distances) > 2 * NEAR


def test_formats_agree() -> None:
    image = picture(5, (320, 240))
    first = hashed(image)
    for kind in ("PNG", "BMP", "WEBP", "TIFF"):
        other = hashed(image, kind)
        assert first is not None
        assert other is not None
        assert (first ^ other).bit_count() <= NEAR


def test_one_colour_and_a_plain_gradient_have_no_hash() -> None:
    assert hashed(Image.new("RGB", (320, 240), (40, 90, 200))) is None
    ramp = np.broadcast_to(np.linspace(0, 255, 320).astype(np.uint8), (240, 320))
    assert hashed(Image.fromarray(np.array(ramp))) is None


def test_a_broken_picture_has_no_traits() -> None:
    data = encoded(picture(1, (320, 240)), "JPEG")
    assert examine(data[: len(data) // 2], ".jpg", Setup()).traits is None


def test_sixteen_bits_have_no_traits_because_their_scale_is_unknown() -> None:
    deep = Image.fromarray(np.arange(64 * 64, dtype=np.uint16).reshape(64, 64))
    assert examine(encoded(deep, "PNG"), ".png", Setup()).traits is None
