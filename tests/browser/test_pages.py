"""Pages as a whole: hostile text, no script, narrow windows."""

import re
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect
from tests import scanned
from tests.browser.conftest import Ward
from tests.quarantine.factories import NAME, a_record
from tests.quarantine.factories import scanned as scanned_as_records

from sickbay.database.schema import open_database

pytestmark = pytest.mark.browser

QUEUES = ("/review?path=onerror&status=held&status=excluded", "/review?code=image.undecodable")


def test_hostile_names_and_notes_run_nothing_on_any_page(ward: Ward) -> None:
    """The fixture fails the test on any dialog, script error or violation of the policy."""
    page = ward.enter(f"Mei {scanned.CANARY}")
    ward.open(page, QUEUES[0])
    page.keyboard.press("Space")
    page.locator("#bulk input[name=note]").fill(scanned.CANARY)
    page.get_by_role("button", name="Leave out").click()
    expect(page.get_by_role("status")).to_contain_text("onerror=alert(1)")
    for address in ("", *QUEUES, "/releases"):
        ward.open(page, address)
        expect(page.locator("h1")).to_be_attached()
    ward.open(page, QUEUES[0])
    page.locator("#grid .tile a").first.click()
    expect(page.locator(".log q")).to_have_text(scanned.CANARY)
    expect(page.locator("img[src=x]")).to_have_count(0)
    page.wait_for_load_state("networkidle")


def test_the_whole_review_works_without_scripts(ward: Ward) -> None:
    page = ward.enter(java_script_enabled=False)
    page.get_by_label("Login link").fill(page.url)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name=re.compile("^Review")).first.click()
    page.get_by_role("link", name=re.compile("image.truncated")).first.click()
    page.locator("#grid .tile a").first.click()
    name = page.get_by_role("heading", level=1).inner_text()
    page.locator(".reasons label", has_text="Damaged").click()
    page.get_by_role("button", name="Leave out").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(name)
    expect(page.get_by_role("status")).to_contain_text("Left out")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.get_by_role("link", name=re.compile("^Grid")).click()
    page.locator("#grid .pick input").nth(1).check()
    page.get_by_role("button", name="Leave out").click()
    expect(page.get_by_role("status")).to_contain_text("Left out")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_no_page_scrolls_sideways_in_a_narrow_window(ward: Ward, width: int) -> None:
    page = ward.enter(viewport={"width": width, "height": 800})
    for address in ("", "/review", "/releases", "/policy", "/files", *_samples(ward, page)):
        ward.open(page, address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_on_a_phone_the_filter_is_a_page_of_its_own(ward: Ward) -> None:
    page = ward.enter(viewport={"width": 390, "height": 800})
    ward.open(page, "/review")
    expect(page.locator("#facets")).to_be_hidden()
    page.get_by_role("link", name="Filter", exact=True).click()
    expect(page.locator("#facets")).to_be_visible()
    page.get_by_role("link", name=re.compile("file.empty")).click()
    expect(page.locator("#grid .tile")).to_have_count(1)


def test_the_rest_of_a_long_list_is_one_tap_away_on_a_phone_too(ward: Ward) -> None:
    with closing(open_database(ward.state / "sickbay.db")) as database:
        records = [a_record(f"{n:03}.jpg", "file.empty", label=f"class {n:03}") for n in range(90)]
        scanned_as_records(database, records)
    page = ward.enter(viewport={"width": 390, "height": 800})
    page.goto(f"{ward.server.url}/datasets/{NAME}/review#facets")
    page.locator("#facet-label summary").click()
    expect(page.get_by_role("link", name="class 089")).to_have_count(0)
    page.get_by_role("link", name="70 more").click()
    page.get_by_role("link", name="class 089").click()
    expect(page.locator("#grid .tile")).to_have_count(1)
    page.goto(f"{ward.server.url}/datasets/{NAME}")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("#classes")).to_contain_text("class 089")


def _samples(ward: Ward, page: Page) -> list[str]:
    addresses = []
    for query in QUEUES:
        ward.open(page, query)
        href = page.locator("#grid .tile a").first.get_attribute("href")
        assert href is not None
        addresses.append(href.removeprefix(f"/datasets/{scanned.NAME}"))
    return addresses
