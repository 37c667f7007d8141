"""The same boxes get the same verdict, whatever format they are written in."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pictures import write
from tests.scanner.beside import PICTURE, checked

from sickbay.contract.policy import Policy
from sickbay.scanner.examine.folder import FilesGiven
from sickbay.scanner.examine.kinds import examiner
from sickbay.scanner.sources import Found, coco
from sickbay.scanner.task import QUICK, Setup, Task
from sickbay.scanner.trees.local import LocalTree

WIDTH, HEIGHT = 160, 120
Box = tuple[int, float, float, float, float]
"""Class, left, top, width and height in pixels."""
Verdict = set[tuple[int, str]]

quarters = st.integers(-160, 800).map(lambda number: number / 4)
sides = st.integers(-8, 400).map(lambda number: number / 4)
boxes = st.lists(st.tuples(st.integers(0, 1), quarters, quarters, sides, sides), max_size=6)
repeated = boxes.flatmap(lambda some: st.permutations([*some, *some[:2]]))


def numbered(found: dict[str | None, list[str]]) -> Verdict:
    return {
        (int((item or "0").split()[-1]), code) for item, codes in found.items() for code in codes
    }


def of_yolo(rows: Sequence[Box]) -> Verdict:
    text = "".join(
        f"{label} {(x + w / 2) / WIDTH} {(y + h / 2) / HEIGHT} {w / WIDTH} {h / HEIGHT}\n"
        for label, x, y, w, h in rows
    )
    made = checked("yolo", text.encode())
    return numbered({item: made.codes(item) for item in made.found})


def of_voc(rows: Sequence[Box]) -> Verdict:
    objects = "".join(
        f"<object><name>{label}</name><bndbox><xmin>{x}</xmin><ymin>{y}</ymin>"
        f"<xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>"
        for label, x, y, w, h in rows
    )
    xml = f"<annotation>{objects}</annotation>".encode()
    made = checked("voc", xml, names=("a.jpg", "a.xml"))
    return numbered({item: made.codes(item) for item in made.found})


def of_coco(rows: Sequence[Box], root: Path) -> Verdict:
    annotations = [
        {"id": number, "image_id": 1, "category_id": label, "bbox": box, "iscrowd": 0}
        for number, (label, *box) in enumerate(rows, 1)
    ]
    images = [{"id": 1, "file_name": "a.jpg", "width": WIDTH, "height": HEIGHT}]
    categories = [{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}]
    whole = {"images": images, "annotations": annotations, "categories": categories}
    write(root, "a.jpg", PICTURE)
    write(root, "annotations.json", json.dumps(whole).encode())
    (sample,) = (
        item for item in coco.read(LocalTree(root), Policy()).items() if isinstance(item, Found)
    )
    task = Task(sample.raw, sample.kind, sample.side, sample.given)
    found = examiner(task.kind)(FilesGiven({b"a.jpg": PICTURE}), task, Setup(), QUICK).findings
    told = (one for one in (*sample.findings, *found) if one.item is not None)
    return {(int(str(one.item).split()[-1]), one.code) for one in told}


@given(rows=repeated)
def test_yolo_and_voc_agree(rows: list[Box]) -> None:
    assert of_yolo(rows) == of_voc(rows)


@settings(max_examples=30)
@given(rows=repeated)
def test_coco_and_voc_agree(rows: list[Box], tmp_path_factory: pytest.TempPathFactory) -> None:
    assert of_coco(rows, tmp_path_factory.mktemp("coco")) == of_voc(rows)
