"""YOLO data sets: where label files, classes and splits are found."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.pictures import jpeg, truncated, write
from tests.scanner.recorded import codes, holding, scanned

from sickbay.contract.policy import Policy
from sickbay.scanner.sources import Found, Item, Noted, Skipped, yolo
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (64, 48))
ROW = b"0 0.5 0.5 0.2 0.2\n"


def laid(root: Path, files: Mapping[str, bytes | str]) -> Path:
    for name, data in files.items():
        write(root, name, data.encode() if isinstance(data, str) else data)
    return root


def walked(root: Path) -> dict[str, Item]:
    items = list(yolo.read(LocalTree(root), Policy()).items())
    assert [item.raw for item in items] == sorted({item.raw for item in items})
    return {item.raw.decode(): item for item in items}


def found(root: Path) -> dict[str, Found]:
    return {name: item for name, item in walked(root).items() if isinstance(item, Found)}


def splits(root: Path) -> dict[str, str]:
    return {name: item.split for name, item in found(root).items()}


def noted(root: Path) -> dict[str, list[str]]:
    items = walked(root).items()
    return {name: codes(item.findings) for name, item in items if isinstance(item, Noted)}


def classes(root: Path) -> tuple[str, ...]:
    source = yolo.read(LocalTree(root), Policy())
    list(source.items())
    return source.classes


@pytest.mark.parametrize(
    ("picture", "label"),
    [
        ("images/a.jpg", "labels/a.txt"),
        ("images/train/a.jpg", "labels/train/a.txt"),
        ("train/images/a.b.jpg", "train/labels/a.b.txt"),
        ("train/images/deep/images/a.jpg", "train/images/deep/labels/a.txt"),
        ("JPEGImages/a.png", "labels/a.txt"),
        ("set/a.jpg", "set/a.txt"),
        ("a.jpg", "a.txt"),
        ("images/a.jpg", "images/a.txt"),
    ],
)
def test_a_label_file_is_found_where_trainers_look(
    tmp_path: Path, picture: str, label: str
) -> None:
    items = walked(laid(tmp_path, {picture: PICTURE, label: ROW}))
    assert list(items) == [picture]
    item = items[picture]
    assert isinstance(item, Found)
    assert item.side == label.encode()


def test_a_label_file_without_a_picture_is_told_and_no_sample(tmp_path: Path) -> None:
    laid(tmp_path, {"images/a.jpg": PICTURE, "labels/a.txt": ROW, "labels/b.txt": ROW})
    assert noted(tmp_path) == {"labels/b.txt": ["annotation.orphan"]}
    assert list(found(tmp_path)) == ["images/a.jpg"]


def test_other_files_are_skipped_or_read_as_what_they_are(tmp_path: Path) -> None:
    files = {"images/a.jpg": PICTURE, "labels/a.txt": ROW, "labels/classes.txt": b"cat\ndog\n"}
    more = {"README.txt": b"text", "labels/train.cache": b"x", "notes/x.json": b"{}"}
    items = walked(laid(tmp_path, {**files, **more, ".hidden": b""}))
    reasons = {name: one.reason for name, one in items.items() if isinstance(one, Skipped)}
    assert set(reasons) == {".hidden", "README.txt", "labels/train.cache", "notes/x.json"}
    assert reasons["README.txt"] == "not a picture or its label file"
    assert classes(tmp_path) == ("cat", "dog")


@pytest.mark.parametrize(
    ("files", "split"),
    [
        (["images/train/a.jpg"], "train"),
        (["images/val2017/a.jpg"], "val"),
        (["valid/images/a.jpg"], "val"),
        (["test/a.jpg"], "test"),
        (["images/other/a.jpg"], ""),
    ],
)
def test_without_a_description_folders_tell_the_split(
    tmp_path: Path, files: list[str], split: str
) -> None:
    assert splits(laid(tmp_path, dict.fromkeys(files, PICTURE))) == dict.fromkeys(files, split)


@pytest.mark.parametrize(
    "yaml",
    [
        "train: images/one\nval: images/two\nnames: [cat, dog]\n",
        "path: ../datasets/mine\ntrain: images/one\nval: images/two\nnames: {0: cat, 1: dog}\n",
        "train: ../images/one\nval: ../images/two\nnc: 2\nnames: ['cat', 'dog']\n",
        "train: /home/anna/set/images/one\nval: C:\\set\\images\\two\nnames:\n  0: cat\n  1: dog\n",
        "train: [images/one, images/none]\nval:\n  - images/two/\nnames: [cat, dog]\n",
    ],
)
def test_a_description_tells_splits_and_classes(tmp_path: Path, yaml: str) -> None:
    laid(tmp_path, {"images/one/a.jpg": PICTURE, "images/two/b.jpg": PICTURE, "data.yaml": yaml})
    assert splits(tmp_path) == {"images/one/a.jpg": "train", "images/two/b.jpg": "val"}
    assert classes(tmp_path) == ("cat", "dog")


def test_a_description_of_another_name_is_found_by_its_classes(tmp_path: Path) -> None:
    laid(tmp_path, {"a.yaml": "x: 1\n", "coco8.yaml": "names: [cat]\n", "images/a.jpg": PICTURE})
    assert classes(tmp_path) == ("cat",)


def test_lists_tell_the_split_line_by_line(tmp_path: Path) -> None:
    lists = {
        "train.txt": "\ufeff./images/a.jpg\r\n\r\nimages/b.jpg\n",
        "val.txt": "/elsewhere/images/c.jpg\n",
        "data.yaml": "train: train.txt\nval: val.txt\nnames: [cat]\n",
    }
    pictures = {f"images/{name}.jpg": PICTURE for name in "abcd"}
    laid(tmp_path, {**pictures, **lists, "val.txt": f"{tmp_path}/images/c.jpg\n"})
    assert splits(tmp_path) == {
        "images/a.jpg": "train",
        "images/b.jpg": "train",
        "images/c.jpg": "val",
        "images/d.jpg": "",
    }


def test_lists_at_the_top_count_without_a_description(tmp_path: Path) -> None:
    laid(tmp_path, {"images/a.jpg": PICTURE, "train.txt": "images/a.jpg\n"})
    assert splits(tmp_path) == {"images/a.jpg": "train"}


def test_what_a_list_names_and_is_not_there_is_missing_at_its_line(tmp_path: Path) -> None:
    laid(tmp_path, {"images/a.jpg": PICTURE, "train.txt": "images/a.jpg\nimages/b.jpg\n"})
    made = scanned(tmp_path, layout="yolo")
    (finding,) = made.samples["images/b.jpg"].findings
    assert (finding.code, finding.file, finding.item) == ("file.missing", "train.txt", "line 2")
    assert made.totals.held == 1


def test_a_picture_listed_for_two_splits_is_a_leak(tmp_path: Path) -> None:
    laid(
        tmp_path, {"images/a.jpg": PICTURE, "train.txt": "images/a.jpg", "val.txt": "images/a.jpg"}
    )
    made = scanned(tmp_path, layout="yolo")
    assert made.codes("images/a.jpg") == ["set.split-leak"]
    assert made.samples["images/a.jpg"].split == "train"


def test_a_path_that_leaves_the_data_set_is_told_at_its_line(tmp_path: Path) -> None:
    laid(tmp_path, {"images/a.jpg": PICTURE, "train.txt": "../../etc/passwd\n/etc/passwd\n"})
    assert noted(tmp_path) == {"train.txt": ["file.unsafe-path", "file.unsafe-path"]}


def test_a_list_of_endless_lines_is_read_in_bounded_memory(tmp_path: Path) -> None:
    laid(tmp_path, {"images/a.jpg": PICTURE, "train.txt": b"x" * 3_000_000 + b"\nimages/a.jpg\n"})
    assert splits(tmp_path) == {"images/a.jpg": "train"}
    assert noted(tmp_path) == {"train.txt": ["file.unsafe-path"]}


@pytest.mark.parametrize(
    ("yaml", "code", "detail"),
    [
        (b"names: [cat\nnc: 1\n", "annotation.malformed", {"line": 2, "byte": 14}),
        (b"names: [c\xe4t]\n", "annotation.malformed", {"line": 1, "byte": 9}),
        (
            b"a: &a [x, x]\nb: [*a, *a]\nnames: [cat]\n",
            "annotation.malformed",
            {"line": 2, "byte": 17},
        ),
        (b"names: !!python/object/apply:os.system ['true']\n", "annotation.malformed", None),
        (b"names: [" + b"[" * 5000, "annotation.malformed", None),
        (b"x" * ((1 << 20) + 1), "annotation.malformed", {}),
        (b"nc: " + b"9" * 5000 + b"\n", "annotation.malformed", {}),
        (b"names: \x00\n", "annotation.malformed", None),
        (b"- a\n- b\n", "annotation.schema-mismatch", {}),
        (b"nc: 3\nnames: [cat, dog]\n", "annotation.schema-mismatch", {}),
        (b"nc: 3\nnames: [cat]\n", "annotation.schema-mismatch", {}),
        (b"names: {0: cat, 2: dog}\n", "annotation.schema-mismatch", {}),
        (b"names: {cat: 0}\n", "annotation.schema-mismatch", {}),
        (b"names: cat\n", "annotation.schema-mismatch", {}),
        (b"train: none\nnames: [cat]\n", "file.missing", {}),
    ],
)
def test_a_broken_description_is_one_finding_and_pictures_are_scanned(
    tmp_path: Path, yaml: bytes, code: str, detail: dict[str, int] | None
) -> None:
    laid(tmp_path, {"data.yaml": yaml, "images/a.jpg": PICTURE})
    assert noted(tmp_path) == {"data.yaml": [code]}
    assert list(found(tmp_path)) == ["images/a.jpg"]
    item = walked(tmp_path)["data.yaml"]
    assert isinstance(item, Noted)
    assert detail is None or item.findings[0].detail == detail


@pytest.mark.parametrize(
    ("yaml", "where"),
    [
        ("train: images\nval: images\n", "'images'"),
        ("train: images\nval: images/val\n", "'images' and 'images/val'"),
        ("train: images/train\nval: .\n", "'images/train' and '.'"),
    ],
)
def test_a_folder_that_training_shares_is_told_once(tmp_path: Path, yaml: str, where: str) -> None:
    files: dict[str, bytes | str] = {"data.yaml": f"{yaml}names: [cat]\n"}
    laid(tmp_path, files | {"images/train/a.jpg": PICTURE, "images/val/b.jpg": PICTURE})
    item = walked(tmp_path)["data.yaml"]
    assert isinstance(item, Noted)
    (finding,) = item.findings
    assert (finding.code, finding.item) == ("set.split-leak", "val")
    assert finding.message == f"train and val share pictures: both read {where}."


def test_a_test_on_the_validation_folder_is_no_fault(tmp_path: Path) -> None:
    yaml = "train: images/train\nval: images/val\ntest: images/val\nnames: [cat]\n"
    laid(tmp_path, {"data.yaml": yaml, "images/train/a.jpg": PICTURE, "images/val/b.jpg": PICTURE})
    assert noted(tmp_path) == {}


def test_a_missing_test_split_is_no_fault(tmp_path: Path) -> None:
    yaml = "train: images\ntest: test/images\nnames: [no, 1, 2.5]\n"
    laid(tmp_path, {"data.yaml": yaml, "images/a.jpg": PICTURE})
    assert noted(tmp_path) == {}
    assert splits(tmp_path) == {"images/a.jpg": "train"}
    assert classes(tmp_path) == ("False", "1", "2.5")


def test_a_scan_holds_a_picture_for_its_labels(tmp_path: Path) -> None:
    files = {"data.yaml": b"names: [cat, dog]\n", "labels/a.txt": ROW + b"2 0.5 0.5 0.2 0.2\n"}
    whole = {"images/a.jpg": PICTURE, "images/b.jpg": jpeg(1), "images/c.jpg": truncated(jpeg(2))}
    made = scanned(laid(tmp_path, {**files, **whole, "labels/b.txt": ROW}), layout="yolo")
    assert holding(made) == {
        "images/a.jpg": ["label.out-of-range"],
        "images/c.jpg": ["image.truncated"],
    }
    assert made.header_record is not None
    assert made.header_record.classes == ("cat", "dog")


def test_keypoints_of_the_description_reach_the_rows(tmp_path: Path) -> None:
    yaml = b"names: [person]\nkpt_shape: [1, 3]\n"
    files = {"images/a.jpg": PICTURE, "labels/a.txt": ROW, "data.yaml": yaml}
    made = scanned(laid(tmp_path, files), layout="yolo")
    assert made.codes("images/a.jpg") == ["label.malformed"]


def test_a_label_that_leads_out_of_the_data_set_is_not_read(tmp_path: Path) -> None:
    root = laid(tmp_path / "root", {"images/a.jpg": PICTURE})
    write(tmp_path, "secret.txt", b"secret")
    (root / "labels").mkdir()
    (root / "labels/a.txt").symlink_to("../../secret.txt")
    made = scanned(root, layout="yolo")
    (finding,) = made.samples["images/a.jpg"].findings
    assert (finding.code, finding.file) == ("file.unsafe-path", "labels/a.txt")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["data.yaml"], "data.yaml names classes"),
        (["images/a.jpg", "labels/a.txt"], "labels/a.txt has the name of a picture in images"),
        (["a.jpg", "a.txt"], "a.txt has rows"),
        (["images/a.jpg"], None),
        (["labels/a.txt"], None),
    ],
)
def test_the_layout_is_recognised(tmp_path: Path, files: list[str], why: str | None) -> None:
    contents = {".yaml": b"names: [cat]\n", ".txt": ROW, ".jpg": PICTURE}
    laid(tmp_path, {name: contents[Path(name).suffix] for name in files})
    said = yolo.recognise(Glimpse(LocalTree(tmp_path)))
    assert said is None if why is None else why in str(said)


def test_captions_beside_pictures_are_no_labels(tmp_path: Path) -> None:
    laid(tmp_path, {"a.jpg": PICTURE, "a.txt": "a cat on a mat\n"})
    assert yolo.recognise(Glimpse(LocalTree(tmp_path))) is None


@pytest.mark.parametrize("name", ["train.txt", "data.yaml"])
def test_a_list_or_description_that_leads_out_is_not_read(tmp_path: Path, name: str) -> None:
    root = laid(tmp_path / "root", {"images/a.jpg": PICTURE})
    write(tmp_path, "secret", b"images/a.jpg")
    (root / name).symlink_to("../secret")
    assert noted(root) == {name: ["file.unsafe-path"]}
    assert splits(root) == {"images/a.jpg": ""}


def test_names_that_are_not_utf_8_pair_as_well(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    for name in (b"images/\xff.jpg", b"labels/\xff.txt", b"labels/\xfe.txt"):
        path = os.fsdecode(folder + b"/" + name)
        write(tmp_path, os.path.relpath(path, tmp_path), PICTURE if b"jpg" in name else ROW)
    items = list(yolo.read(LocalTree(tmp_path), Policy()).items())
    assert [(item.raw, type(item)) for item in items] == [
        (b"images/\xff.jpg", Found),
        (b"labels/\xfe.txt", Noted),
    ]


def test_classes_of_many_thousand_digits_or_other_kinds_have_a_name(tmp_path: Path) -> None:
    laid(tmp_path, {"data.yaml": b"names: [0x" + b"f" * 9000 + b", {a: 1}, null, 7]\n"})
    assert classes(tmp_path) == ("?", "?", "None", "7")


def test_classes_without_names_are_counted(tmp_path: Path) -> None:
    assert classes(laid(tmp_path, {"data.yaml": b"nc: 3\n"})) == ("0", "1", "2")


@pytest.mark.parametrize(
    ("start", "slash"),
    [
        ("/home/anna/set/", "/"),
        ("C:\\Users\\anna\\set\\", "\\"),
        ("", "\\"),
        (".\\", "\\"),
        ("D:/set/", "/"),
    ],
)
def test_a_list_of_another_machine_is_one_finding_and_its_pictures_are_found(
    tmp_path: Path, start: str, slash: str
) -> None:
    names = [f"images/train/{number}.jpg" for number in range(5)]
    listed = "".join(f"{start}{name.replace('/', slash)}\n" for name in names)
    laid(tmp_path, {**dict.fromkeys(names, PICTURE), "train.txt": listed})
    assert splits(tmp_path) == dict.fromkeys(names, "train")
    assert noted(tmp_path) == {"train.txt": ["file.unsafe-path"]}


def test_a_picture_missing_from_such_a_list_is_told_where_it_should_be(tmp_path: Path) -> None:
    laid(tmp_path, {"train/images/a.jpg": PICTURE, "train/labels/a.txt": ROW})
    write(tmp_path, "train.txt", b"/x/train/images/a.jpg\n/x/train/images/gone.jpg\n")
    made = scanned(tmp_path, layout="yolo")
    (finding,) = made.samples["train/images/gone.jpg"].findings
    assert (finding.code, finding.item) == ("file.missing", "line 2")
    assert not made.samples["train/images/a.jpg"].held
