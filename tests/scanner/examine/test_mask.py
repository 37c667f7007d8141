"""Segmentation masks: what their values and sizes must be."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.pictures import encoded, jpeg, picture, png, truncated, with_bad_checksum, write
from tests.scanner.beside import PICTURE, Checked, checked
from tests.scanner.recorded import holding, scanned

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.examine.mask import counted
from sickbay.scanner.task import Setup

TWO = Setup(policy=Policy(num_classes=2))


def drawn(*values: int, size: tuple[int, int] = (160, 120), mode: str = "L") -> Image.Image:
    """A mask of 0 with a square of each value, 10 pixels a side, in a row."""
    kind = np.uint8 if mode in {"L", "P"} else np.int32 if mode == "I" else np.uint16
    pixels = np.zeros(size[::-1], dtype=kind)
    for at, value in enumerate(values):
        pixels[10:20, at * 12 : at * 12 + 10] = value
    image = Image.fromarray(pixels)
    if mode == "P":
        image = image.convert("P")
        image.frombytes(pixels.tobytes())
    return image


def read(mask: bytes | Image.Image, setup: Setup | None = None, image: bytes = PICTURE) -> Checked:
    if isinstance(mask, Image.Image):
        mask = encoded(mask, "TIFF" if mask.mode == "I" else "PNG")
    names = ("images/a.jpg", "masks/a.png")
    return checked("mask", mask, setup=setup, picture=image, names=names)


def only(made: Checked) -> Finding:
    (finding,) = made.examined.findings
    return finding


@pytest.mark.parametrize("mode", ["L", "P", "I;16", "I"])
def test_values_that_are_classes_are_sound(mode: str) -> None:
    made = read(drawn(1, mode=mode), TWO)
    assert made.all_codes == []
    assert made.examined.labels == ("0", "1")


def test_a_mask_of_background_alone_is_sound() -> None:
    assert read(drawn(), TWO).all_codes == []


def test_black_and_white_are_two_classes() -> None:
    made = read(drawn(255).convert("1"), TWO)
    assert made.all_codes == []
    assert made.examined.labels == ("0", "1")


@pytest.mark.parametrize("mode", ["L", "P", "I;16", "I"])
def test_values_beyond_the_classes_are_told_with_their_pixels(mode: str) -> None:
    finding = only(read(drawn(1, 255, 7, mode=mode), TWO))
    assert (finding.code, finding.severity) == ("label.out-of-range", Severity.BLOCK)
    assert finding.detail["values"] == {"7": 100, "255": 100}
    assert "7 (100 pixels), 255 (100 pixels)" in finding.message


def test_the_value_to_be_ignored_is_no_class_and_no_fault() -> None:
    made = read(drawn(1, 255), Setup(policy=Policy(num_classes=2, ignore_label=255)))
    assert made.all_codes == []
    assert made.examined.labels == ("0", "1")


def test_where_255_is_the_only_stranger_the_setting_is_named() -> None:
    assert "ignore_label" in only(read(drawn(1, 255), TWO)).message
    assert "ignore_label" not in only(read(drawn(1, 254, 255), TWO)).message


def test_many_strangers_are_counted() -> None:
    finding = only(read(drawn(5, 6, 7, 8, 9), TWO))
    assert "7 (100 pixels) and 2 more values" in finding.message


def test_values_that_number_things_are_no_classes() -> None:
    pixels = np.arange(160 * 120, dtype=np.uint16).reshape(120, 160)
    made = read(Image.fromarray(pixels))
    assert made.all_codes == []
    assert made.examined.labels == ()


def test_a_mask_too_large_to_decode_is_judged_by_its_size() -> None:
    mask = encoded(Image.new("L", (12_000, 9_000), 7), "PNG")
    assert read(mask, TWO).all_codes == ["annotation.size-mismatch"]


def test_fractions_are_noted_and_not_counted() -> None:
    mask = encoded(Image.fromarray(np.full((120, 160), 0.5, dtype=np.float32)), "TIFF")
    finding = only(read(mask, TWO))
    assert (finding.code, finding.message) == (
        "image.odd-mode",
        "The mask's mode is F; the loader has to turn them into classes.",
    )


def test_without_a_number_of_classes_nothing_is_out_of_range() -> None:
    made = read(drawn(1, 255))
    assert made.all_codes == []
    assert made.examined.labels == ("0", "1", "255")


def test_classes_have_the_names_of_the_policy() -> None:
    made = read(drawn(1), Setup(policy=Policy(classes=("ground", "tree", "house"))))
    assert made.examined.labels == ("ground", "tree")


def test_a_mask_of_another_size_is_told() -> None:
    finding = only(read(drawn(1, size=(120, 160))))
    assert finding.code == "annotation.size-mismatch"
    assert finding.message == "The mask is 120 x 160, the picture 160 x 120."


def test_a_mask_may_be_drawn_on_the_turned_picture() -> None:
    exif = picture(0, (160, 120)).getexif()
    exif[0x0112] = 6
    turned = jpeg(0, (160, 120), exif=exif)
    for size in ((160, 120), (120, 160)):
        assert read(drawn(1, size=size), image=turned).all_codes == ["image.exif-rotated"]
    assert "annotation.size-mismatch" in read(drawn(1, size=(60, 80)), image=turned).all_codes


@pytest.mark.parametrize(
    ("mask", "code"),
    [
        (b"", "file.empty"),
        (b"no picture", "image.undecodable"),
        (truncated(png(0, mode="L")), "image.truncated"),
        (with_bad_checksum(png(0, mode="L")), "image.damaged"),
    ],
)
def test_a_damaged_mask_is_told_at_the_mask(mask: bytes, code: str) -> None:
    finding = only(read(mask, TWO))
    assert (finding.code, finding.file) == (code, "masks/a.png")
    assert finding.severity is Severity.BLOCK


def test_a_mask_that_is_gone_is_missing() -> None:
    made = checked("mask", None, names=("images/a.jpg", "masks/a.png"))
    assert made.codes() == ["file.missing"]


def test_colours_are_only_noted() -> None:
    colours = drawn(1, 2, 3).convert("RGB")
    finding = only(read(colours, TWO))
    assert (finding.code, finding.severity) == ("image.odd-mode", Severity.NOTE)
    assert "4 colours" in finding.message


def test_a_photograph_is_no_mask() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    made = read(Image.fromarray(noise), image=jpeg(0, (400, 300)))
    assert "annotation.bad-mask" in made.all_codes


def test_jpeg_smears_the_edges_of_colours_beyond_repair() -> None:
    pixels = np.zeros((120, 160, 3), dtype=np.uint8)
    for at in range(12):
        pixels[10 * at : 10 * at + 8, 5 : 10 * at + 20] = (at * 20, 250 - at * 15, 90 + at * 5)
    mask = encoded(Image.fromarray(pixels), "JPEG", quality=75)
    made = read(mask)
    bad = [one for one in made.examined.findings if one.code == "annotation.bad-mask"]
    assert [one.severity for one in bad] == [Severity.BLOCK]


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_grey_jpeg_may_be_meant_for_a_threshold(mode: str) -> None:
    mask = encoded(drawn(255).convert(mode), "JPEG", quality=75)
    made = read(mask)
    bad = [one for one in made.examined.findings if one.code == "annotation.bad-mask"]
    assert [one.severity for one in bad] == [Severity.WARN]
    assert "label.out-of-range" not in made.all_codes


def test_faults_of_the_mask_are_told_even_where_the_picture_is_empty() -> None:
    assert read(drawn(9), TWO, image=b"").all_codes == ["file.empty", "label.out-of-range"]


@given(st.lists(st.integers(0, 255), min_size=1, max_size=64), st.sampled_from(["L", "P", "I;16"]))
def test_counts_are_those_of_the_array_a_loader_sees(values: list[int], mode: str) -> None:
    image = drawn(*values[:12], mode=mode)
    expected, counts = np.unique(np.asarray(image), return_counts=True)
    assert counted(image) == dict(zip(expected.tolist(), counts.tolist(), strict=True))


def test_a_scan_holds_the_picture_for_its_mask(tmp_path: Path) -> None:
    write(tmp_path, "images/a.jpg", PICTURE)
    write(tmp_path, "masks/a.png", encoded(drawn(255), "PNG"))
    write(tmp_path, "images/b.jpg", jpeg(1, (160, 120)))
    write(tmp_path, "masks/b.png", encoded(drawn(1), "PNG"))
    made = scanned(tmp_path, layout="masks", setup=TWO)
    assert holding(made) == {"images/a.jpg": ["label.out-of-range"]}
    assert "images/a.jpg" in made.thumbnails


def test_a_small_photograph_is_no_mask_either() -> None:
    assert "annotation.bad-mask" in read(picture(3)).all_codes
