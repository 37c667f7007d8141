"""Reviewing one sample after the other by keyboard."""

import pytest
from playwright.sync_api import FilePayload, Page, expect
from tests import pictures, scanned
from tests.browser.conftest import Ward

pytestmark = pytest.mark.browser


def _open_first(ward: Ward, page: Page) -> None:
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("Enter")
    _at(page, scanned.CUT[0])


def _at(page: Page, path: str) -> None:
    """Wait for the page of this sample, until its keys work."""
    expect(page.get_by_role("heading", level=1)).to_have_text(path)
    expect(page.locator("html[data-ready]")).to_be_attached()


def test_a_decision_goes_on_to_the_next_and_undo_works_across_samples(ward: Ward) -> None:
    page = ward.enter()
    _open_first(ward, page)
    page.keyboard.press("1")
    page.keyboard.press("x")
    _at(page, scanned.CUT[1])
    expect(page.locator("#heading")).to_be_focused()
    expect(page.get_by_role("status")).to_contain_text("Left out dogs/cut_00.jpg: damaged")
    page.keyboard.press("a")
    _at(page, scanned.CUT[2])
    page.keyboard.press("Control+z")
    _at(page, scanned.CUT[1])
    expect(page.get_by_role("status")).to_have_text("Undone: dogs/cut_01.jpg.")
    expect(page.locator("#heading")).to_be_focused()
    page.keyboard.press("u")
    _at(page, scanned.CUT[0])
    expect(page.locator("#held-count")).to_have_text(str(scanned.HELD))


def test_j_k_and_s_move_and_escape_returns_to_the_tile(ward: Ward) -> None:
    page = ward.enter()
    _open_first(ward, page)
    page.keyboard.press("j")
    _at(page, scanned.CUT[1])
    page.keyboard.press("s")
    _at(page, scanned.CUT[2])
    page.keyboard.press("k")
    _at(page, scanned.CUT[1])
    expect(page.get_by_text(f"2 of {len(scanned.CUT)}")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(f'.tile[data-path="{scanned.CUT[1]}"] a')).to_be_focused()


def test_enter_in_the_note_decides_nothing(ward: Ward) -> None:
    page = ward.enter()
    _open_first(ward, page)
    page.locator("#note").fill("axr")
    page.keyboard.press("Enter")
    page.reload()
    _at(page, scanned.CUT[0])
    expect(page.locator("#held-count")).to_have_text(str(scanned.HELD))


def test_a_decision_survives_a_server_that_is_away(ward: Ward) -> None:
    page = ward.enter()
    _open_first(ward, page)
    page.keyboard.press("7")
    page.locator("#note").fill("too blurred to read")
    page.keyboard.press("Enter")
    ward.server.kill()
    page.keyboard.press("x")
    expect(page.get_by_role("status")).to_contain_text("Not saved: Leave out.")
    expect(page.locator("#note")).to_have_value("too blurred to read")
    expect(page.get_by_role("heading", level=1)).to_have_text(scanned.CUT[0])
    ward.restart()
    page.get_by_role("button", name="Try again").click()
    _at(page, scanned.CUT[1])
    expect(page.get_by_role("status")).to_contain_text("Left out dogs/cut_00.jpg: poor quality")


def test_a_replacement_that_is_unfit_is_refused_and_a_sound_one_taken(ward: Ward) -> None:
    page = ward.enter()
    _open_first(ward, page)
    page.keyboard.press("r")
    page.set_input_files("#file", _file(b"no picture"))
    expect(page.locator("#use-file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The new file is not fit either.")
    page.set_input_files("#file", _file(pictures.jpeg(9)))
    page.keyboard.press("Enter")
    _at(page, scanned.CUT[1])
    expect(page.get_by_role("status")).to_contain_text("Replaced dogs/cut_00.jpg")


def test_a_replacement_that_is_too_large_is_said_to_be_before_it_is_sent(ward: Ward) -> None:
    page = ward.enter()
    _open_first(ward, page)
    page.keyboard.press("r")
    page.evaluate("document.getElementById('file').dataset.most = 2 << 20")
    page.set_input_files("#file", _file(b"x" * ((2 << 20) + 1)))
    page.keyboard.press("Enter")
    said = page.get_by_role("status")
    expect(said).to_contain_text("The file is larger than the 2 MB allowed here.")
    page.set_input_files("#file", _file(pictures.jpeg(9)))
    page.keyboard.press("Enter")
    _at(page, scanned.CUT[1])


def test_who_comes_second_keeps_what_was_written(ward: Ward) -> None:
    first, second = ward.enter("Mei"), ward.enter("Jon")
    _open_first(ward, first)
    _open_first(ward, second)
    first.keyboard.press("x")
    _at(first, scanned.CUT[1])
    second.locator("#note").fill("fine to me")
    second.keyboard.press("Enter")
    second.keyboard.press("a")
    expect(second.get_by_role("alert")).to_contain_text("Not saved: somebody was first.")
    expect(second.get_by_role("alert")).to_contain_text("by Mei")
    expect(second.locator("#note")).to_have_value("fine to me")
    second.get_by_role("link", name="Show how it stands now").click()
    expect(second.get_by_role("button", name="Reopen")).to_be_visible()


def _file(data: bytes) -> FilePayload:
    return {"name": "new.jpg", "mimeType": "image/jpeg", "buffer": data}
