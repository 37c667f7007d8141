"""A picture with what COCO files say of it."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.scanner.checks import texts
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.checks.sizes import is_turned
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.examine import Files, picture
from sickbay.scanner.examine.marks import judged
from sickbay.scanner.marks import Frame, Mark, Points
from sickbay.scanner.task import Setup, Task

_BOX = 4
_PLACES = ("bbox", "segmentation", "keypoints", "caption", "segments_info")
"""What an annotation may say of a picture: one of them is needed."""


def examine(files: Files, task: Task, setup: Setup, care: int) -> Examined:
    """Check a picture and all that was said of it."""
    turned: list[bool] = []
    found = picture.examine(files, task, setup, care, partial(_annotations, turned))
    return _without_turn(found) if turned and all(turned) else found


def _annotations(
    turned: list[bool], _files: Files, task: Task, setup: Setup, evidence: Evidence
) -> Iterator[Finding]:
    for said in task.given:
        stated = _frame(said["size"])
        turned.append(stated is not None and is_turned(stated, evidence))
        yield from bounded(_of_one_file(said, stated, setup, evidence))


def _without_turn(found: Examined) -> Examined:
    """Leave out the remark that a picture is turned where the annotations were drawn on it so."""
    kept = tuple(
        finding
        for finding in found.findings
        if finding.code != "image.exif-rotated" or finding.severity is not Severity.NOTE
    )
    return replace(found, findings=kept)


def _of_one_file(
    said: Mapping[str, Any], stated: Frame | None, setup: Setup, evidence: Evidence
) -> Iterator[Finding]:
    marks = []
    values = json.loads(said["annotations"])
    for item, points, value in zip(said["items"], said["points"], values, strict=True):
        reader = _Reader(said["file"], item)
        marks.append(reader.mark(value, points))
        yield from reader.faults
    place = (said["file"], said["item"])
    yield from judged(marks, evidence, setup.policy, stated=stated, stated_in=place)


def _frame(size: list[int] | None) -> Frame | None:
    return None if size is None else (size[0], size[1])


class _Reader:
    """Reads the geometry of one annotation; what is of another type is a fault and left out."""

    def __init__(self, file: str, item: str) -> None:
        self.faults: list[Finding] = []
        self._file = file
        self._item = item

    def mark(self, value: Mapping[str, Any], points: int | None) -> Mark:
        """Return the mark as far as it can be read."""
        outline, label = value.get("segmentation"), value.get("category_id")
        self._whole(value, "iscrowd", {0, 1})
        box = self._numbers("bbox", value.get("bbox"))
        if box is not None and len(box) != _BOX:
            self._fault("annotation.malformed", f"Its bbox has {len(box)} values, not four.")
            box = None
        self._caption(value.get("caption"))
        if all(value.get(name) is None for name in _PLACES):
            self._fault("annotation.malformed", "It says nowhere what it means: it has no bbox.")
        return Mark(
            self._item,
            self._file,
            label if isinstance(label, int | str) else None,
            None if box is None else (box[0], box[1], box[2], box[3]),
            polygons=self._polygons(outline),
            rle=outline if isinstance(outline, dict) else None,
            keypoints=self._numbers("keypoints", value.get("keypoints")),
            points=points,
            crowd=value.get("iscrowd") == 1,
        )

    def _caption(self, caption: Any) -> None:
        if isinstance(caption, str):
            blank = texts.empty(Field("caption", caption))
            self.faults += [] if blank is None else [self._placed(blank)]

    def _placed(self, finding: Finding) -> Finding:
        return replace(finding, file=self._file, item=self._item)

    def _polygons(self, outline: Any) -> tuple[Points, ...] | None:
        if outline is None or isinstance(outline, dict):
            return None
        if not isinstance(outline, list):
            self._fault("annotation.malformed", "Its segmentation is no list and no mask.")
            return None
        if outline and not any(isinstance(part, list) for part in outline):
            said = "Its segmentation is one list of numbers, not a list of polygons."
            self._fault("annotation.bad-polygon", said)
            return None
        parts = [self._numbers("segmentation", part) for part in outline]
        return tuple(part for part in parts if part is not None)

    def _numbers(self, name: str, value: Any) -> Points | None:
        if value is None:
            return None
        if not isinstance(value, list):
            self._fault("annotation.malformed", f"Its {name} is no list of numbers.")
            return None
        for number in value:
            if isinstance(number, bool) or not isinstance(number, int | float):
                said = f"Its {name} holds {_kind(number)}, where numbers belong."
                self._fault("annotation.malformed", said)
                return None
        return tuple(_float(number) for number in value)

    def _whole(self, value: Mapping[str, Any], name: str, allowed: set[int]) -> None:
        given = value.get(name)
        if given is not None and (not isinstance(given, int | float) or given not in allowed):
            self._fault("annotation.malformed", f"Its {name} is neither 0 nor 1.")

    def _fault(self, code: str, message: str) -> None:
        self.faults.append(Finding.of(code, self._file, message, self._item))


def _kind(value: Any) -> str:
    kinds = {str: "text", bool: "true or false", list: "a list", dict: "an object"}
    return kinds.get(type(value), "null")


def _float(value: float) -> float:
    """Return a number as a float; whole numbers may be too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
