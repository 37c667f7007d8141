"""A replacement is checked as its kind is, by the policy that the original was judged by."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from tests import pictures
from tests.web.pages.desk import PAGE, Desk, text_of

from sickbay.accounts.tables import Role
from sickbay.cli.local_sink import LocalSink
from sickbay.contract.policy import Policy
from sickbay.scanner.engine import scan
from sickbay.scanner.task import Setup
from sickbay.web.site import Site

NAME = "others"
Scanned = Callable[..., Desk]


@pytest.fixture
def scanned(site: Site, visitor: Callable[[Role], TestClient], tmp_path: Path) -> Scanned:
    """Scans files by a layout and a policy; returns a reviewer's desk."""

    def act(layout: str, files: dict[str, bytes], policy: Policy | None = None) -> Desk:
        root = tmp_path / "data"
        for path, data in files.items():
            pictures.write(root, path, data)
        sink = LocalSink(site.database, site.blobs, root=root, by="tester", dataset=NAME)
        setup = Setup(policy=policy or Policy())
        scan(root, dataset=NAME, sink=sink, layout=layout, workers=1, setup=setup)
        return Desk(visitor(Role.REVIEWER), site.database, NAME)

    return act


def replaced(desk: Desk, path: str, data: bytes) -> Response:
    sample = desk.sample(path)
    return desk.client.post(
        f"{desk.base}/samples/{sample.id}/replacement",
        data={"version": str(sample.version), "query": "", "note": ""},
        files={"file": ("new", data, "application/octet-stream")},
        headers=PAGE,
    )


def array(*values: float) -> bytes:
    made = io.BytesIO()
    np.save(made, np.array(values, np.float32))
    return made.getvalue()


def test_a_text_takes_the_place_of_one_that_was_empty(scanned: Scanned) -> None:
    desk = scanned("text", {"a.txt": b"", "b.txt": b"fine"})
    assert "text" in text_of(replaced(desk, "a.txt", b"caf\xe9"))
    assert desk.sample("a.txt").status == "held"
    assert replaced(desk, "a.txt", "café".encode()).status_code == 303
    assert desk.sample("a.txt").status == "repaired"


def test_a_text_is_as_short_as_the_scan_asked_for(scanned: Scanned) -> None:
    desk = scanned("text", {"a.txt": b"far too long a text"}, Policy(max_characters=8))
    assert "text.overlong" in text_of(replaced(desk, "a.txt", b"too long still"))
    assert replaced(desk, "a.txt", b"shorter").status_code == 303


def test_an_array_takes_the_place_of_one_with_nan(scanned: Scanned) -> None:
    desk = scanned("arrays", {"a.npy": array(1, float("nan"))})
    assert "array.not-finite" in text_of(replaced(desk, "a.npy", array(float("inf"))))
    assert "array." in text_of(replaced(desk, "a.npy", b"no array"))
    assert replaced(desk, "a.npy", array(1, 2)).status_code == 303
    assert desk.sample("a.npy").status == "repaired"


def test_what_a_policy_blocks_is_no_replacement_and_what_it_allows_is_one(
    scanned: Scanned,
) -> None:
    policy = Policy(severities={"image.trailing-data": "block", "image.truncated": "note"})
    desk = scanned("imagefolder", {"cat/a.jpg": b""}, policy)
    long = pictures.jpeg(1) + b"some more"
    assert "image.trailing-data" in text_of(replaced(desk, "cat/a.jpg", long))
    cut = pictures.truncated(pictures.jpeg(1))
    assert replaced(desk, "cat/a.jpg", cut).status_code == 303


def test_no_file_stands_for_a_row(scanned: Scanned) -> None:
    desk = scanned("csv", {"data.csv": b"text,label\nfine,1\n,0\n"})
    answer = replaced(desk, "data.csv#row=000000002", b"text")
    assert answer.status_code == 422
    assert "correct the row and scan again" in text_of(answer)
    page = desk.get(f"/samples/{desk.sample('data.csv#row=000000002').id}")
    assert "It cannot be replaced. Correct it in data.csv, then scan again." in text_of(page)
    assert 'id="pick-file"' not in page.text
    assert 'id="replace"' not in page.text


def test_a_picture_with_boxes_in_pixels_is_replaced_by_one_of_the_same_size(
    scanned: Scanned,
) -> None:
    box = "<xmin>9</xmin><ymin>9</ymin><xmax>5</xmax><ymax>20</ymax>"
    one = f"<object><name>cat</name><bndbox>{box}</bndbox></object>"
    notes = f"<annotation>{one}</annotation>"
    files = {"JPEGImages/a.jpg": pictures.jpeg(1), "Annotations/a.xml": notes.encode()}
    desk = scanned("voc", files)
    sample = desk.sample("JPEGImages/a.jpg")
    assert sample.status == "held"
    small = pictures.encoded(pictures.picture(2, (40, 50)), "JPEG")
    answer = replaced(desk, "JPEGImages/a.jpg", small)
    assert answer.status_code == 422
    assert f"The annotations are for {sample.width} by {sample.height} pixels" in text_of(answer)
    assert replaced(desk, "JPEGImages/a.jpg", pictures.jpeg(2)).status_code == 303
