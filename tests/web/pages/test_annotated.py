"""Pages of a data set with annotations: boxes on pictures, findings of files, classes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from tests import pictures, scanned
from tests.web.pages.desk import Desk, text_of

from sickbay.accounts.tables import Role
from sickbay.contract.defects import Severity
from sickbay.quarantine.queue.sample import SampleView
from sickbay.web.pages.overlay import overlay
from sickbay.web.site import Site

OUT = "images/train/1.jpg"


@pytest.fixture
def boxed(site: Site, visitor: Callable[[Role], TestClient], tmp_path: Path) -> Desk:
    """A reviewer before a YOLO data set with a box that stands out of its picture."""
    root = tmp_path / "boxed"
    for number, split in enumerate(("train", "train", "val")):
        name = f"{split}/{number}"
        pictures.write(root, f"images/{name}.jpg", pictures.jpeg(number, (320, 240)))
        pictures.write(root, f"labels/{name}.txt", b"0 0.5 0.5 0.2 0.2\n1 0.3 0.3 0.1 0.1\n")
    pictures.write(root, "labels/train/1.txt", b"0 0.5 0.5 0.2 0.2\n1 0.9 0.5 0.5 0.2\n")
    pictures.write(root, "labels/val/2.txt", b"0 0.5 0.5 0.2 0.2\n")
    pictures.write(root, "labels/train/nobody.txt", b"0 0.5 0.5 0.2 0.2\n")
    names = b"train: images/train\nval: images/val\nnames: [cat, dog]\n"
    pictures.write(root, "data.yaml", names)
    scanned.scan_into(site.settings.state, root, name="boxed", layout="yolo")
    return Desk(visitor(Role.REVIEWER), site.database, "boxed")


def test_a_box_that_stands_out_is_drawn_where_it_is(boxed: Desk) -> None:
    sample = boxed.sample(OUT)
    page = boxed.get(f"/samples/{sample.id}")
    assert 'viewBox="0.0 0.0 368.0 240.0"' in page.text
    assert 'points="208,96 368,96 368,144 208,144"' in page.text
    assert "Where: labels/train/1.txt , line 2" in text_of(page)


def test_findings_of_files_are_linked_from_the_overview_and_listed(boxed: Desk) -> None:
    assert "1 finding of files that are no samples" in text_of(boxed.get())
    said = text_of(boxed.get("/files"))
    assert "labels/train/nobody.txt" in said
    assert "annotation. orphan" in said
    assert "No file has findings" in text_of(boxed.get("/files", code="box.outside"))
    assert boxed.get("/files", code="no.such").status_code == 422
    assert boxed.get("/files", after=999).status_code == 422


def test_a_release_warns_of_annotation_files_that_cannot_be_trusted(boxed: Desk) -> None:
    said = text_of(boxed.get("/releases"))
    assert "An annotation file or list has a blocking finding of its own" in said
    boxed.decide(OUT, "exclude")
    made = boxed.post("/releases", {"pending": "0"})
    assert made.status_code == 303
    digest = made.headers["location"].rpartition("/")[2]
    record = boxed.client.get(f"/api/v1/datasets/boxed/releases/{digest}/release.json").json()
    assert any("have a blocking finding of their own" in one for one in record["warnings"])


def test_a_class_that_a_split_lacks_is_seen_on_the_overview(boxed: Desk) -> None:
    said = text_of(boxed.get())
    assert "set. class-missing" in said
    assert "No sample has a label of its own" in said
    assert "Class train val cat 2 1 dog 2 0" in said


def viewed(width: int | None, height: int | None, *details: dict[str, Any]) -> SampleView:
    """Return a sample with findings of these details; only what an overlay reads is there."""

    class Stub:
        severity = Severity.BLOCK

        def __init__(self, detail: dict[str, Any]) -> None:
            self.detail = detail

    sample = object.__new__(SampleView)
    object.__setattr__(sample, "width", width)
    object.__setattr__(sample, "height", height)
    object.__setattr__(sample, "findings", tuple(map(Stub, details)))
    return sample


NUMBERS = st.integers() | st.floats()
JSON = st.none() | st.booleans() | NUMBERS | st.text(max_size=3)


@given(
    st.integers(1, 10_000),
    st.integers(1, 10_000),
    st.lists(NUMBERS | JSON, max_size=9),
    st.lists(NUMBERS | JSON, max_size=99) | JSON,
)
def test_whatever_a_scanner_says_of_places_is_drawn_near_the_picture_or_not_at_all(
    width: int, height: int, box: Any, polygon: Any
) -> None:
    drawn = overlay(viewed(width, height, {"box": box, "polygon": polygon}))
    if drawn is not None:
        assert width <= drawn.width <= 2 * width
        assert height <= drawn.height <= 2 * height
        for shape in drawn.shapes:
            for x, y in shape.points:
                assert drawn.left <= x <= drawn.left + drawn.width
                assert drawn.top <= y <= drawn.top + drawn.height


def test_what_was_judged_turned_is_not_drawn_on_the_picture_as_it_is() -> None:
    box = {"box": [1, 2, 3, 4]}
    assert overlay(viewed(9, 9, box)) is not None
    assert overlay(viewed(9, 9, {**box, "turned": True})) is None
    assert overlay(viewed(None, None, box)) is None
