"""PNG: checksums, pixel bytes, bombs; and what is only unusual."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import chunk, encoded, picture, png, raw_png, truncated, with_bad_checksum
from tests.scanner.recorded import examined, held, said

from sickbay.scanner import Limits, Setup

SOUND = png(1)
SIGNATURE = SOUND[:8]


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    at, found = 8, []
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def built(parts: list[tuple[bytes, bytes]]) -> bytes:
    return SIGNATURE + b"".join(chunk(kind, body) for kind, body in parts)


def test_a_sound_png_is_clean_and_its_facts_are_known() -> None:
    found = examined(SOUND, ".png")
    assert found.findings == ()
    assert (found.format, found.width, found.height, found.mode) == ("PNG", 160, 120, "RGB")


@given(cut=st.integers(min_value=8, max_value=len(SOUND) - 1))
def test_any_truncated_prefix_is_held(cut: int) -> None:
    assert held(SOUND[:cut], ".png")


def test_a_cut_within_the_pixels_is_called_truncated() -> None:
    assert said(truncated(SOUND), ".png") == ["image.truncated"]


def test_what_begins_as_no_chunk_does_is_damage_and_no_length() -> None:
    (finding,) = examined(SIGNATURE + b"rubbish after the signature", ".png").findings
    assert finding.code == "image.damaged"
    assert finding.message == "The PNG is wrong: no chunk begins at byte 8."


def test_a_wrong_checksum_of_the_pixels_is_damage() -> None:
    assert said(with_bad_checksum(SOUND), ".png") == ["image.damaged"]


def test_a_wrong_checksum_of_a_side_chunk_is_damage() -> None:
    parts = chunks(SOUND)
    noted = built([parts[0], (b"tEXt", b"Comment\0hello"), *parts[1:]])
    assert said(noted, ".png") == []
    assert said(with_bad_checksum(noted, b"tEXt"), ".png") == ["image.damaged"]


def test_a_broken_stream_under_fitting_checksums_is_damage() -> None:
    parts = [
        (kind, body[:200] + bytes(50) + body[250:] if kind == b"IDAT" else body)
        for kind, body in chunks(SOUND)
    ]
    assert held(built(parts), ".png")


def test_pixels_that_end_early_under_fitting_checksums_are_truncated() -> None:
    short = raw_png(10, 10, bytes(31) * 4)
    assert "image.truncated" in said(short, ".png")


def test_a_filter_that_does_not_exist_is_damage() -> None:
    rows = bytearray(bytes(31) * 10)
    rows[31 * 7] = 9
    assert "image.damaged" in said(raw_png(10, 10, bytes(rows)), ".png")
    rows[31 * 7] = 4
    assert said(raw_png(10, 10, bytes(rows)), ".png") == ["image.too-small"]


def test_a_missing_end_chunk_is_truncated() -> None:
    assert said(SOUND[:-12], ".png") == ["image.truncated"]


def test_a_stream_far_longer_than_the_header_states_is_a_bomb() -> None:
    assert "image.bomb" in said(raw_png(10, 10, bytes(31 * 10 + (4 << 20))), ".png")


def test_a_few_bytes_too_many_are_no_bomb() -> None:
    assert not held(raw_png(10, 10, bytes(31 * 10 + 100)), ".png")


def test_metadata_that_inflate_without_end_are_a_bomb() -> None:
    parts = chunks(SOUND)
    bomb = (b"zTXt", b"Comment\0\0" + zlib.compress(bytes(80 << 20), 9))
    assert said(built([parts[0], bomb, *parts[1:]]), ".png") == ["image.bomb"]


@pytest.mark.parametrize(
    ("kind", "before"), [(b"iCCP", b"x\0\0"), (b"iTXt", b"x\0\1\0en\0x\0"), (b"zTXt", b"x\0\0")]
)
def test_each_kind_of_compressed_metadata_is_measured(kind: bytes, before: bytes) -> None:
    parts = chunks(SOUND)
    bomb = (kind, before + zlib.compress(bytes(80 << 20), 9))
    assert said(built([parts[0], bomb, *parts[1:]]), ".png") == ["image.bomb"]


def test_long_compressed_metadata_are_no_bomb() -> None:
    parts = chunks(SOUND)
    text = (b"zTXt", b"Comment\0\0" + zlib.compress(bytes(4 << 20), 9))
    assert said(built([parts[0], text, *parts[1:]]), ".png") == []


def test_a_huge_picture_of_true_size_is_a_note_and_costs_no_memory() -> None:
    side = 10_000
    huge = raw_png(side, side, bytes((1 + side // 8) * side), depth=1, colour=0)
    (finding,) = examined(huge, ".png").findings
    assert (finding.code, finding.detail["pixels"]) == ("image.huge", side * side)


def test_what_is_beyond_the_budget_stays_unchecked_and_is_said() -> None:
    found = examined(SOUND, ".png", Setup(Limits(inflated_bytes=1000)))
    assert [finding.code for finding in found.findings] == ["image.huge"]
    assert "not decoded in whole" in found.findings[0].message


@pytest.mark.parametrize(
    ("width", "depth", "colour", "interlace"),
    [(0, 8, 2, 0), (1 << 31, 8, 2, 0), (10, 3, 2, 0), (10, 8, 5, 0), (10, 8, 2, 2)],
)
def test_an_impossible_header_is_undecodable(
    width: int, depth: int, colour: int, interlace: int
) -> None:
    header = struct.pack(">IIBBBBB", width, 10, depth, colour, 0, 0, interlace)
    data = built([(b"IHDR", header), (b"IDAT", zlib.compress(bytes(310))), (b"IEND", b"")])
    assert said(data, ".png") == ["image.undecodable"]


def test_pixels_before_a_header_or_without_a_palette_are_undecodable() -> None:
    assert said(built(chunks(SOUND)[1:]), ".png") == ["image.undecodable"]
    palette = png(1, mode="P")
    assert said(built([part for part in chunks(palette) if part[0] != b"PLTE"]), ".png") == [
        "image.undecodable"
    ]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_plain_modes_are_clean(mode: str) -> None:
    found = examined(png(2, mode=mode), ".png")
    assert (found.findings, found.mode) == ((), mode)


def test_interlaced_pictures_are_clean_and_their_damage_is_seen() -> None:
    pixels = np.asarray(picture(1, (33, 35), "L"))
    header = struct.pack(">IIBBBBB", 33, 35, 8, 0, 0, 0, 1)
    rows = bytearray()
    for x, y, dx, dy in (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ):
        for row in range(y, 35, dy):
            rows += b"\0" + pixels[row, x::dx].tobytes()
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows))), (b"IEND", b"")]
    assert said(built(parts), ".png") == []
    parts[1] = (b"IDAT", zlib.compress(bytes(rows[:-20])))
    assert said(built(parts), ".png") == ["image.truncated"]


def test_sixteen_bit_grey_is_noted() -> None:
    assert said(png(1, mode="I;16"), ".png") == ["image.odd-mode"]


def test_an_animated_png_is_noted_and_its_later_frames_are_checked() -> None:
    frames = [picture(seed, (64, 48)) for seed in range(3)]
    data = encoded(frames[0], "PNG", save_all=True, append_images=frames[1:])
    assert said(data, ".png") == ["image.animated"]
    parts = [(kind, body[:-40] if kind == b"fdAT" else body) for kind, body in chunks(data)]
    assert "image.truncated" in said(built(parts), ".png")


def test_an_orientation_chunk_is_noted() -> None:
    image = picture(1)
    exif = image.getexif()
    exif[0x0112] = 3
    assert said(encoded(image, "PNG", exif=exif), ".png") == ["image.exif-rotated"]


@given(rest=st.binary(max_size=100))
def test_trailing_bytes_never_hold_a_png(rest: bytes) -> None:
    assert not held(SOUND + rest, ".png")
