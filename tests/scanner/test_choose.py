"""Which layout a folder is taken for, and what is said of it."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.commands import run
from tests.pictures import jpeg, write
from tests.scanner.array_files import npy
from tests.scanner.recorded import scanned

from sickbay.contract.errors import BadInput
from sickbay.scanner.sources.choose import ORDER, Choice, choose
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.layouts import LAYOUTS
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (40, 40))
COCO = json.dumps(
    {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 40, "height": 40}],
        "annotations": [],
        "categories": [],
    }
).encode()
VOC = b"<annotation><filename>a.jpg</filename></annotation>"
KINDS: dict[str, dict[str, bytes]] = {
    "imagefolder": {"cats/a.jpg": PICTURE, "dogs/b.jpg": PICTURE},
    "coco": {"annotations/instances_train.json": COCO, "train/a.jpg": PICTURE},
    "voc": {"Annotations/a.xml": VOC, "JPEGImages/a.jpg": PICTURE},
    "yolo": {"labels/a.txt": b"0 0.5 0.5 0.1 0.1\n", "images/a.jpg": PICTURE},
    "masks": {"masks/a.png": PICTURE, "images/a.jpg": PICTURE},
    "csv": {"labels.csv": b"path,label\na.jpg,cat\n", "a.jpg": PICTURE},
    "jsonl": {"train.jsonl": b'{"text": "hello"}\n'},
    "arrays": {"a/1.npy": npy(np.ones(3)), "a/2.npy": npy(np.ones(3)), "readme.md": b"x"},
    "text": {"a.txt": b"hello", "b.md": b"hello"},
}


def chosen(root: Path) -> Choice:
    return choose(LocalTree(root))


def filled(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        write(root, name, data)
    return root


@pytest.mark.parametrize("name", KINDS)
def test_each_layout_is_recognised_and_the_reason_is_said(name: str, tmp_path: Path) -> None:
    choice = chosen(filled(tmp_path, KINDS[name]))
    assert (choice.name, choice.others) == (name, ())
    assert choice.why
    assert "\n" not in choice.why


def test_every_layout_has_its_place_in_the_order() -> None:
    assert sorted(ORDER) == sorted(LAYOUTS)


def test_the_most_telling_layout_wins_and_the_others_are_named(tmp_path: Path) -> None:
    choice = chosen(filled(tmp_path, KINDS["csv"] | KINDS["coco"] | KINDS["yolo"]))
    assert choice.name == "coco"
    assert set(choice.others) >= {"yolo", "csv"}


def test_one_list_among_thousands_of_pictures_is_seen(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"{number:05}.jpg").touch()
    (tmp_path / "zz-labels.csv").write_bytes(b"path,label\n00000.jpg,cat\n")
    assert chosen(tmp_path).name == "csv"


def test_pictures_that_a_list_does_not_name_by_file_are_scanned_not_its_rows(
    tmp_path: Path,
) -> None:
    files = {f"train/{number}.jpg": PICTURE for number in range(4)}
    labels = b"code,breed\n" + b"".join(b"x%d,beagle\n" % number for number in range(4))
    choice = chosen(filled(tmp_path, {**files, "labels.csv": labels}))
    assert (choice.name, choice.others) == ("imagefolder", ("csv",))
    write(tmp_path, "labels.csv", labels.replace(b"x", b"").replace(b",", b".jpg,"))
    assert chosen(tmp_path).name == "csv"


def test_a_few_figures_beside_tables_of_texts_are_no_set_of_pictures(tmp_path: Path) -> None:
    text = b"text,label\nsome words here,1\n"
    files = {"train.csv": text, "test.csv": text, "README.md": b"x", "figure.png": PICTURE}
    assert chosen(filled(tmp_path, files)).name == "csv"


def test_the_same_tree_gives_the_same_first_look(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number * 7919 % 3000:05}.jpg").touch()
    names = [name for name, _ in Glimpse(LocalTree(tmp_path)).names()]
    assert names == sorted(names)
    assert names == [f"{number:05}.jpg".encode() for number in range(len(names))]


def test_a_first_look_has_a_bound_however_many_folders_there_are(tmp_path: Path) -> None:
    for number in range(300):
        write(tmp_path, f"{number:03}/deep/er/and/deeper/a.jpg", b"")
        write(tmp_path, f"{number:03}/a.jpg", b"")
    glimpse = Glimpse(LocalTree(tmp_path))
    assert 0 < len(glimpse.files()) < 300
    assert glimpse.files(5) == glimpse.files()[:5]


def test_what_cannot_be_read_is_no_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "annotations.json")
    (tmp_path / "labels.csv").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to(tmp_path)
    write(tmp_path, "a.jpg", PICTURE)
    glimpse = Glimpse(LocalTree(tmp_path))
    assert glimpse.head(b"annotations.json") == b""
    assert glimpse.head(b"labels.csv") == b""
    assert glimpse.head(b"nothing") == b""
    assert chosen(tmp_path).name


def test_where_nothing_fits_it_is_pictures_and_said_to_be_a_guess(tmp_path: Path) -> None:
    write(tmp_path, "a.bin", b"x")
    assert chosen(tmp_path) == Choice("imagefolder", "no other layout fits")
    assert chosen(filled(tmp_path / "b", KINDS["imagefolder"])).why == (
        "it holds pictures and no annotations"
    )


def test_a_scan_says_in_its_header_which_layout_was_chosen(tmp_path: Path) -> None:
    told: list[Choice] = []
    sink = scanned(filled(tmp_path, KINDS["arrays"]), layout="auto", chosen=told.append)
    assert sink.header_record is not None
    assert sink.header_record.layout == "arrays"
    assert [choice.name for choice in told] == ["arrays"]


def test_an_empty_folder_is_refused_without_a_layout(tmp_path: Path) -> None:
    told: list[Choice] = []
    with pytest.raises(BadInput, match="is empty"):
        scanned(tmp_path, layout="auto", chosen=told.append)
    assert [choice.why for choice in told] in ([], [""])


def test_the_help_names_every_layout() -> None:
    words = set(run("scan", "--help", COLUMNS="1000").out.replace(",", " ").split())
    assert words >= {"auto", *LAYOUTS}


def test_the_command_line_says_the_layout_its_reason_and_how_to_choose(tmp_path: Path) -> None:
    root = filled(tmp_path / "set", KINDS["coco"] | KINDS["csv"])
    out = tmp_path / "out.ndjson"
    ran = run("scan", root, "--dataset", "pets", "--out", out)
    assert ran.err == (
        "Layout coco: annotations/instances_train.json lists images and annotations. "
        "csv would fit too. Give --layout to choose another.\n"
    )
    ran = run("scan", root, "--dataset", "pets", "--out", out, "--layout", "imagefolder")
    assert (ran.code, "Layout" in ran.err) == (0, False)


BROKEN = {
    "empty": b"",
    "blank": b" \n",
    "as Python writes it": b"{'images': [], 'annotations': []}",
    "two bytes a character": '{"images": [], "annotations": []}'.encode("utf-16-le"),
    "a page of HTML": b"<html>not found</html>",
    "a pointer": b"version https://git-lfs.github.com/spec/v1\n",
    "zeros": b"\0" * 64,
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("name", ["annotations.json", "annotations/instances_train.json"])
def test_annotations_that_cannot_be_read_are_not_passed_over(
    tmp_path: Path, kind: str, name: str
) -> None:
    root = filled(tmp_path, {"images/a.jpg": PICTURE, name: BROKEN[kind]})
    assert chosen(root).name == "coco"


@pytest.mark.parametrize(
    "files",
    [
        {"annotations.json": b'[{"a": 1}]', "images/a.jpg": PICTURE},
        {"annotations.json": b'{"a.jpg": {"regions": []}}', "images/a.jpg": PICTURE},
        {"package.json": b"", "images/a.jpg": PICTURE},
        {"annotations.json": b"", "images/a.jpg": PICTURE, "labels/a.txt": b"0 0.5 0.5 0.2 0.2\n"},
        {"annotations.json": b""},
    ],
)
def test_other_json_is_not_taken_for_broken_annotations(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    assert chosen(filled(tmp_path, files)).name != "coco"
