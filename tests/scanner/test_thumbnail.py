"""Thumbnails of what is held, and previews."""

import io

import pytest
from PIL import Image
from tests.pictures import encoded, jpeg, picture, png, truncated, zeroed
from tests.scanner.recorded import examined

from sickbay.scanner.thumbnail import thumbnail


def shown(data: bytes | None) -> Image.Image:
    assert data is not None
    return Image.open(io.BytesIO(data))


def test_a_held_sample_has_a_thumbnail_and_a_clean_one_has_none() -> None:
    data = jpeg(1, (500, 375))
    assert examined(data).thumbnail is None
    made = shown(examined(zeroed(data)).thumbnail)
    assert (made.format, max(made.size)) == ("WEBP", 256)


@pytest.mark.parametrize(
    "data",
    [
        truncated(jpeg(1, (500, 375))),
        truncated(jpeg(1, (500, 375)), end_marker=True),
        truncated(png(1, (500, 375))),
    ],
    ids=["jpeg", "jpeg with an end marker", "png"],
)
def test_what_a_truncated_file_lost_is_transparent(data: bytes) -> None:
    made = shown(examined(data).thumbnail).convert("RGBA")
    alpha = made.getchannel("A")
    assert alpha.getpixel((10, 10)) == 255
    assert alpha.getpixel((10, made.height - 2)) == 0


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_any_mode_can_be_shown(mode: str) -> None:
    made = shown(thumbnail(png(1, mode=mode), "PNG", 64))
    assert made.size == (64, 48)


def test_cmyk_can_be_shown() -> None:
    assert shown(thumbnail(jpeg(1, mode="CMYK"), "JPEG", 64)).mode == "RGB"


def test_a_picture_of_one_colour_is_shown_in_full() -> None:
    made = shown(thumbnail(encoded(Image.new("RGB", (40, 30), "red"), "PNG"), "PNG", 64))
    assert (made.size, made.mode) == ((40, 30), "RGB")


def test_a_small_picture_is_not_enlarged() -> None:
    assert shown(thumbnail(encoded(picture(1, (20, 10)), "PNG"), "PNG", 256)).size == (20, 10)


def test_nothing_is_shown_of_what_nobody_decodes() -> None:
    assert thumbnail(b"\xff\xd8\xff nothing", "JPEG", 64) is None


def test_a_picture_too_large_to_decode_is_not_shown() -> None:
    assert thumbnail(encoded(Image.new("1", (9000, 9000)), "PNG"), "PNG", 64) is None
