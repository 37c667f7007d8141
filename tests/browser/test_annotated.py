"""Boxes over a picture in a real browser, and the policy set from a page."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests import pictures, scanned
from tests.browser.conftest import Ward

pytestmark = pytest.mark.browser
_PIXEL = 0.002
"""A pixel of the screen, in widths of the picture as it is shown here."""
_LINES = b"0 0.5 0.5 0.2 0.2\n1 0.9 0.5 0.5 0.2\n"


def _open(ward: Ward, page: Page, root: Path) -> None:
    """Scan a data set of two pictures with a box outside, and open the first."""
    for number in range(2):
        pictures.write(root, f"images/{number}.jpg", pictures.jpeg(number, (320, 240)))
        pictures.write(root, f"labels/{number}.txt", _LINES)
    scanned.scan_into(ward.state, root, name="boxed", layout="yolo")
    page.goto(f"{ward.server.url}/datasets/boxed/review")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("images/0.jpg")
    expect(page.locator("html[data-ready]")).to_be_attached()


def _on_picture(page: Page) -> list[float]:
    """Return where the outline lies on the screen, in widths and heights of the picture shown."""
    found: list[float] = page.evaluate(
        """() => {
            const frame = document.querySelector("#stage image").getBoundingClientRect();
            const outline = [...document.querySelectorAll("#stage polygon")].at(-1);
            const own = outline.getScreenCTM(), box = outline.getBBox();
            const at = (x, y) => new DOMPoint(x, y).matrixTransform(own);
            const first = at(box.x, box.y), last = at(box.x + box.width, box.y + box.height);
            return [(first.x - frame.x) / frame.width, (first.y - frame.y) / frame.height,
                    (last.x - first.x) / frame.width, (last.y - first.y) / frame.height];
        }"""
    )
    return found


def test_boxes_are_on_the_picture_and_stay_off_once_switched_off(
    ward: Ward, tmp_path: Path
) -> None:
    page = ward.enter()
    _open(ward, page, tmp_path / "boxed")
    outline = page.locator("#stage polygon").last
    assert _on_picture(page) == pytest.approx([0.65, 0.4, 0.5, 0.2], abs=_PIXEL)
    page.keyboard.press("b")
    expect(outline).to_be_hidden()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("images/1.jpg")
    expect(page.locator("html[data-ready]")).to_be_attached()
    expect(page.locator("#stage polygon").last).to_be_hidden()
    page.get_by_role("button", name=re.compile("Boxes")).click()
    expect(page.locator("#stage polygon").last).to_be_visible()


def test_a_reviewer_lets_a_code_be_silent_from_the_page(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "")
    page.get_by_role("link", name="Policy").click()
    page.get_by_label("Severity of image.truncated").select_option("silent")
    page.get_by_role("button", name="Save the policy").click()
    expect(page.get_by_text("image.truncated: say nothing")).to_be_visible()
    expect(page.get_by_label("Severity of image.truncated")).to_have_value("silent")
    expect(page.get_by_text("was judged by another policy")).to_be_visible()


def test_a_phone_shows_code_severity_and_meaning_of_a_policy_apart(ward: Ward) -> None:
    page = ward.enter(viewport={"width": 390, "height": 800})
    ward.open(page, "/policy")
    row = page.locator(".severities tbody tr").first
    code, choice = row.locator(".code").bounding_box(), row.locator("select").bounding_box()
    meaning = row.locator("td.dim").bounding_box()
    assert code is not None
    assert choice is not None
    assert meaning is not None
    assert code["x"] + code["width"] <= choice["x"]
    assert meaning["y"] >= max(code["y"] + code["height"], choice["y"] + choice["height"])


@pytest.mark.parametrize("width", [390, 1440])
def test_the_box_that_selects_a_row_hides_none_of_its_text(
    ward: Ward, tmp_path: Path, width: int
) -> None:
    pictures.write(tmp_path, "rows/data.csv", b"text,label\nfine,1\nalso fine,0\nno label,\n")
    scanned.scan_into(ward.state, tmp_path / "rows", name="rows", layout="csv")
    page = ward.enter(viewport={"width": width, "height": 800})
    page.goto(f"{ward.server.url}/datasets/rows/review")
    tile = page.locator("#grid .tile").first
    expect(tile).to_contain_text("row 3, data.csv")
    first = tile.locator(".words bdi").evaluate(
        "text => { const range = document.createRange(); range.setStart(text.firstChild, 0);"
        " range.setEnd(text.firstChild, 1); return range.getBoundingClientRect().left; }"
    )
    box = tile.locator(".pick input").bounding_box()
    assert box is not None
    assert first >= box["x"] + box["width"]
