"""COCO: every picture gets what the files say of it, in whatever order they say it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.pictures import jpeg, write
from tests.scanner.recorded import scanned
from tests.scanner.sources.coco_sets import (
    annotation,
    coco,
    coco_set,
    image,
    said,
    said_of,
    scan_coco,
    splits,
)

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner import Setup
from sickbay.scanner.sources import coco as layout
from sickbay.scanner.sources import layouts
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees.local import LocalTree


def test_a_sound_set_is_clean(tmp_path: Path) -> None:
    found = scan_coco(coco_set(tmp_path, annotation(1), annotation(2, category_id=2)))
    assert said(found) == set()
    assert (found.totals.found, found.totals.clean) == (1, 1)
    assert found.header_record
    assert found.header_record.classes == ("cat", "dog")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_the_order_of_the_three_lists_makes_no_difference(
    tmp_path: Path, order: tuple[int, int, int]
) -> None:
    names = ("images", "annotations", "categories")
    whole = coco([annotation(1), annotation(2, category_id=7), annotation(3, image_id=9)])
    text = json.dumps({"info": {}, **{names[at]: whole[names[at]] for at in order}})
    write(tmp_path, "images/a.jpg", jpeg(1))
    write(tmp_path, "annotations.json", text.encode())
    assert said(scan_coco(tmp_path)) == {
        ("annotation 2", "label.unknown-class"),
        ("annotation 3", "annotation.orphan"),
    }


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_what_the_lost_rest_of_a_cut_file_may_hold_is_not_missed(
    tmp_path: Path, order: tuple[int, int, int]
) -> None:
    names = ("images", "annotations", "categories")
    whole = coco([annotation(1), annotation(2, bbox=[5, 5, 0, 5])])
    text = json.dumps({names[at]: whole[names[at]] for at in order})
    write(tmp_path, "images/a.jpg", jpeg(1))
    write(tmp_path, "annotations.json", text[: text.index(f'"{names[order[2]]}"')].encode())
    found = {(None, "annotation.malformed"), ("annotation 2", "box.not-positive")}
    assert said(scan_coco(tmp_path)) == (
        found if order[0] == 0 else {(None, "annotation.malformed")}
    )


def test_a_picture_that_lies_nowhere_is_missing_at_the_image_that_names_it(tmp_path: Path) -> None:
    images = [image(2, "gone.jpg"), image(1)]
    found = scan_coco(coco_set(tmp_path, annotation(1), images=images))
    assert said(found) == {("image 2", "file.missing")}
    assert list(found.samples) == ["images/a.jpg", "images/gone.jpg"]
    assert found.samples["images/gone.jpg"].held


def test_an_image_without_annotations_is_background(tmp_path: Path) -> None:
    found = scan_coco(coco_set(tmp_path))
    assert (found.totals.clean, found.samples["images/a.jpg"].label) == (1, "")


def test_what_no_file_lists_is_left_out_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, "images/b.jpg", b"not even a picture")
    write(tmp_path, "README.md", b"about")
    found = scan_coco(coco_set(tmp_path, annotation()))
    assert found.totals.reasons == {"not listed": 2}
    assert found.totals.found == 3


def test_the_label_is_the_class_where_all_objects_have_one(tmp_path: Path) -> None:
    for names, label in (((1, 1), "cat"), ((1, 2), "")):
        marks = [annotation(n, category_id=one) for n, one in enumerate(names, start=1)]
        assert scan_coco(coco_set(tmp_path, *marks)).samples["images/a.jpg"].label == label


def test_objects_are_counted_by_class(tmp_path: Path) -> None:
    marks = [annotation(n, category_id=1 + n % 2) for n in range(5)]
    found = scan_coco(coco_set(tmp_path, *marks, file="instances_train2017.json"))
    assert found.totals.labels == {"train": {"cat": 3, "dog": 2}}


def test_classes_are_in_the_order_of_their_ids(tmp_path: Path) -> None:
    categories = [{"id": 10, "name": "z"}, {"id": 9, "name": "y"}, {"id": "1", "name": "x"}]
    found = scan_coco(coco_set(tmp_path, categories=categories))
    assert found.header_record
    assert found.header_record.classes == ("y", "z", "x")


@pytest.mark.parametrize(
    ("file", "folder", "split"),
    [
        ("annotations/instances_train2017.json", "train2017", "train"),
        ("annotations/person_keypoints_val2017.json", "images/val2017", "val"),
        ("train/_annotations.coco.json", "train", "train"),
        ("annotations/valid.json", "images", "val"),
        ("deep/coco/annotations/test.json", "deep/coco/images/test", "test"),
        ("deep/coco/annotations/all.json", "deep/coco/images", ""),
        ("annotations/trainer.json", "images", ""),
    ],
)
def test_the_split_is_in_the_name_of_the_file_or_its_folder(
    tmp_path: Path, file: str, folder: str, split: str
) -> None:
    write(tmp_path, f"{folder}/a.jpg", jpeg(1))
    write(tmp_path, "elsewhere/a.jpg", jpeg(2))
    write(tmp_path, file, json.dumps(coco([annotation()])).encode())
    found = scan_coco(tmp_path)
    assert splits(found) == {f"{folder}/a.jpg": split}
    assert found.totals.clean == 1


def test_one_file_of_pictures_in_folders_named_for_splits_has_splits(tmp_path: Path) -> None:
    for name in ("train/a.jpg", "val/b.jpg"):
        write(tmp_path, name, jpeg(len(name)))
    images = [image(1, "train/a.jpg"), image(2, "val/b.jpg")]
    write(tmp_path, "all.json", json.dumps(coco(images=images)).encode())
    assert splits(scan_coco(tmp_path)) == {"train/a.jpg": "train", "val/b.jpg": "val"}


def test_two_splits_with_the_same_names_of_pictures_keep_their_own(tmp_path: Path) -> None:
    for seed, split in enumerate(("train", "val")):
        write(tmp_path, f"{split}2017/1.jpg", jpeg(seed))
        text = json.dumps(coco([annotation()], images=[image(1, "1.jpg")]))
        write(tmp_path, f"annotations/instances_{split}2017.json", text.encode())
    found = scan_coco(tmp_path)
    assert splits(found) == {"train2017/1.jpg": "train", "val2017/1.jpg": "val"}
    assert said(found) == set()


def test_a_picture_listed_for_two_splits_leaks(tmp_path: Path) -> None:
    coco_set(tmp_path, annotation(), file="train.json")
    found = scan_coco(coco_set(tmp_path, annotation(), file="val.json"))
    assert said(found) == {("image 1", "set.split-leak")}


def test_boxes_and_keypoints_of_the_same_pictures_in_two_files_are_no_fault(tmp_path: Path) -> None:
    coco_set(tmp_path, annotation(), file="instances_train2017.json")
    found = scan_coco(coco_set(tmp_path, annotation(), file="person_keypoints_train2017.json"))
    assert (said(found), found.totals.clean) == (set(), 1)


def test_a_class_that_is_another_one_in_another_file_is_told(tmp_path: Path) -> None:
    coco_set(tmp_path, annotation(), file="a_train.json")
    categories = [{"id": 1, "name": "dog"}, {"id": 2, "name": "dog"}]
    found = scan_coco(coco_set(tmp_path, annotation(), file="b_train.json", categories=categories))
    assert said(found) == {("category 1", "annotation.schema-mismatch")}
    (finding,) = found.files["b_train.json"].findings
    assert finding.message == "It is 'dog' here and 'cat' in a_train.json."


@pytest.mark.parametrize(
    ("marks", "images", "expected"),
    [
        ([annotation(1), annotation(1, bbox=[5, 5, 9, 9])], [image()], "annotation 1"),
        ([], [image(1, "a.jpg"), image(1, "b.jpg")], "image 1"),
        ([], [image(1, "a.jpg"), image(2, "a.jpg")], "image 2"),
        ([], [image(1, "a.jpg"), image(1, "images/a.jpg")], "image 1"),
    ],
)
def test_what_is_given_twice_is_told_once(
    tmp_path: Path, marks: list[Any], images: list[Any], expected: str
) -> None:
    write(tmp_path, "images/b.jpg", jpeg(2))
    found = said_of(tmp_path, *marks, images=images)
    assert found == {(expected, "annotation.malformed")}


@pytest.mark.parametrize(
    ("mark", "item", "code"),
    [
        ({"image_id": 99}, "annotation 1", "annotation.orphan"),
        ({"image_id": "1"}, "annotation 1", "annotation.orphan"),
        ({"image_id": None}, "annotation 1", "annotation.schema-mismatch"),
        ({"image_id": [1]}, "annotation 1", "annotation.schema-mismatch"),
        ({"image_id": True}, "annotation 1", "annotation.schema-mismatch"),
        ({"id": None}, "object 1", "annotation.schema-mismatch"),
        ({"id": 10**30}, "object 1", "annotation.schema-mismatch"),
        ({"category_id": 7}, "annotation 1", "label.unknown-class"),
        ({"category_id": "1"}, "annotation 1", "label.wrong-type"),
        ({"category_id": [1]}, "annotation 1", "label.wrong-type"),
        ({"category_id": True}, "annotation 1", "label.wrong-type"),
        ({"category_id": None}, "annotation 1", "label.missing"),
    ],
)
def test_ids_that_lead_nowhere_are_told_at_the_annotation(
    tmp_path: Path, mark: dict[str, Any], item: str, code: str
) -> None:
    assert said_of(tmp_path, annotation(**{"identity": 1, **mark}) | mark) == {(item, code)}


def test_numbers_are_the_same_id_whether_whole_or_not(tmp_path: Path) -> None:
    assert said_of(tmp_path, annotation(1, image_id=1.0, category_id=2.0)) == set()


def test_captions_and_panoptic_entries_need_no_class_of_their_own(tmp_path: Path) -> None:
    caption = {"id": 1, "image_id": 1, "caption": "a cat"}
    panoptic = {"image_id": 1, "file_name": "a.png", "segments_info": []}
    assert said_of(tmp_path, caption, panoptic, categories=[]) == set()


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (image(1, "/etc/passwd"), "file.unsafe-path"),
        (image(1, "../../a.jpg"), "file.unsafe-path"),
        (image(1, "a\0.jpg"), "file.unsafe-path"),
        (image(1, "annotations.json"), "file.unsafe-path"),
        (image(1, None), "annotation.schema-mismatch"),
        (image(1, 5), "annotation.schema-mismatch"),
        (image(1, width="160"), "annotation.malformed"),
        (image(1, width=0), "annotation.malformed"),
        (image(1, height=None), "annotation.malformed"),
        (image(1, height=1e300), "annotation.malformed"),
        (image(1, width=320), "annotation.size-mismatch"),
    ],
)
def test_faults_of_an_image_are_told_at_it(
    tmp_path: Path, entry: dict[str, Any], code: str
) -> None:
    assert said_of(tmp_path, images=[entry]) == {("image 1", code)}


def test_sizes_written_with_a_point_are_sizes(tmp_path: Path) -> None:
    assert said_of(tmp_path, images=[image(width=160.0, height=120.0)]) == set()


@pytest.mark.parametrize("name", ["images/a.jpg", "./images/a.jpg", "a.jpg", "other/a.jpg"])
def test_pictures_are_found_from_wherever_names_were_written(tmp_path: Path, name: str) -> None:
    found = scan_coco(coco_set(tmp_path, annotation(), images=[image(1, name)]))
    assert found.totals.clean == 1


def test_an_image_may_name_its_picture_by_an_address_alone(tmp_path: Path) -> None:
    write(tmp_path, "train2017/a.jpg", jpeg(1))
    entry = image() | {"coco_url": "http://images.example.org/train2017/a.jpg"}
    del entry["file_name"]
    write(tmp_path, "lvis_v1_train.json", json.dumps(coco([annotation()], [entry])).encode())
    found = scan_coco(tmp_path)
    assert (list(found.samples), found.totals.clean) == (["train2017/a.jpg"], 1)


def test_the_policy_says_which_classes_there_are(tmp_path: Path) -> None:
    root = coco_set(tmp_path, annotation(1), annotation(2, category_id=2))
    by_name = scan_coco(root, setup=Setup(policy=Policy(classes=("cat", "bird"))))
    by_number = scan_coco(root, setup=Setup(policy=Policy(num_classes=1)))
    assert said(by_name) == {("annotation 2", "label.unknown-class")}
    assert said(by_number) == {("annotation 2", "label.out-of-range")}


def test_a_folder_without_a_coco_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    write(tmp_path, "a.jpg", jpeg(1))
    write(tmp_path, "other.json", b'{"name": [1]}')
    with pytest.raises(BadInput, match="lists images and annotations as COCO does"):
        scan_coco(tmp_path)


def test_other_json_beside_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "package.json", b'{"name": "x"}')
    found = scan_coco(coco_set(tmp_path, annotation()))
    assert found.totals.reasons == {"not listed": 1}
    assert found.files == {}


def test_a_coco_file_is_recognised_by_what_it_holds(tmp_path: Path) -> None:
    for name, data in (
        ("a/long.json", json.dumps({"info": "x", "images": [image(n) for n in range(2000)]})),
        ("b/short.json", "\ufeff" + json.dumps(coco())),
    ):
        root = tmp_path / name[0]
        write(root, name, data.encode())
        said_why = layout.recognise(Glimpse(LocalTree(root)))
        assert said_why == f"{name} lists images and annotations"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"images": 5}', b"\xff\xfe{\0", b'{"a": 1'])
def test_other_json_is_not_recognised(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, "some.json", data)
    assert layout.recognise(Glimpse(LocalTree(tmp_path))) is None


def test_the_layout_is_one_of_those_that_can_be_named() -> None:
    assert layouts.layout("coco") is layout


def test_the_same_set_gives_the_same_records_from_many_processes(tmp_path: Path) -> None:
    marks = [annotation(n, image_id=1 + n % 9, bbox=[n, 5, 200, 10]) for n in range(60)]
    images = [image(n, f"{n}.jpg") for n in range(1, 9)]
    for one in images:
        write(tmp_path, f"images/{one['file_name']}", jpeg(one["id"]))
    root = coco_set(tmp_path, *marks, images=images)
    alone, both = (scanned(root, layout="coco", workers=workers) for workers in (1, 2))
    assert alone.samples == both.samples
    assert (alone.files, alone.summary) == (both.files, both.summary)
