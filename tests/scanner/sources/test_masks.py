"""Pictures with masks: which file is the mask of which."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from tests.pictures import encoded, jpeg, write
from tests.scanner.recorded import codes, scanned

from sickbay.contract.policy import Policy
from sickbay.scanner import Setup
from sickbay.scanner.sources import Found, Item, Noted, Skipped, masks
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (64, 48))


def laid(root: Path, *names: str) -> Path:
    for name in names:
        write(root, name, PICTURE)
    return root


def walked(root: Path) -> dict[str, Item]:
    items = list(masks.read(LocalTree(root), Policy()).items())
    assert [item.raw for item in items] == sorted({item.raw for item in items})
    return {item.raw.decode(): item for item in items}


PAIRS = [
    ("images/a.jpg", "masks/a.png"),
    ("images/a.jpg", "masks/a_mask.png"),
    ("img/a.b.tif", "mask/a.b.tif"),
    ("imgs/a.jpg", "masks/a_mask.gif"),
    ("pets/images/a.jpg", "pets/annotations/trimaps/a.png"),
    ("images/a.jpg", "labels/a.PNG"),
    ("images/train/a.jpg", "annotations/train/a.png"),
    ("train/images/a.jpg", "train/masks/a.bmp"),
    ("train/a.jpg", "train_masks/a_mask.gif"),
    ("train/a.png", "trainannot/a.png"),
    ("train/cats/a.png", "train_labels/cats/a_L.png"),
    ("JPEGImages/a.jpg", "SegmentationClass/a.png"),
    ("a.jpg", "a_mask.png"),
    ("deep/1_sat.jpg", "deep/1_mask.png"),
    ("image/a_image.png", "label/a_label.png"),
    (
        "leftImg8bit/train/ulm/ulm_0_leftImg8bit.png",
        "gtFine/train/ulm/ulm_0_gtFine_labelTrainIds.png",
    ),
    ("deep/down/ISIC_1.jpg", "deep/down/ISIC_1_segmentation.png"),
]


@pytest.mark.parametrize(("picture", "mask"), PAIRS)
def test_a_mask_is_found_by_its_name(tmp_path: Path, picture: str, mask: str) -> None:
    items = walked(laid(tmp_path, picture, mask))
    assert list(items) == [picture]
    item = items[picture]
    assert isinstance(item, Found)
    assert (item.side, item.kind) == (mask.encode(), "mask")
    assert item.split == ("train" if "train/" in picture else "")


@pytest.mark.parametrize(("picture", "mask"), PAIRS)
def test_the_layout_is_recognised_by_a_pair(tmp_path: Path, picture: str, mask: str) -> None:
    said = masks.recognise(Glimpse(LocalTree(laid(tmp_path, picture, mask))))
    assert said == f"{mask} has the name of a picture, as masks have"


@pytest.mark.parametrize(
    "names",
    [
        ("a.jpg", "b.jpg"),
        ("images/a.jpg",),
        ("cats/a.jpg", "dogs/a.jpg"),
        ("masks/a.png",),
        ("mask/a.jpg", "no_mask/a.jpg"),
        ("shoe.jpg", "shoe_L.jpg", "shoe_R.jpg"),
        ("a.jpg", "a_mask.jpg", "b.jpg", "c.jpg"),
    ],
)
def test_pictures_without_masks_are_not_this_layout(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert masks.recognise(Glimpse(LocalTree(laid(tmp_path, *names)))) is None


def test_a_picture_without_a_mask_is_held_and_a_mask_without_a_picture_told(tmp_path: Path) -> None:
    items = walked(laid(tmp_path, "images/a.jpg", "masks/a.png", "images/b.jpg", "masks/c.png"))
    bare, orphan = items["images/b.jpg"], items["masks/c.png"]
    assert isinstance(bare, Found)
    assert codes(bare.findings) == ["label.missing"]
    assert isinstance(orphan, Noted)
    assert codes(orphan.findings) == ["annotation.orphan"]


def test_a_mask_left_beside_where_its_picture_was_is_told_and_is_no_sample(tmp_path: Path) -> None:
    items = walked(laid(tmp_path, "a.jpg", "a_mask.png", "b_mask.png", "c.jpg"))
    left, bare = items["b_mask.png"], items["c.jpg"]
    assert isinstance(left, Noted)
    assert codes(left.findings) == ["annotation.orphan"]
    assert isinstance(bare, Found)
    apart = walked(laid(tmp_path / "apart", "images/x_mask.jpg", "images/y.jpg", "masks/y.png"))
    assert isinstance(apart["images/x_mask.jpg"], Found)


def test_what_is_no_picture_is_skipped(tmp_path: Path) -> None:
    item = walked(laid(tmp_path, "images/a.jpg", "masks/a.png", "masks/a.txt"))["masks/a.txt"]
    assert isinstance(item, Skipped)
    assert item.reason == "not a picture or its mask"


def test_what_lies_beside_masks_is_no_sample(tmp_path: Path) -> None:
    names = ["leftImg8bit/val/u/u_0_leftImg8bit.png"]
    names += [
        f"gtFine/val/u/u_0_gtFine_{kind}.png" for kind in ("color", "labelIds", "instanceIds")
    ]
    items = walked(laid(tmp_path, *names))
    assert list(items) == names[:1]


def test_pictures_of_a_test_need_no_mask(tmp_path: Path) -> None:
    items = walked(laid(tmp_path, "train/a.png", "train_masks/a.png", "test/b.png"))
    item = items["test/b.png"]
    assert isinstance(item, Found)
    assert (item.split, item.findings) == ("test", ())


CHALLENGES = [
    ("ISIC2018_Task1-2_Training_Input", "ISIC2018_Task1_Training_GroundTruth"),
    ("ISIC-2017_Validation_Data", "ISIC-2017_Validation_Part1_GroundTruth"),
    ("deep/ISBI2016_ISIC_Part1_Test_Data", "deep/ISBI2016_ISIC_Part1_Test_GroundTruth"),
]


@pytest.mark.parametrize(("inputs", "truths"), CHALLENGES)
def test_folders_of_a_challenge_belong_together_by_their_split(
    tmp_path: Path, inputs: str, truths: str
) -> None:
    pictures = [f"{inputs}/ISIC_{number}.jpg" for number in (1, 2)]
    made = [f"{truths}/ISIC_{number}_segmentation.png" for number in (1, 2)]
    other = truths.replace("Training", "Other").replace("Validation", "Training")
    laid(tmp_path, *pictures, *made, f"{inputs}/ISIC_1_superpixels.png")
    (tmp_path / other).mkdir(exist_ok=True)
    items = walked(tmp_path)
    sides = {raw: item.side for raw, item in items.items() if isinstance(item, Found)}
    assert sides == {one: two.encode() for one, two in zip(pictures, made, strict=True)}
    assert masks.recognise(Glimpse(LocalTree(tmp_path))) is not None


def test_a_truth_without_its_picture_is_an_orphan(tmp_path: Path) -> None:
    laid(tmp_path, "X_Input/a.jpg", "X_GroundTruth/a.png", "X_GroundTruth/b.png")
    assert isinstance(walked(tmp_path)["X_GroundTruth/b.png"], Noted)


@pytest.mark.parametrize(
    "names",
    [
        ["a_mask.png", "a_mask_1.png", "a_mask_2.png"],
        ["a_mask_0.png", "a_mask_1.png"],
        ["a_mask_1.png", "a_mask_2.png"],
        ["a_mask.png", "a_mask1.png"],
    ],
)
def test_a_picture_may_have_several_masks(tmp_path: Path, names: list[str]) -> None:
    items = walked(laid(tmp_path, "a.png", *names))
    assert list(items) == ["a.png"]
    item = items["a.png"]
    assert isinstance(item, Found)
    assert item.side == names[0].encode()
    assert item.given == {"masks": names[1:]}


def test_each_of_several_masks_is_checked(tmp_path: Path) -> None:
    write(tmp_path, "a.jpg", PICTURE)
    for name, size in (
        ("a_mask.png", (64, 48)),
        ("a_mask_1.png", (30, 30)),
        ("a_mask_2.png", None),
    ):
        flat = Image.new("L", size or (64, 48), 1)
        write(tmp_path, name, encoded(flat, "PNG") if size else b"")
    found = scanned(tmp_path, layout="masks").samples["a.jpg"].findings
    kept = [(one.code, one.file) for one in found if one.severity == "block"]
    assert kept == [("annotation.size-mismatch", "a_mask_1.png"), ("file.empty", "a_mask_2.png")]


ARRAYS: dict[str, tuple[npt.NDArray[Any], list[str]]] = {
    "sound": (np.ones((48, 64), np.uint8), []),
    "one plane": (np.ones((1, 48, 64), np.int64), []),
    "true or false": (np.ones((48, 64), bool), []),
    "whole fractions": (np.ones((48, 64), np.float32), []),
    "planes": (np.ones((3, 48, 64), np.float32), []),
    "size": (np.ones((64, 48), np.uint8), ["annotation.size-mismatch"]),
    "range": (np.full((48, 64), 7, np.uint8), ["label.out-of-range"]),
    "nan": (np.full((48, 64), np.nan), ["array.not-finite"]),
    "objects": (np.array([None]), ["array.unloadable"]),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_mask_may_be_an_array(tmp_path: Path, kind: str) -> None:
    values, told = ARRAYS[kind]
    buffer = io.BytesIO()
    np.save(buffer, values)
    write(tmp_path, "images/a.jpg", PICTURE)
    write(tmp_path, "masks/a.npy", buffer.getvalue())
    assert masks.recognise(Glimpse(LocalTree(tmp_path))) is not None
    setup = Setup(policy=Policy(num_classes=3))
    found = scanned(tmp_path, layout="masks", setup=setup).samples["images/a.jpg"].findings
    assert [one.code for one in found if one.severity == "block"] == told
    assert {one.file for one in found if one.severity == "block"} <= {"masks/a.npy"}


def test_an_array_without_a_picture_is_an_orphan_and_others_are_no_part(tmp_path: Path) -> None:
    laid(tmp_path, "images/a.jpg", "masks/a.npy", "masks/b.npy", "images/features.npy")
    items = walked(tmp_path)
    assert isinstance(items["masks/b.npy"], Noted)
    assert isinstance(items["images/features.npy"], Skipped)
