"""Pascal VOC data sets: where XML files and lists of splits are found."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.pictures import jpeg, write
from tests.scanner.recorded import codes, scanned

from sickbay.contract.policy import Policy
from sickbay.scanner.sources import Found, Item, Noted, Skipped, voc
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (64, 48))
XML = b"<annotation/>"


def laid(root: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        write(root, name, data)
    return root


def walked(root: Path) -> dict[str, Item]:
    items = list(voc.read(LocalTree(root), Policy()).items())
    assert [item.raw for item in items] == sorted({item.raw for item in items})
    return {item.raw.decode(): item for item in items}


def found(root: Path) -> dict[str, Found]:
    return {name: item for name, item in walked(root).items() if isinstance(item, Found)}


def noted(root: Path) -> dict[str, list[str]]:
    items = walked(root).items()
    return {name: codes(item.findings) for name, item in items if isinstance(item, Noted)}


@pytest.mark.parametrize(
    ("picture", "xml"),
    [
        ("JPEGImages/a.jpg", "Annotations/a.xml"),
        ("VOCdevkit/VOC2007/JPEGImages/a.jpg", "VOCdevkit/VOC2007/Annotations/a.xml"),
        ("images/a.b.png", "annotations/a.b.xml"),
        ("train/images/a.jpg", "train/xmls/a.xml"),
        ("pets/images/a.jpg", "pets/annotations/xmls/a.xml"),
        ("train/a.jpg", "train/a.xml"),
        ("a.jpg", "a.xml"),
    ],
)
def test_the_xml_of_a_picture_is_found(tmp_path: Path, picture: str, xml: str) -> None:
    items = walked(laid(tmp_path, {picture: PICTURE, xml: XML}))
    assert list(items) == [picture]
    item = items[picture]
    assert isinstance(item, Found)
    assert (item.side, item.kind) == (xml.encode(), "voc")


def test_a_picture_without_xml_is_skipped_and_xml_without_a_picture_told(tmp_path: Path) -> None:
    laid(tmp_path, {"JPEGImages/a.jpg": PICTURE, "Annotations/b.xml": XML, "README.md": b""})
    items = walked(tmp_path)
    reasons = {name: one.reason for name, one in items.items() if isinstance(one, Skipped)}
    assert reasons == {
        "JPEGImages/a.jpg": "no annotation file",
        "README.md": "not a picture or its annotation",
    }
    assert noted(tmp_path) == {"Annotations/b.xml": ["annotation.orphan"]}


def year(root: Path, lists: Mapping[str, bytes], base: str = "") -> Path:
    pairs = {f"{base}JPEGImages/{name}.jpg": PICTURE for name in "abc"}
    pairs |= {f"{base}Annotations/{name}.xml": XML for name in "abc"}
    return laid(root, {**pairs, **{f"{base}ImageSets/Main/{n}": d for n, d in lists.items()}})


@pytest.mark.parametrize("base", ["", "VOC2012/", "VOCdevkit/VOC2007/"])
def test_lists_tell_the_split(tmp_path: Path, base: str) -> None:
    lists = {"train.txt": b"a\r\n", "val.txt": b"b  1\n\n", "trainval.txt": b"a\nb\n"}
    year(tmp_path, {**lists, "cat_train.txt": b"a -1\n"}, base)
    splits = {name: item.split for name, item in found(tmp_path).items()}
    pictures = f"{base}JPEGImages/"
    assert splits == {
        f"{pictures}a.jpg": "train",
        f"{pictures}b.jpg": "val",
        f"{pictures}c.jpg": "",
    }


def test_a_list_of_both_is_for_training_where_it_is_the_only_one(tmp_path: Path) -> None:
    year(tmp_path, {"trainval.txt": b"a\nb\n", "test.txt": b"c\n"})
    assert [item.split for item in found(tmp_path).values()] == ["train", "train", "test"]


def test_without_lists_folders_tell_the_split(tmp_path: Path) -> None:
    laid(tmp_path, {"val/a.jpg": PICTURE, "val/a.xml": XML})
    assert [item.split for item in found(tmp_path).values()] == ["val"]


def test_what_a_list_names_must_be_there_with_its_xml(tmp_path: Path) -> None:
    year(tmp_path, {"train.txt": b"a\nz\n../../x\nc\n"})
    (tmp_path / "Annotations/c.xml").unlink()
    made = scanned(tmp_path, layout="voc")
    (missing,) = made.samples["JPEGImages/z.jpg"].findings
    assert (missing.code, missing.item) == ("file.missing", "line 2")
    assert missing.file == "ImageSets/Main/train.txt"
    assert "label.missing" in made.codes("JPEGImages/c.jpg")
    assert codes(made.files["ImageSets/Main/train.txt"].findings) == ["file.unsafe-path"]


def test_a_test_set_has_no_labels_to_miss(tmp_path: Path) -> None:
    year(tmp_path, {"train.txt": b"a\nb\n", "test.txt": b"c\n"})
    (tmp_path / "Annotations/c.xml").unlink()
    item = found(tmp_path)["JPEGImages/c.jpg"]
    assert (item.split, item.kind, item.findings) == ("test", "picture", ())


def test_a_scan_holds_a_picture_for_its_objects(tmp_path: Path) -> None:
    box = b"<bndbox><xmin>40</xmin><ymin>1</ymin><xmax>4</xmax><ymax>9</ymax></bndbox>"
    xml = b"<annotation><object><name>cat</name>" + box + b"</object></annotation>"
    made = scanned(
        laid(tmp_path, {"JPEGImages/a.jpg": PICTURE, "Annotations/a.xml": xml}), layout="voc"
    )
    (finding,) = made.samples["JPEGImages/a.jpg"].findings
    assert (finding.code, finding.file, finding.item) == (
        "box.not-positive",
        "Annotations/a.xml",
        "object 1",
    )
    assert made.samples["JPEGImages/a.jpg"].held


def test_the_layout_is_recognised_by_an_annotation(tmp_path: Path) -> None:
    laid(tmp_path, {"a.xml": b"<?xml version='1.0'?><rss/>", "x/b.jpg": PICTURE})
    assert voc.recognise(Glimpse(LocalTree(tmp_path))) is None
    write(tmp_path, "x/b.xml", b'<?xml version="1.0"?>\n<annotation verified="yes">')
    assert voc.recognise(Glimpse(LocalTree(tmp_path))) == "x/b.xml is an annotation in XML"
