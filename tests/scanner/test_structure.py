"""The first look: what is seen without decoding, and what is not."""

import numpy as np
import pytest
from PIL import Image
from tests.damage import undamaged, unusual
from tests.pictures import (
    chunk,
    encoded,
    gif,
    jpeg,
    picture,
    png,
    truncated,
    with_bad_checksum,
    zeroed,
)

from sickbay.scanner.decode import examine
from sickbay.scanner.evidence import Examined
from sickbay.scanner.task import STRUCTURE, Setup

SETUP = Setup(depth=STRUCTURE)


def looked_at(data: bytes, suffix: str = "") -> Examined:
    return examine(data, suffix, SETUP)


def said(data: bytes, suffix: str = "") -> list[str]:
    return [finding.code for finding in looked_at(data, suffix).findings]


def held(data: bytes) -> bool:
    return any(finding.severity == "block" for finding in looked_at(data).findings)


@pytest.mark.parametrize(
    ("data", "format_"),
    [
        (jpeg(1), "JPEG"),
        (jpeg(1, progressive=True), "JPEG"),
        (png(1), "PNG"),
        (gif(1), "GIF"),
        *(
            (encoded(picture(1), kind), kind)
            for kind in ("WEBP", "TIFF", "BMP", "AVIF", "PPM", "ICO")
        ),
    ],
)
def test_a_sound_file_passes_with_its_facts_and_is_not_called_decoded(
    data: bytes, format_: str
) -> None:
    found = looked_at(data)
    assert (found.findings, found.format, found.decoded, found.traits) == ((), format_, False, None)
    assert found.width is not None
    assert found.sha256 is not None


def test_no_clean_or_unusual_jpeg_is_held() -> None:
    sounds = [sound.data for sound in undamaged(16, seed=3)]
    unusual_ones = [data for name, data in unusual().items() if "end marker" not in name]
    assert [held(data) for data in (*sounds, *unusual_ones)] == [False] * (
        len(sounds) + len(unusual_ones)
    )


@pytest.mark.parametrize(
    "data",
    [
        truncated(jpeg(1)),
        jpeg(1)[:-2],
        truncated(png(1)),
        truncated(gif(2), 0.5),
        truncated(encoded(picture(1), "WEBP")),
        truncated(encoded(picture(1), "TIFF")),
        truncated(encoded(picture(1), "BMP")),
        truncated(encoded(picture(1), "AVIF")),
    ],
)
def test_an_early_end_is_seen(data: bytes) -> None:
    assert said(data) == ["image.truncated"]


def test_a_zeroed_block_within_the_scan_is_seen() -> None:
    assert said(zeroed(jpeg(2, (500, 375)))) == ["image.damaged"]


def test_zero_bytes_of_a_plain_area_are_no_damage() -> None:
    plain = np.zeros((1200, 1600, 3), np.uint8)
    plain[:40] = np.asarray(picture(1, (1600, 40)))
    for options in ({"optimize": True}, {"progressive": True}, {}):
        assert not held(encoded(Image.fromarray(plain), "JPEG", **options))


def test_zero_bytes_behind_the_picture_are_no_damage() -> None:
    assert said(jpeg(1) + bytes(4096)) == []


def test_later_scans_that_are_missing_are_seen() -> None:
    data = jpeg(3, progressive=True)
    scans = [at for at in range(len(data)) if data.startswith(b"\xff\xda", at)]
    assert said(data[: scans[3]] + b"\xff\xd9") == ["image.truncated"]


def test_a_checksum_that_does_not_fit_is_seen() -> None:
    assert said(with_bad_checksum(png(1))) == ["image.damaged"]


def test_a_png_without_pixel_data_is_seen() -> None:
    head = png(1)[:33]
    assert said(head + chunk(b"IEND", b"")) == ["image.truncated"]


@pytest.mark.parametrize("data", [b"not a picture\n" * 50, bytes(20_000)])
def test_what_is_no_picture_is_seen(data: bytes) -> None:
    (finding,) = looked_at(data, ".jpg").findings
    assert finding.code == "image.undecodable"
    assert finding.detail["head"]


def test_a_held_sample_gets_no_thumbnail_because_that_would_decode_it() -> None:
    assert looked_at(truncated(jpeg(1))).thumbnail is None


def test_a_flipped_byte_is_not_seen() -> None:
    data = bytearray(jpeg(1, (320, 240)))
    data[len(data) // 2] ^= 0x10
    assert not held(bytes(data))
