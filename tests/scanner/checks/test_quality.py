"""Remarks on how a picture looks."""

import pytest
from PIL import Image, ImageFilter
from tests.pictures import encoded, picture

from sickbay.contract.policy import Policy
from sickbay.scanner.decode import examine
from sickbay.scanner.task import Setup

SIZE = (320, 240)
FINE = picture(1, SIZE)


def said(image: Image.Image, **policy: float) -> list[tuple[str, str]]:
    found = examine(encoded(image, "PNG"), ".png", Setup(policy=Policy.from_json(policy)))
    return [(finding.code, finding.severity) for finding in found.findings]


def test_an_ordinary_picture_gets_no_remark() -> None:
    assert said(FINE) == []


@pytest.mark.parametrize(
    ("image", "code"),
    [
        (FINE.point(lambda value: value // 4), "image.dark"),
        (FINE.point(lambda value: 249 + value // 40), "image.light"),
        (FINE.filter(ImageFilter.GaussianBlur(20)), "image.blurry"),
        (Image.new("RGB", SIZE, (90, 140, 60)), "image.low-information"),
        (FINE.resize((400, 90)), "image.odd-aspect"),
    ],
)
def test_what_looks_poor_is_a_note_that_holds_nothing(image: Image.Image, code: str) -> None:
    assert (code, "note") in said(image)
    assert {severity for _, severity in said(image)} == {"note"}


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("dark_below", 1.0, "image.dark"),
        ("light_above", 0.0, "image.light"),
        ("blurry_below", 1.0, "image.blurry"),
        ("low_information_below", 1.0, "image.low-information"),
        ("odd_aspect_beyond", 1.2, "image.odd-aspect"),
    ],
)
def test_the_policy_says_where_a_remark_begins(key: str, value: float, code: str) -> None:
    assert said(FINE, **{key: value}) == [(code, "note")]


def test_a_remark_tells_its_value_and_the_limit() -> None:
    image = encoded(FINE.point(lambda value: value // 4), "PNG")
    dark = next(f for f in examine(image, ".png", Setup()).findings if f.code == "image.dark")
    assert dark.detail["value"] < dark.detail["limit"] == Policy().dark_below
    assert str(dark.detail["value"]) in dark.message


def test_of_a_very_small_picture_only_its_size_is_remarked() -> None:
    assert said(Image.new("RGB", (20, 20))) == [("image.too-small", "note")]


def test_a_policy_that_wants_no_remarks_gets_none_and_no_traits() -> None:
    codes = (*("dark", "light", "blurry", "low-information"), "near-duplicate")
    silent = {f"image.{name}": "silent" for name in codes} | {"set.drift": "silent"}
    dark = encoded(FINE.point(lambda value: value // 4), "PNG")
    found = examine(dark, ".png", Setup(policy=Policy(severities=silent)))
    assert (found.findings, found.traits) == ((), None)
