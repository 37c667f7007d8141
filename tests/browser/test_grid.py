"""Reviewing in the grid by keyboard: a tile shows a decision only once the server has it."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from tests import scanned
from tests.browser.conftest import Ward

pytestmark = pytest.mark.browser


def _tile(page: Page, path: str) -> Locator:
    return page.locator(f'#grid .tile[data-path="{path}"]')


def test_arrows_move_space_selects_and_x_leaves_out_what_is_selected(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(page.locator("#selected")).to_have_text("2 selected")
    page.keyboard.press("1")
    page.keyboard.press("x")
    for path in (scanned.CUT[0], scanned.CUT[2]):
        expect(_tile(page, path)).to_have_attribute("data-status", "excluded")
        expect(_tile(page, path).locator(".said")).to_have_text("Excluded by you")
    expect(_tile(page, scanned.CUT[1])).to_have_attribute("data-status", "held")
    expect(page.get_by_role("status")).to_have_text("Left out 2 samples: damaged.")
    expect(page.locator("#held-count")).to_have_text(str(scanned.HELD - 2))


def test_the_grid_is_one_stop_of_the_tab_key(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    assert page.locator('#grid [tabindex="0"]').count() == 1
    page.keyboard.press("ArrowDown")
    assert page.locator('#grid [tabindex="0"]').count() == 1
    columns = page.locator('#grid .tile a[tabindex="0"]').locator("..").get_attribute("data-path")
    assert columns in scanned.CUT[2:]


def test_shift_and_click_selects_a_range(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    _tile(page, scanned.CUT[1]).locator("input").check()
    _tile(page, scanned.CUT[4]).locator("a").click(modifiers=["Shift"])
    expect(page.locator("#selected")).to_have_text("4 selected")
    page.keyboard.press("Escape")
    expect(page.locator("#bulk")).to_be_hidden()


def test_ctrl_a_asks_with_the_number_and_one_undo_brings_all_back(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("Control+a")
    number = len(scanned.CUT)
    expect(page.locator("#ask-title")).to_contain_text(f"Decide for all {number} that match?")
    page.get_by_role("button", name=f"Leave out {number}").click()
    expect(page.get_by_role("status")).to_contain_text(f"Left out {number} samples")
    page.wait_for_load_state()
    page.keyboard.press("Control+z")
    expect(page.locator("#grid .tile")).to_have_count(60)


def test_escape_closes_the_question_and_nothing_was_decided(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("Control+a")
    page.keyboard.press("Escape")
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#held-count")).to_have_text(str(scanned.HELD))


def test_undo_brings_a_tile_back_and_the_focus_to_it(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("x")
    expect(_tile(page, scanned.CUT[0])).to_have_class(re.compile("gone"))
    page.keyboard.press("u")
    expect(_tile(page, scanned.CUT[0])).not_to_have_class(re.compile("gone"))
    expect(_tile(page, scanned.CUT[0]).locator("a")).to_be_focused()


def test_who_comes_second_sees_how_the_sample_stands_now(ward: Ward) -> None:
    first, second = ward.enter("Mei"), ward.enter("Jon")
    for page in (first, second):
        ward.open(page, "/review?path=cut_")
    first.keyboard.press("x")
    expect(_tile(first, scanned.CUT[0])).to_have_attribute("data-status", "excluded")
    second.keyboard.press("a")
    expect(second.get_by_role("status")).to_contain_text("Not saved: Keep as is.")
    expect(second.get_by_role("status")).to_contain_text("by Mei")
    expect(_tile(second, scanned.CUT[0])).to_have_attribute("data-status", "excluded")


def test_a_decision_survives_a_server_that_is_away(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("Space")
    page.keyboard.press("2")
    page.locator("#bulk input[name=note]").fill("the same as in May")
    page.locator("body").click(position={"x": 700, "y": 20})
    ward.server.kill()
    page.keyboard.press("x")
    expect(page.get_by_role("status")).to_contain_text(
        "Not saved: Leave out. The server does not answer."
    )
    expect(_tile(page, scanned.CUT[0])).to_have_attribute("data-status", "held")
    expect(_tile(page, scanned.CUT[0])).not_to_have_class(re.compile("gone"))
    expect(page.locator("#selected")).to_have_text("1 selected")
    ward.restart()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status")).to_have_text("Left out dogs/cut_00.jpg: copy.")
    expect(_tile(page, scanned.CUT[0])).to_have_attribute("data-status", "excluded")


def test_no_key_fires_while_somebody_types_or_composes(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review?path=cut_")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("axru1?j ")
    expect(page.locator("#find")).to_have_value("axru1?j ")
    page.keyboard.press("Escape")
    page.evaluate(
        """() => document.body.dispatchEvent(new KeyboardEvent(
            "keydown", {key: "x", isComposing: true, bubbles: true, cancelable: true}))"""
    )
    page.keyboard.press("Alt+x")
    page.reload()
    expect(page.locator("#held-count")).to_have_text(str(scanned.HELD))
    expect(page.get_by_role("status")).to_be_empty()


def test_help_opens_by_key_and_names_the_keys(ward: Ward) -> None:
    page = ward.enter()
    ward.open(page, "/review")
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
