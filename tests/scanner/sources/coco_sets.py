"""Small COCO data sets, and what a scan of one says of whom."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.pictures import jpeg, write
from tests.scanner.recorded import Recorded, scanned

from sickbay.contract.finding import Finding
from sickbay.contract.inside import Inside
from sickbay.scanner.examine.coco import examine
from sickbay.scanner.examine.folder import FilesBelow
from sickbay.scanner.sources import Found, Skipped
from sickbay.scanner.sources import coco as coco_layout
from sickbay.scanner.task import QUICK, Setup, Task
from sickbay.scanner.trees.local import LocalTree

CATEGORIES = ({"id": 1, "name": "cat"}, {"id": 2, "name": "dog"})
SQUARE = (10, 20, 40, 20, 40, 60, 10, 60)


def image(identity: Any = 1, name: Any = "a.jpg", **more: Any) -> dict[str, Any]:
    """An entry of ``images``."""
    return {"id": identity, "file_name": name, "width": 160, "height": 120, **more}


def annotation(identity: Any = 1, **more: Any) -> dict[str, Any]:
    """An entry of ``annotations``; boxes differ by id, so that none repeats another."""
    at = identity if isinstance(identity, int) else 0
    return {
        "id": identity,
        "image_id": 1,
        "category_id": 1,
        "bbox": [1 + at, 2, 30, 40],
        "iscrowd": 0,
        "area": 1200,
        **more,
    }


def coco(
    annotations: Sequence[Any] = (),
    images: Sequence[Any] = (image(),),
    categories: Sequence[Any] = CATEGORIES,
) -> dict[str, Any]:
    """What a COCO file holds."""
    return {"images": images, "annotations": annotations, "categories": categories}


def coco_set(root: Path, *annotations: Any, file: str = "annotations.json", **more: Any) -> Path:
    """Write one picture and one COCO file."""
    write(root, "images/a.jpg", jpeg(1))
    write(root, file, json.dumps(coco(annotations, **more)).encode())
    return root


def findings_of_files(found: Recorded) -> list[Finding]:
    """Return all findings of COCO files, whoever holds them."""
    by_record = [
        *(record.findings for record in found.samples.values()),
        *(record.findings for record in found.files.values()),
    ]
    return [one for findings in by_record for one in findings if one.file.endswith(".json")]


def said(found: Recorded) -> set[tuple[str | None, str]]:
    """Return item and code of all findings of COCO files."""
    return {(one.item, one.code) for one in findings_of_files(found)}


def scan_coco(root: Path, **options: Any) -> Recorded:
    """Scan as COCO."""
    return scanned(root, layout="coco", **options)


def said_of(
    root: Path, *annotations: Any, setup: Setup | None = None, **more: Any
) -> set[tuple[str | None, str]]:
    """Return item and code of what is said of a set of one picture, checked in this process."""
    setup = setup or Setup()
    findings: list[Finding] = []
    with Inside(coco_set(root, *annotations, **more)) as folder:
        for item in coco_layout.read(LocalTree(root), setup.policy).items():
            if not isinstance(item, Skipped):
                findings += item.findings
            if isinstance(item, Found):
                given = json.loads(json.dumps(item.given))
                task = Task(item.raw, item.kind, given=given)
                findings += examine(FilesBelow(folder, setup.limits), task, setup, QUICK).findings
    return {(one.item, one.code) for one in findings if one.file.endswith(".json")}


def splits(found: Recorded) -> Mapping[str, str]:
    """Return the split of every sample."""
    return {path: sample.split for path, sample in found.samples.items()}
