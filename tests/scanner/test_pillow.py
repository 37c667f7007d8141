"""The formats that Pillow decodes."""

import struct

import numpy as np
import pytest
from PIL import Image
from tests.pictures import encoded, gif, jpeg, picture, png, truncated
from tests.scanner.recorded import examined, held, said

from sickbay.contract.policy import Policy
from sickbay.scanner import Limits, Setup, webp
from sickbay.scanner import gif as gif_blocks

KINDS = [
    ("WEBP", ".webp", {}),
    ("WEBP", ".webp", {"lossless": True}),
    ("TIFF", ".tif", {}),
    ("TIFF", ".tiff", {"compression": "tiff_deflate"}),
    ("TIFF", ".tiff", {"compression": "jpeg"}),
    ("BMP", ".bmp", {}),
    ("AVIF", ".avif", {}),
    ("PPM", ".ppm", {}),
    ("GIF", ".gif", {}),
    ("JPEG2000", ".jp2", {}),
]


@pytest.mark.parametrize(("kind", "suffix", "options"), KINDS)
def test_a_sound_picture_is_clean_and_a_cut_one_is_held(
    kind: str, suffix: str, options: dict[str, object]
) -> None:
    data = encoded(picture(1), kind, **options)
    found = examined(data, suffix)
    assert found.findings == ()
    assert (found.format, found.width, found.height) == (kind, 160, 120)
    assert held(truncated(data), suffix)


def test_a_tga_goes_by_its_name_because_it_has_no_signature() -> None:
    data = encoded(picture(1), "TGA")
    assert examined(data, ".tga").format == "TGA"
    assert said(data, ".jpg") == ["image.undecodable"]


def test_an_animation_is_noted_and_a_cut_in_a_later_frame_is_seen() -> None:
    data = gif(4)
    assert said(data, ".gif") == ["image.animated"]
    assert "image.truncated" in said(truncated(data, 0.8), ".gif")


def test_frames_beyond_the_limit_stay_unseen_and_the_picture_is_not_held() -> None:
    assert said(gif(6), ".gif", Setup(Limits(frames=2))) == ["image.animated"]


def test_several_pages_of_a_tiff_are_all_read() -> None:
    pages = [picture(seed, (64, 64)) for seed in range(3)]
    data = encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    assert said(data, ".tif") == ["image.animated"]


def test_an_orientation_is_noted_in_webp_too() -> None:
    image = picture(1)
    exif = image.getexif()
    exif[0x0112] = 8
    assert said(encoded(image, "WEBP", exif=exif), ".webp") == ["image.exif-rotated"]


def test_a_header_that_states_more_than_any_file_could_hold_is_a_bomb() -> None:
    header = struct.pack("<2sIHHI", b"BM", 54, 0, 0, 54)
    info = struct.pack("<IiiHHIIiiII", 40, 60_000, 60_000, 1, 24, 0, 0, 0, 0, 0, 0)
    assert said(header + info + bytes(1000), ".bmp")[0] == "image.bomb"


def test_a_picture_too_large_to_decode_is_a_note_where_the_file_can_hold_it() -> None:
    side = 12_000
    data = encoded(Image.new("1", (side, side)), "BMP")
    (finding,) = examined(data, ".bmp").findings
    assert finding.code == "image.huge"
    assert "not decoded in whole" in finding.message


def test_a_huge_webp_of_nothing_is_a_bomb_before_any_memory_is_claimed() -> None:
    header = b"\x2f" + (16_382 | 16_382 << 14).to_bytes(4, "little") + bytes(13)
    chunk = b"VP8L" + struct.pack("<I", len(header)) + header
    data = b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk
    found = examined(data, ".webp")
    assert found.findings[0].code == "image.bomb"
    assert (found.width, found.height) == (16_383, 16_383)


@pytest.mark.parametrize("options", [{"lossless": True}, {"quality": 50}, {"exif": b"Exif\0\0"}])
def test_the_size_of_a_webp_is_read_from_any_of_its_headers(options: dict[str, object]) -> None:
    assert webp.size(encoded(picture(1, (50, 37)), "WEBP", **options)) == (50, 37)


def test_a_large_avif_stays_unchecked_but_not_uncounted() -> None:
    data = encoded(Image.new("RGB", (64, 64)), "AVIF").replace(
        struct.pack(">4sIII", b"ispe", 0, 64, 64), struct.pack(">4sIII", b"ispe", 0, 8000, 8000)
    )
    whole = examined(data + bytes(20_000), ".avif")
    assert [finding.code for finding in whole.findings] == ["image.huge"]


@pytest.mark.parametrize("mode", ["I;16", "F"])
def test_rare_modes_are_notes(mode: str) -> None:
    pixels = np.linspace(0, 1000, 64 * 64).reshape(64, 64)
    image = Image.fromarray(pixels.astype(np.uint16 if mode == "I;16" else np.float32))
    assert image.mode == mode
    assert said(encoded(image, "TIFF"), ".tif") == ["image.odd-mode"]


def test_a_tiff_variant_without_a_decoder_is_unsupported_and_not_held() -> None:
    data = bytearray(encoded(picture(1, (64, 64)), "TIFF"))
    entry = data.index(struct.pack("<HHI", 258, 3, 3))  # bits per sample: 8, 8, 8
    (at,) = struct.unpack_from("<I", data, entry + 8)
    struct.pack_into("<HHH", data, at, 24, 24, 24)
    assert said(bytes(data), ".tif") == ["image.unsupported"]


def heif(length: int) -> bytes:
    """Boxes of a HEIC file: one item of ``length`` bytes behind them."""

    def box(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body) + 8) + kind + body

    kind = box(b"ftyp", b"heic\0\0\0\0mif1heic")
    item = struct.pack(">BBHHHHII", 0x44, 0, 1, 1, 0, 1, 100, length)
    body = bytes(4) + item
    return kind + box(b"meta", bytes(4) + box(b"iloc", body)) + box(b"mdat", bytes(200))


def test_heic_without_its_decoder_is_unsupported_and_not_held() -> None:
    assert said(heif(50), ".heic") == ["image.unsupported"]


def test_heic_that_is_cut_is_held_even_without_its_decoder() -> None:
    assert said(heif(50)[:-20], ".heic") == ["image.truncated"]
    assert said(heif(5000), ".heic") == ["image.truncated"]


def test_jpeg_xl_is_unsupported_and_not_held() -> None:
    assert said(b"\xff\x0a" + bytes(60), ".jxl") == ["image.unsupported"]


@pytest.mark.parametrize(
    "data",
    [bytes(20_000), b"<html>Not found</html>", b"\x89PNG", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 "],
)
def test_what_no_decoder_opens_is_held_and_shows_its_first_bytes(data: bytes) -> None:
    found = examined(data, ".jpg")
    blocking = [finding for finding in found.findings if finding.severity == "block"]
    assert blocking[0].code in ("image.undecodable", "image.truncated")
    assert blocking[0].detail["head"] == data[:32].hex()
    assert found.thumbnail is None


def test_a_link_that_was_copied_as_text_is_recognised() -> None:
    (finding,) = examined(b"../store/others/real.jpg").findings
    assert finding.code == "image.undecodable"
    assert "a link that was copied" in finding.message


def test_a_wrong_extension_is_noted() -> None:
    assert said(png(1), ".jpg") == ["image.wrong-extension"]
    assert said(encoded(picture(1), "WEBP"), ".jpg") == ["image.wrong-extension"]
    assert said(jpeg(1), ".png") == ["image.wrong-extension"]
    assert said(jpeg(1), ".jpeg") == []
    assert said(jpeg(1), "") == []


def test_a_short_side_is_noted_below_the_limit_only() -> None:
    assert said(png(1, (1, 1)), ".png") == ["image.too-small"]
    assert said(png(1, (90, 31)), ".png") == ["image.too-small"]
    assert said(png(1, (32, 32)), ".png") == []
    assert said(jpeg(1, (122, 63)), ".jpg", Setup(policy=Policy(min_side=128))) == [
        "image.too-small"
    ]


def test_a_gif_frame_without_pixels_may_end_early() -> None:
    whole = gif(1)
    frame = whole.index(b",\0\0\0\0")
    for width, fault in ((b"\0\0", None), (b"\1\0", "image.truncated")):
        found = gif_blocks.fault_of(whole[: frame + 5] + width + whole[frame + 7 : -20])
        assert (found and found.code) == fault


def test_an_empty_file_is_held() -> None:
    assert said(b"") == ["file.empty"]


@pytest.mark.parametrize(
    ("kind", "suffix", "options"),
    [
        ("WEBP", ".webp", {}),
        ("WEBP", ".webp", {"lossless": True}),
        ("TIFF", ".tif", {"compression": "tiff_lzw"}),
    ],
)
def test_what_no_decoder_opens_because_it_is_cut_is_truncated(
    kind: str, suffix: str, options: dict[str, object]
) -> None:
    data = encoded(picture(1), kind, **options)
    assert "image.truncated" in said(data[: len(data) * 2 // 3], suffix)
