"""COCO files that are broken or hostile: one plain finding, and the rest is scanned."""

import errno
import json
import os
from io import BufferedReader, BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pictures import jpeg, write
from tests.scanner.recorded import Recorded
from tests.scanner.sources.coco_sets import (
    annotation,
    coco,
    coco_set,
    findings_of_files,
    image,
    said,
    scan_coco,
)

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Finding
from sickbay.contract.inside import Unreadable
from sickbay.contract.policy import Policy
from sickbay.scanner.examine.coco import examine
from sickbay.scanner.examine.folder import FilesGiven
from sickbay.scanner.sources import Found, Noted, Skipped, coco_file, coco_samples, streamed
from sickbay.scanner.sources import coco as coco_layout
from sickbay.scanner.task import QUICK, Setup, Task
from sickbay.scanner.trees.local import LocalTree

WHOLE = json.dumps(coco([annotation(1), annotation(2, bbox=[10, 20, 30, 0])])).encode()
BROKEN = "annotation.malformed"
PICTURE = jpeg(1)
SPLINTERS = (
    *(b"", b"x", b"[", b"}", b'"', b",", b"-", b"NaN", b"1e999", b"null", b"true", b"{}"),
    *(b"\xff", b"\0", b"\n", b"9" * 30, b'"id"', b"\\ud800", b"[[]]", b"[1, 2]"),
)


def scan_bytes(root: Path, data: bytes) -> Recorded:
    write(root, "images/a.jpg", jpeg(1))
    write(root, "annotations.json", data)
    return scan_coco(root)


def only_finding(found: Recorded) -> Finding:
    (finding,) = found.files["annotations.json"].findings
    return finding


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (WHOLE[:-1], "Line 1, byte {end}: it ends too early."),
        (WHOLE[:-1] + b",}", "Line 1, byte {end}: a comma stands before a closing bracket."),
        (WHOLE + b"x", "Line 1, byte {end}: something stands after its end."),
    ],
)
def test_a_broken_file_is_one_finding_and_what_was_read_is_used(
    tmp_path: Path, data: bytes, message: str
) -> None:
    found = scan_bytes(tmp_path, data)
    finding = only_finding(found)
    end = finding.detail["byte"]
    assert finding.message == message.format(end=f"{end:,}")
    assert finding.detail == {"line": 1, "byte": end}
    assert end in range(len(WHOLE) - 1, len(WHOLE) + 1)
    assert said(found) == {(None, BROKEN), ("annotation 2", "box.not-positive")}


def test_a_file_that_ends_among_its_images_still_gives_those_before(tmp_path: Path) -> None:
    images = [image(n, f"{n}.jpg") for n in range(1, 5)]
    for n in range(1, 5):
        write(tmp_path, f"images/{n}.jpg", jpeg(n))
    data = json.dumps(coco(images=images)).encode()
    found = scan_bytes(tmp_path, data[: data.index(b'"4.jpg"')])
    assert list(found.samples) == [f"images/{n}.jpg" for n in range(1, 4)]
    assert found.totals.reasons == {"not listed": 2}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is no JSON object"),
        (b"\0" * 500, "it is written in UTF-32, not in UTF-8"),
        (json.dumps(coco()).encode("utf-16"), "it is written in UTF-16, not in UTF-8"),
        (b'{"images": ' + b"[" * 50_000, "it is nested too deep"),
        (b'{"images": [{"id": ' + b"9" * 5000, "it holds a number of too many digits"),
        (b'{"images": [], "images": []}', "a name stands twice at its top"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_says_why(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    assert reason in only_finding(scan_bytes(tmp_path, data)).message


def test_a_byte_that_is_not_utf8_is_told_with_its_place_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    data = WHOLE.replace(b'"cat"', b'"caf\xe9"')
    found = scan_bytes(tmp_path, data)
    assert only_finding(found).detail == {"line": 1, "byte": data.index(b"\xe9")}
    assert ("annotation 2", "box.not-positive") in said(found)
    assert found.header_record
    assert found.header_record.classes == ("caf\\udce9", "dog")


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    found = scan_bytes(tmp_path, b"\xef\xbb\xbf" + json.dumps(coco([annotation()])).encode())
    assert (said(found), found.totals.clean) == (set(), 1)


def test_numbers_that_are_none_are_told_at_their_annotation(tmp_path: Path) -> None:
    nan, inf = float("nan"), float("inf")
    found = scan_coco(
        coco_set(
            tmp_path,
            annotation(1, bbox=[nan, 5, 10, 10]),
            annotation(2, bbox=[5, 5, inf, 10]),
            annotation(3, bbox=[5, 5, 10**400, 10]),
            annotation(4, segmentation=[[5, 5, nan, 5, 20, 20]]),
        )
    )
    assert said(found) == {
        ("annotation 1", "box.not-finite"),
        ("annotation 2", "box.not-finite"),
        ("annotation 3", "box.not-finite"),
        ("annotation 4", "annotation.bad-polygon"),
    }


@pytest.mark.parametrize("entry", [None, 5, "text", [], [{}]])
def test_entries_that_are_no_objects_are_told_of_the_file(tmp_path: Path, entry: Any) -> None:
    found = scan_coco(coco_set(tmp_path, annotation(), entry))
    assert only_finding(found).message == "Entry 2 of its annotations is no object."
    assert found.totals.clean == 1


@pytest.mark.parametrize("value", [None, 5, "text", {}])
def test_lists_that_are_none_are_told_of_the_file(tmp_path: Path, value: Any) -> None:
    found = scan_bytes(tmp_path, json.dumps({**coco(), "annotations": value}).encode())
    assert only_finding(found).message == "Its annotations are no list."
    assert found.totals.clean == 1


@pytest.mark.parametrize(
    ("categories", "item", "code"),
    [
        ([{"id": 1, "name": "cat"}, {"id": 1, "name": "dog"}], "category 1", BROKEN),
        ([{"id": 1, "name": "cat"}, {"id": 2}], "category 2", "label.wrong-type"),
        ([{"id": 1, "name": "cat"}, {"id": 2, "name": 5}], "category 2", "label.wrong-type"),
        ([{"id": 1, "name": "cat"}, {"name": "dog"}], "object 2", "annotation.schema-mismatch"),
    ],
)
def test_faults_of_classes_are_told_of_the_file(
    tmp_path: Path, categories: list[Any], item: str, code: str
) -> None:
    found = scan_coco(coco_set(tmp_path, annotation(), categories=categories))
    assert said(found) == {(item, code)}
    assert found.totals.clean == 1


def test_names_of_hostile_classes_are_written_so_that_records_can_hold_them(
    tmp_path: Path,
) -> None:
    names = ["\ud800", "line\nbreak", "x" * 1000]
    categories = [{"id": n, "name": name} for n, name in enumerate(names)]
    marks = [annotation(n, category_id=n) for n in range(3)]
    found = scan_coco(coco_set(tmp_path, *marks, categories=categories))
    assert found.header_record
    assert found.header_record.classes == ("\\ud800", "line\\x0abreak", "x" * 255)


def test_hostile_ids_are_shortened(tmp_path: Path) -> None:
    found = scan_coco(coco_set(tmp_path, annotation("\x1b[2J\n" * 1000, bbox=[5, 5, 0, 5])))
    ((item, code),) = said(found)
    assert code == "box.not-positive"
    assert item
    assert len(item) < 400
    assert item.isprintable()


def test_a_name_that_stands_twice_in_an_entry_is_told_of_its_picture(tmp_path: Path) -> None:
    data = json.dumps(coco([annotation(1)])).encode()
    found = scan_bytes(tmp_path, data.replace(b'"bbox":', b'"bbox": [0, 0, 1, 1], "bbox":'))
    assert said(found) == {("annotation 1", BROKEN)}
    assert found.samples["images/a.jpg"].held


def test_more_annotations_than_are_checked_hold_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_samples, "MOST_MARKS", 3)
    found = scan_coco(coco_set(tmp_path, *(annotation(n) for n in range(5))))
    (finding,) = findings_of_files(found)
    assert finding.message == "It has 5 annotations; the first 3 were checked."


def test_many_faults_of_one_picture_are_cut_to_what_a_person_reads(tmp_path: Path) -> None:
    marks = [annotation(n, category_id=9, bbox=[n % 99, n // 99, 9, 9]) for n in range(500)]
    found = scan_coco(coco_set(tmp_path, *marks))
    findings = findings_of_files(found)
    assert len(findings) == 201
    assert findings[-1].message == "300 more findings are not listed here."


def test_many_orphans_of_one_file_are_cut_as_well(tmp_path: Path) -> None:
    found = scan_coco(coco_set(tmp_path, *(annotation(n, image_id=9) for n in range(500))))
    assert len(found.files["annotations.json"].findings) == 201


def test_many_entries_that_are_none_are_counted_and_where_the_file_ends_is_told(
    tmp_path: Path,
) -> None:
    found = scan_coco(coco_set(tmp_path, *[None] * 5000))
    findings = found.files["annotations.json"].findings
    assert len(findings) == 198
    assert findings[-1].message == "4,803 more of its entries cannot be used."
    data = (tmp_path / "annotations.json").read_bytes()
    cut = scan_bytes(tmp_path, data[: data.rindex(b"null")])
    ends = ["it ends too early" in one.message for one in cut.files["annotations.json"].findings]
    assert ends.count(True) == 1


def test_one_picture_named_by_many_images_costs_no_more_than_some(tmp_path: Path) -> None:
    found = scan_coco(coco_set(tmp_path, images=[image(n) for n in range(300)]))
    messages = [finding.message for finding in found.samples["images/a.jpg"].findings]
    assert "300 images are this picture; 64 were looked at." in messages


def test_more_classes_than_any_set_has_are_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coco_file, "MAX_CATEGORIES", 2)
    categories = [{"id": n, "name": f"class {n}"} for n in range(1, 9)]
    found = scan_coco(coco_set(tmp_path, annotation(), categories=categories))
    assert said(found) == {("category 3", BROKEN)}
    assert found.totals.clean == 1


def test_links_out_of_the_data_set_and_folders_are_no_annotation_files(tmp_path: Path) -> None:
    coco_set(tmp_path, annotation(), file="good.json")
    (tmp_path / "out.json").symlink_to("/etc/hostname")
    (tmp_path / "dir.json").mkdir()
    found = scan_coco(tmp_path)
    assert (found.totals.clean, found.files) == (1, {})
    assert found.totals.reasons == {"link out of the data set": 1}


class _Failing(LocalTree):
    """A tree whose annotation file opens, or not, and breaks off after some bytes."""

    def __init__(self, root: Path, most: int) -> None:
        super().__init__(root)
        self._most = most

    def open(self, raw: bytes) -> BinaryIO:
        if not self._most:
            raise Unreadable("It cannot be read: Permission denied.")
        with super().open(raw) as file:
            return BufferedReader(_BreaksOff(file.read(self._most)))


class _BreaksOff(BytesIO):
    def readinto(self, into: Any) -> int:
        count = super().readinto(into)
        if not count:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return count


@pytest.mark.parametrize(
    ("most", "message"),
    [
        (0, "The file cannot be read: It cannot be read: Permission denied."),
        (150, "The file cannot be read: [Errno 5] Input/output error."),
    ],
)
def test_a_disk_that_gives_out_no_more_is_told_and_what_was_read_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, message: str
) -> None:
    monkeypatch.setattr(streamed, "WINDOW", 16)
    tree = _Failing(coco_set(tmp_path, annotation()), most)
    items = {item.raw: item for item in coco_layout.read(tree, Policy()).items()}
    noted, picture = items[b"annotations.json"], items[b"images/a.jpg"]
    assert isinstance(noted, Noted)
    assert [(one.code, one.message) for one in noted.findings] == [("file.unreadable", message)]
    assert isinstance(picture, Found if most else Skipped)


@settings(max_examples=300)
@given(st.data())
def test_no_change_of_a_file_ends_a_scan(data: st.DataObject) -> None:
    made = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(made) - 1))
        length = data.draw(st.sampled_from([0, 1, 1, 5, 50]))
        made[at : at + length] = data.draw(st.sampled_from(SPLINTERS))
    with TemporaryDirectory() as folder:
        write(Path(folder), "annotations.json", bytes(made))
        try:
            items = list(coco_layout.read(LocalTree(folder), Policy()).items())
        except BadInput:
            return
        for item in items:
            if isinstance(item, Found):
                task = Task(item.raw, item.kind, given=json.loads(json.dumps(item.given)))
                examine(FilesGiven({item.raw: PICTURE}), task, Setup(), QUICK)
