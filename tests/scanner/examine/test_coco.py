"""What COCO says of a picture, checked against the picture: types, geometry, which way up."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.pictures import encoded, picture, truncated, write
from tests.scanner.sources.coco_sets import (
    SQUARE,
    annotation,
    coco_set,
    findings_of_files,
    image,
    said,
    said_of,
    scan_coco,
)

from sickbay.contract.policy import Policy
from sickbay.scanner import Setup

PERSON = [{"id": 1, "name": "person", "keypoints": ["nose", "left eye", "right eye"]}]
POINTS = [10, 20, 2, 30, 40, 1, 0, 0, 0]
CROWD = {"size": [120, 160], "counts": [0, 4800, 14400]}


def codes_of(root: Path) -> set[str]:
    """Codes of the picture's findings, without what its soft shapes are remarked for."""
    return {one.code for one in scan_coco(root).samples["images/a.jpg"].findings} - {"image.blurry"}


def turned(tag: int) -> bytes:
    """A picture of 160 x 120 that asks to be turned."""
    exif = Image.Exif()
    exif[0x0112] = tag
    return encoded(picture(1), "JPEG", exif=exif)


@pytest.mark.parametrize(
    "mark",
    [
        {"bbox": [0, 0, 160, 120]},
        {"bbox": None, "segmentation": [list(SQUARE)]},
        {"bbox": [0, 0, 160.9, 121]},
        {"segmentation": [list(SQUARE)]},
        {"segmentation": []},
        {"segmentation": CROWD, "iscrowd": 1},
        {"segmentation": {"size": [120, 160], "counts": "0Pf4PR>"}, "iscrowd": 1},
        {"keypoints": POINTS, "num_keypoints": 2},
        {"keypoints": []},
        {"iscrowd": None},
        {"iscrowd": False},
    ],
)
def test_what_the_format_allows_is_silent(tmp_path: Path, mark: dict[str, Any]) -> None:
    assert said_of(tmp_path, annotation(**mark), categories=PERSON) == set()


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        ({"bbox": [10, 20, 30, 0]}, "box.not-positive"),
        ({"bbox": [10, 20, -5, 10]}, "box.not-positive"),
        ({"bbox": [140, 20, 30, 40]}, "box.outside"),
        ({"bbox": [10, 20, 30]}, "annotation.malformed"),
        ({"bbox": []}, "annotation.malformed"),
        ({"bbox": None}, "annotation.malformed"),
        ({"bbox": ["10", "20", "30", "40"]}, "annotation.malformed"),
        ({"bbox": [True, 20, 30, 40]}, "annotation.malformed"),
        ({"bbox": [None, 20, 30, 40]}, "annotation.malformed"),
        ({"bbox": {"x": 1}}, "annotation.malformed"),
        ({"bbox": "10 20 30 40"}, "annotation.malformed"),
        ({"iscrowd": "0"}, "annotation.malformed"),
        ({"iscrowd": 2}, "annotation.malformed"),
        ({"segmentation": [[10, 20]]}, "annotation.bad-polygon"),
        ({"segmentation": [[10, 20, 40, 20, 40]]}, "annotation.bad-polygon"),
        ({"segmentation": [10, 20, 40, 20, 40, 60]}, "annotation.bad-polygon"),
        ({"segmentation": [[10, 20, "40", 20, 40, 60]]}, "annotation.malformed"),
        ({"segmentation": [[[10, 20], [40, 20], [40, 60]]]}, "annotation.malformed"),
        ({"segmentation": "10 20"}, "annotation.malformed"),
        ({"segmentation": [list(SQUARE), 5]}, "annotation.malformed"),
        ({"segmentation": {"size": [120, 160], "counts": [5]}}, "annotation.bad-mask"),
        ({"segmentation": {"size": [160, 120], "counts": [19200]}}, "annotation.bad-mask"),
        ({"segmentation": {"size": [120, 160], "counts": "o" * 99}}, "annotation.bad-mask"),
        ({"segmentation": {}}, "annotation.bad-mask"),
        ({"keypoints": POINTS[:6]}, "annotation.schema-mismatch"),
        ({"keypoints": POINTS[:8]}, "annotation.malformed"),
        ({"keypoints": [*POINTS[:8], 7]}, "annotation.malformed"),
        ({"keypoints": [500, *POINTS[1:]]}, "box.outside"),
        ({"keypoints": [[10, 20, 2]] * 3}, "annotation.malformed"),
    ],
)
def test_each_fault_is_told_at_its_annotation(
    tmp_path: Path, mark: dict[str, Any], code: str
) -> None:
    found = said_of(tmp_path, annotation(**mark), annotation(2), categories=PERSON)
    assert found == {("annotation 1", code)}


def test_a_faulty_annotation_holds_its_picture(tmp_path: Path) -> None:
    sample = scan_coco(coco_set(tmp_path, annotation(bbox=[]))).samples["images/a.jpg"]
    assert sample.held
    assert (sample.width, sample.height) == (160, 120)


def test_a_box_given_twice_is_told_at_the_second(tmp_path: Path) -> None:
    marks = [annotation(n, bbox=[5, 5, 20, 20], category_id=1 + n // 3) for n in range(1, 4)]
    assert said_of(tmp_path, *marks) == {("annotation 2", "box.duplicate")}


def test_the_tolerance_is_the_policys(tmp_path: Path) -> None:
    root = coco_set(tmp_path, annotation(bbox=[0, 0, 170, 120]))
    lenient = Setup(policy=Policy(box_tolerance=10))
    assert said(scan_coco(root)) == {("annotation 1", "box.outside")}
    assert said(scan_coco(root, setup=lenient)) == set()


@pytest.mark.parametrize(
    ("tag", "size", "box", "codes"),
    [
        (6, (120, 160), [60, 100, 50, 50], set()),
        (6, (160, 120), [100, 60, 50, 50], {"image.exif-rotated"}),
        (6, (120, 160), [100, 60, 50, 50], {"box.outside"}),
        (3, (160, 120), [100, 60, 50, 50], {"image.exif-rotated"}),
        (3, (120, 160), [5, 5, 50, 50], {"image.exif-rotated", "annotation.size-mismatch"}),
        (6, None, [100, 60, 50, 50], {"image.exif-rotated"}),
        (6, None, [60, 100, 50, 50], {"image.exif-rotated"}),
    ],
)
def test_a_turned_picture_is_judged_the_way_its_size_is_stated(
    tmp_path: Path, tag: int, size: tuple[int, int] | None, box: list[int], codes: set[str]
) -> None:
    width, height = size or (None, None)
    entry = image(width=width, height=height)
    coco_set(tmp_path, annotation(bbox=box), images=[entry])
    write(tmp_path, "images/a.jpg", turned(tag))
    assert codes_of(tmp_path) == codes


def test_another_stated_size_is_the_fault_and_not_every_box(tmp_path: Path) -> None:
    entry = image(width=1600, height=1200)
    found = said_of(tmp_path, annotation(bbox=[900, 900, 90, 90]), images=[entry])
    assert found == {("image 1", "annotation.size-mismatch")}


def test_annotations_of_a_damaged_picture_are_checked_all_the_same(tmp_path: Path) -> None:
    coco_set(tmp_path, annotation(bbox=[10, 20, 30, 0]))
    write(tmp_path, "images/a.jpg", truncated((tmp_path / "images/a.jpg").read_bytes()))
    assert codes_of(tmp_path) == {"image.truncated", "box.not-positive"}


def test_a_finding_carries_its_box_for_the_page_to_draw(tmp_path: Path) -> None:
    found = scan_coco(coco_set(tmp_path, annotation(bbox=[140, 20, 30.123, 40])))
    (finding,) = findings_of_files(found)
    assert finding.detail["box"] == [140, 20, 30.12, 40]


@pytest.mark.parametrize(
    ("caption", "told"), [("a cat", []), ("", ["text.empty"]), (" ", ["text.empty"])]
)
def test_a_caption_says_something(tmp_path: Path, caption: str, told: list[str]) -> None:
    assert said_of(tmp_path, annotation(caption=caption)) == {("annotation 1", one) for one in told}
