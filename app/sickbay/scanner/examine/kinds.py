"""Which examiner checks which kind of task."""

from collections.abc import Mapping
from functools import partial

from sickbay.scanner.examine import (
    Examiner,
    array,
    coco,
    mask,
    picture,
    row,
    sidecar,
    text,
    voc,
    yolo,
)

EXAMINERS: Mapping[str, Examiner] = {
    "picture": picture.examine,
    "yolo": partial(sidecar.examine, parse=yolo.parse),
    "voc": partial(sidecar.examine, parse=voc.parse),
    "coco": coco.examine,
    "mask": mask.examine,
    "array": array.examine,
    "row": row.examine,
    "text": text.examine,
}
