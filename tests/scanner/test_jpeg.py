"""JPEG: what is held, and what is only unusual."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import encoded, jpeg, picture, truncated, zeroed
from tests.scanner.recorded import examined, held, said

from sickbay.scanner import Setup
from sickbay.scanner.decode import examine
from sickbay.scanner.markers import walk

SOUND = jpeg(1)
PROGRESSIVE = jpeg(1, progressive=True)
SOS = SOUND.index(b"\xff\xda")


def test_a_sound_jpeg_is_clean_and_its_facts_are_known() -> None:
    found = examined(SOUND)
    assert found.findings == ()
    assert (found.format, found.width, found.height, found.mode) == ("JPEG", 160, 120, "RGB")
    assert found.size == len(SOUND)
    assert found.sha256 is not None
    assert len(found.sha256) == 64


@given(cut=st.integers(min_value=2, max_value=len(SOUND) - 3))
def test_any_truncated_prefix_is_held(cut: int) -> None:
    assert held(SOUND[:cut])


@given(cut=st.integers(min_value=SOS + 14, max_value=len(SOUND) - 3))
def test_a_cut_within_the_scan_is_called_truncated_with_or_without_an_end_marker(cut: int) -> None:
    assert said(SOUND[:cut]) == ["image.truncated"]
    glued = said(SOUND[:cut] + b"\xff\xd9")
    assert glued in (["image.truncated"], ["image.damaged"])


@given(rest=st.binary(max_size=300))
def test_trailing_bytes_never_hold_a_jpeg(rest: bytes) -> None:
    assert not held(SOUND + rest)


@pytest.mark.parametrize("rest", [b"\0" * 512, b"\r\n", b"SEFH and what Samsung puts there", SOUND])
def test_padding_and_known_trailers_are_not_even_mentioned(rest: bytes) -> None:
    assert said(SOUND + rest) == []


def test_other_trailing_bytes_are_noted_with_their_number() -> None:
    (finding,) = examined(SOUND + b"PK\x03\x04 an archive").findings
    assert (finding.code, finding.detail["bytes"]) == ("image.trailing-data", 15)


def test_a_missing_end_marker_alone_is_no_fault() -> None:
    assert said(SOUND[:-2]) == []
    assert said(PROGRESSIVE[:-2]) == []


@pytest.mark.parametrize("at", [0.4, 0.6, 0.8])
def test_a_zeroed_block_is_damage(at: float) -> None:
    assert said(zeroed(jpeg(2, (500, 375)), at)) == ["image.damaged"]


def test_a_progressive_jpeg_without_its_later_scans_is_truncated() -> None:
    scans = [at for at in range(len(PROGRESSIVE)) if PROGRESSIVE.startswith(b"\xff\xda", at)]
    assert said(PROGRESSIVE[: scans[3]] + b"\xff\xd9") == ["image.truncated"]
    assert said(PROGRESSIVE) == []


def test_a_scan_whose_marker_is_gone_is_damage() -> None:
    last = PROGRESSIVE.rindex(b"\xff\xda")
    assert said(PROGRESSIVE[:last] + b"\x8b" + PROGRESSIVE[last + 1 :]) == ["image.damaged"]


def test_headers_without_a_scan_are_truncated() -> None:
    assert said(SOUND[:SOS]) == ["image.truncated"]
    assert said(SOUND[:30]) == ["image.truncated"]


def test_a_header_that_states_more_than_the_file_can_hold_is_truncated() -> None:
    frame = SOUND.index(b"\xff\xc0")
    huge = SOUND[: frame + 5] + b"\xff\xff\xff\xff" + SOUND[frame + 9 :]
    assert "image.truncated" in said(huge)


def test_a_progressive_jpeg_too_large_for_memory_is_judged_by_its_markers() -> None:
    frame = PROGRESSIVE.index(b"\xff\xc2")
    size = (14_000).to_bytes(2, "big") * 2
    large = PROGRESSIVE[: frame + 5] + size + PROGRESSIVE[frame + 9 :] + bytes(400_000)
    assert said(large) == ["image.huge"]
    assert "image.truncated" in said(large[: large.rindex(b"\xff\xda")])


def test_stray_bytes_between_header_segments_are_only_unusual() -> None:
    table = SOUND.index(b"\xff\xdb")
    untidy = SOUND[:table] + b"stray" + SOUND[table:]
    assert said(untidy) == []


def test_stray_bytes_in_the_headers_do_not_hide_a_truncation() -> None:
    table = SOUND.index(b"\xff\xdb")
    untidy = SOUND[:table] + b"stray" + truncated(SOUND)[table:] + b"\xff\xd9"
    assert held(untidy)


def test_a_broken_colour_profile_is_only_unusual() -> None:
    profile = b"ICC_PROFILE\0\x07\x01broken"
    segment = b"\xff\xe2" + struct.pack(">H", len(profile) + 2) + profile
    assert said(SOUND[:2] + segment + SOUND[2:]) == []


def test_a_sequential_scan_with_progressive_parameters_is_damage() -> None:
    body = bytearray(SOUND)
    body[SOS + 12] = 5
    assert said(bytes(body)) == ["image.damaged"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (PROGRESSIVE, []),
        (jpeg(3, restart_marker_blocks=4), []),
        (jpeg(3, subsampling=0), []),
        (jpeg(3, optimize=True, quality=20), []),
        (jpeg(3, mode="CMYK"), ["image.odd-mode"]),
        (jpeg(3, mode="L"), []),
        (jpeg(3, comment=b"\xff\xd9 no end marker"), []),
        (jpeg(3, exif=b"Exif\0\0II*\0broken"), []),
        (jpeg(3, exif=b"Exif\0\0" + b"\xff" * 40), []),
    ],
)
def test_unusual_but_valid_is_never_held(data: bytes, expected: list[str]) -> None:
    assert said(data) == expected


def test_an_orientation_in_exif_is_noted() -> None:
    image = picture(4)
    exif = image.getexif()
    exif[0x0112] = 6
    assert said(encoded(image, "JPEG", exif=exif)) == ["image.exif-rotated"]


def test_a_second_picture_behind_the_first_makes_an_mpo() -> None:
    data = encoded(picture(1), "MPO", save_all=True, append_images=[picture(2)])
    found = examined(data, ".jpg")
    assert (found.format, found.findings) == ("MPO", ())


def test_rare_subsampling_is_judged_by_a_full_decode() -> None:
    odd = bytearray(jpeg(1, (8, 8), subsampling=0, quality=50))
    frame = odd.index(b"\xff\xc0")
    assert odd[frame + 11] == 0x11
    odd[frame + 11] = 0x31  # one picture of 8 x 8 in units of 24 x 8: two blocks are missing
    assert held(bytes(odd))


def test_an_end_marker_inside_a_header_segment_does_not_end_the_walk() -> None:
    data = jpeg(3, comment=b"\xff\xd9")
    assert walk(data).end == len(data)


def test_a_lossless_jpeg_never_reaches_the_decoder_that_corrupts_memory() -> None:
    data = bytearray(SOUND)
    data[SOUND.index(b"\xff\xc0") + 1] = 0xC3
    assert said(bytes(data)) == ["image.unsupported"]


def test_the_careful_way_leaves_libjpeg_turbo_out_and_still_sees_truncation() -> None:
    assert examine(SOUND, ".jpg", Setup(), careful=True).findings == ()
    cut = examine(truncated(SOUND), ".jpg", Setup(), careful=True)
    assert [finding.code for finding in cut.findings] == ["image.truncated"]
