"""Reading a large COCO file: seconds and memory, beside parsing it whole with the standard library.

    python -m tests.benchmarks.test_annotations [IMAGES]

Each reader is a process of its own, so that its peak is its own. There are ten annotations a
picture, with a box and an outline of six points; no picture lies there, so that only the reading,
the join and what goes to the processes that decode are measured.
"""

import json
import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sickbay.contract.policy import Policy
from sickbay.scanner.sources import Found, coco
from sickbay.scanner.trees.local import LocalTree

_IMAGES = 100_000
_EACH = 10
_CLASSES = 80
_LIMIT_MB = 200
_MOST_TIMES = 6.0  # CPU of the source by that of json.load, which keeps all in memory


@dataclass(frozen=True)
class Measured:
    """One reader: CPU seconds, and the peak of its process in MB."""

    name: str
    cpu: float
    peak_mb: float
    count: int


def _write(path: Path, images: int) -> None:
    rest = random.Random(1)  # noqa: S311 (the same file in every run)
    with path.open("w", encoding="ascii") as file:
        file.write('{"info": {}, "images": [')
        file.write(", ".join(map(_image, range(images))))
        file.write('], "annotations": [')
        for number in range(images * _EACH):
            file.write((", " if number else "") + _annotation(number, rest.randrange(images), rest))
        classes = [{"id": one, "name": f"class {one}"} for one in range(_CLASSES)]
        file.write(f'], "categories": {json.dumps(classes)}}}')


def _image(number: int) -> str:
    name = f"{number:012}.jpg"
    url = f"http://images.example.org/train2017/{name}"
    return json.dumps(
        {"id": number, "file_name": name, "coco_url": url, "width": 640, "height": 480}
    )


def _annotation(number: int, image: int, rest: random.Random) -> str:
    left, top, width, height = (round(1 + rest.random() * 200, 2) for _ in range(4))
    corners = [(0, 0), (1, 0), (1, 1), (0.5, 1), (0.3, 0.5), (0, 1)]
    outline = [
        round(value, 2) for x, y in corners for value in (left + x * width, top + y * height)
    ]
    return json.dumps(
        {
            "segmentation": [outline],
            "area": width * height,
            "iscrowd": 0,
            "image_id": image,
            "bbox": [left, top, width, height],
            "category_id": rest.randrange(_CLASSES),
            "id": number,
        }
    )


def _as_source(path: Path) -> int:
    """Read as a scan does."""
    items = coco.read(LocalTree(path.parent), Policy()).items()
    given = (item.given for item in items if isinstance(item, Found))
    return sum(len(said["items"]) for one in given for said in one)


def _whole(path: Path) -> int:
    """Read as trainers do."""
    return len(json.loads(path.read_bytes())["annotations"])


def _measured(name: str, read: Callable[[Path], int], path: Path) -> Measured:
    before = time.process_time()
    count = read(path)
    cpu = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(name, cpu, peak, count)


def measure(folder: Path, images: int) -> tuple[Measured, Measured]:
    """Measure the source and the standard library's parser on one file of that many images."""
    path = folder / "instances_train2017.json"
    _write(path, images)
    found = []
    for name, read in (("scan's source", _as_source), ("json.load", _whole)):
        with get_context("spawn").Pool(1) as pool:
            found.append(pool.apply(_measured, (name, read, path)))
    return found[0], found[1]


@pytest.mark.soak
def test_a_million_annotations_are_read_in_bounded_memory(tmp_path: Path) -> None:
    source, whole = measure(tmp_path, _IMAGES)
    assert source.count == whole.count == _IMAGES * _EACH
    assert source.peak_mb < _LIMIT_MB
    assert source.cpu < _MOST_TIMES * whole.cpu


def test_every_annotation_comes_through(tmp_path: Path) -> None:
    source, whole = measure(tmp_path, 200)
    assert source.count == whole.count == 200 * _EACH


if __name__ == "__main__":
    with TemporaryDirectory() as _folder:
        for _one in measure(Path(_folder), int(sys.argv[1]) if sys.argv[1:] else _IMAGES):
            sys.stdout.write(f"{_one.name:15} {_one.cpu:6.1f} s CPU {_one.peak_mb:7.0f} MB\n")
