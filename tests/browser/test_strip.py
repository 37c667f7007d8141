"""From a point, a spike or a failure of a curve to its samples, decided on there; and back."""

import re
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Locator, Page, expect
from tests import scanned
from tests.browser.conftest import Ward
from tests.curve import click_at, drawn
from tests.runs.sending import Trainer, failure, points

from sickbay.contract.blame import Batches, Outcome, Verdict
from sickbay.contract.blame import Sample as Used
from sickbay.contract.event import FailureKind
from sickbay.contract.report import Change, Passed, Report, Stage
from sickbay.database import Database
from sickbay.database.schema import open_database

pytestmark = pytest.mark.browser

STEPS, SPIKE, FAILED, PLAIN = 60, 30, 45, 15
REF, LATER = "0123456789abcdef", "fedcba9876543210"
BAD, COMPANY, THIRD = scanned.SOUND
BROKEN = scanned.CUT[0]


@pytest.fixture
def beside(ward: Ward) -> Iterator[Database]:
    """The server's database, opened beside it."""
    database = open_database(ward.state / "sickbay.db")
    yield database
    database.close()


def _used(step: int, losses: list[float], *paths: str) -> Batches:
    samples = tuple(Used(path) for path in paths)
    places = array("q", range(len(paths)))
    return Batches(
        array("q", [step]), array("q", [len(paths)]), places, samples, array("d", losses)
    )


@pytest.fixture
def trainer(beside: Database) -> Trainer:
    """Two ranks; a spike on the second, with a verdict; a picture that could not be loaded."""
    made = Trainer(beside, name="which", dataset=scanned.NAME)
    other = Trainer(beside, name="which", dataset=scanned.NAME, rank=1)
    values = [1.0 + 0.01 * (step % 7) for step in range(STEPS)]
    values[SPIKE] = 9.0
    for one in (made, other):
        one.log(points("loss", range(STEPS), values))
    for step in (PLAIN, SPIKE):
        made.log(_used(step, [0.5, 0.4], THIRD, COMPANY))
        other.log(_used(step, [0.25, 88.5, 0.125], COMPANY, BAD, THIRD))
    batch = (Used(COMPANY, loss=0.25), Used(BAD, loss=88.5), Used(THIRD, loss=0.125))
    spike = FailureKind.LOSS_SPIKE
    other.log(failure("", what=spike, exception_type="", ref=REF, step=SPIKE, samples=batch))
    other.log(Verdict(REF, Outcome.REPRODUCED_ALONE, (Used(BAD, loss=88.5),), 4))
    made.log(failure("cut", step=FAILED, samples=(Used(BROKEN),)))
    return made


def show(ward: Ward, page: Page, trainer: Trainer, query: str = "") -> None:
    page.goto(f"{ward.server.url}/runs/{trainer.run}{query}")
    drawn(page)


def status_of(ward: Ward, path: str) -> str:
    """Return how a sample stands on disk."""
    connection = sqlite3.connect(ward.state / "sickbay.db", timeout=20)
    with closing(connection):
        row = connection.execute("SELECT status FROM sample WHERE path = ?", (path,)).fetchone()
    return str(row[0])


def tiles(page: Page) -> Locator:
    return page.locator("#strip .tile")


def here(page: Page) -> Locator:
    return page.locator("#strip .tile.here")


def test_a_click_on_a_point_a_spike_or_a_failure_opens_the_samples_of_its_step(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    show(ward, page, trainer)
    for step, beside, paths in (
        (PLAIN, 0, [THIRD, COMPANY]),
        (SPIKE, 3, [BAD, COMPANY, THIRD]),
        (FAILED, -3, [BROKEN]),
    ):
        click_at(page, step, beside)
        expect(page.locator("#strip-title")).to_have_text(f"Samples of step {step}")
        expect(tiles(page)).to_have_count(len(paths))
        assert [one.get_attribute("data-path") for one in tiles(page).all()] == paths
    expect(page).to_have_url(re.compile(rf"step={FAILED}&attempt=1&rank=0"))
    expect(page.locator("#happened [aria-current]")).to_contain_text("could not be loaded")


def test_by_keys_alone_a_failure_is_found_its_sample_left_out_and_taken_back(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    show(ward, page, trainer)
    page.locator("#happened .events").focus()
    link = page.locator("#happened a", has_text="Loss spike")
    while not link.evaluate("(link) => link === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(here(page).locator("a")).to_be_focused()
    expect(here(page)).to_have_attribute("data-path", BAD)
    page.keyboard.press("x")
    expect(page.locator("#said")).to_have_text("Left out cats/sound_0.jpg.")
    expect(tiles(page).first).to_have_attribute("data-status", "excluded")
    expect(here(page)).to_have_attribute("data-path", COMPANY)
    expect(here(page).locator("a")).to_be_focused()
    page.keyboard.press("u")
    expect(tiles(page).first).to_have_attribute("data-status", "held")
    expect(here(page)).to_have_attribute("data-path", BAD)
    page.keyboard.press("a")
    expect(tiles(page).first).to_have_attribute("data-status", "approved")
    page.keyboard.press("k")
    page.keyboard.press("o")
    expect(tiles(page).first).to_have_attribute("data-status", "held")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/samples/\d+$"))
    assert status_of(ward, BAD) == "held"


def test_events_are_walked_through_by_keys_and_the_samples_follow(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    show(ward, page, trainer)
    marked = page.locator("#happened a[data-step]")
    for event in marked.all():
        step = event.get_attribute("data-step")
        page.keyboard.press("n")
        while page.locator("#happened [aria-current][data-step]").count() == 0:
            page.keyboard.press("n")
        expect(event).to_have_attribute("aria-current", "true")
        expect(page.locator("#strip-title")).to_have_text(f"Samples of step {step}")


def test_what_is_decided_on_the_strip_is_saved_and_undone_by_its_buttons(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    show(ward, page, trainer)
    page.locator("#happened a", has_text="Loss spike").click()
    tiles(page).nth(2).get_by_role("button", name="Hold for review").click()
    expect(tiles(page).nth(2)).to_have_attribute("data-status", "held")
    expect(page.locator("#held-count")).to_have_text(f"{scanned.HELD + 2}")
    tiles(page).first.get_by_role("button", name="Leave out").click()
    expect(tiles(page).first).to_have_attribute("data-status", "excluded")
    assert [status_of(ward, path) for path in (BAD, THIRD)] == ["excluded", "held"]
    page.get_by_role("button", name="Undo").click()
    expect(tiles(page).first).to_have_attribute("data-status", "held")
    page.get_by_role("button", name="Undo").click()
    expect(tiles(page).nth(2)).to_have_attribute("data-status", "clean")
    assert [status_of(ward, path) for path in (BAD, THIRD)] == ["held", "clean"]


def test_who_comes_second_sees_on_the_strip_how_it_stands(ward: Ward, trainer: Trainer) -> None:
    first, second = ward.enter("Mei"), ward.enter("Li")
    for page in (first, second):
        show(ward, page, trainer, f"?step={SPIKE}&attempt=1")
        expect(tiles(page)).to_have_count(3)
    first.keyboard.press("x")
    expect(tiles(first).first).to_have_attribute("data-status", "excluded")
    second.keyboard.press("a")
    expect(second.locator("#said")).to_contain_text("Not saved: Keep as is.")
    expect(tiles(second).first).to_have_attribute("data-status", "excluded")
    assert status_of(ward, BAD) == "excluded"


def test_other_ranks_and_the_batch_before_are_one_click_away(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    show(ward, page, trainer, f"?step={SPIKE}&attempt=1&rank=1")
    others = page.get_by_role("navigation", name="Other batches")
    others.get_by_role("link", name="0", exact=True).click()
    expect(page.locator("#strip")).to_contain_text("rank 0; batch of 2")
    expect(page.locator("#strip .notice")).to_have_count(0)
    others.get_by_role("link", name="Batch before").click()
    expect(page.locator("#strip")).to_contain_text(f"step {SPIKE - 1} was not recorded")
    expect(page.locator("#strip-title")).to_have_text(re.compile(f"step ({PLAIN}|{SPIKE})"))


def test_a_sample_leads_back_to_its_point_of_the_curve(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    show(ward, page, trainer, f"?step={SPIKE}&attempt=1&rank=1")
    tiles(page).first.locator("a").click()
    row = page.get_by_role("row", name=re.compile("which, step 30"))
    for said in ("rank 1", "loss-spike", "88.5", "it is the data"):
        expect(row).to_contain_text(said)
    row.get_by_role("link").click()
    drawn(page)
    expect(page.locator("#strip-title")).to_have_text(f"Samples of step {SPIKE}")
    expect(page.locator("#strip-title")).to_be_in_viewport()
    expect(tiles(page).first).to_have_attribute("data-path", BAD)
    cursor = "Bokeh.documents.at(-1).get_model_by_name('cursor-data').data.x"
    assert page.evaluate(f"[...{cursor}]") == [SPIKE]


def test_verdicts_changes_and_reports_reach_an_open_page(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    show(ward, page, trainer, f"?step={FAILED + 1}&attempt=1&rank=0")
    page.evaluate("window.stayed = true")
    happened, strip = page.locator("#happened"), page.locator("#strip")
    trainer.log(_used(FAILED + 1, [], COMPANY, THIRD))
    batch = (Used(COMPANY), Used(THIRD, loss=7.5))
    spike = FailureKind.LOSS_SPIKE
    trainer.log(failure("", what=spike, exception_type="", ref=LATER, step=46, samples=batch))
    expect(strip).to_contain_text("batch of 2")
    expect(tiles(page).first).to_contain_text("7.5")
    expect(strip.locator(".notice")).to_have_count(0)
    page.keyboard.press("j")
    expect(here(page)).to_have_attribute("data-path", COMPANY)
    trainer.log(Verdict(LATER, Outcome.NOT_REPRODUCED, (), 3))
    expect(strip.locator(".notice")).to_contain_text("the cause is elsewhere")
    expect(happened.locator("a", has_text="rank 0; not the data")).to_have_count(1)
    expect(here(page)).to_have_attribute("data-path", COMPANY)
    expect(here(page).locator("a")).to_be_focused()
    trainer.log(Change("learning-rate", "0.1", "0.05", "the loss went up", 47))
    expect(happened).to_contain_text("0.1 → 0.05")
    stages = (Stage("one batch", Passed.PASSED), Stage("one forward", Passed.FAILED, "3 by 4"))
    trainer.log(Report("Triage", Passed.FAILED, stages, "model", "shape mismatch", "The head."))
    report = page.locator("#reports details")
    expect(report).to_contain_text("3 by 4")
    report.locator("summary").click()
    trainer.log(Report("Again", Passed.PASSED, stages[:1]))
    expect(report).to_have_count(2)
    expect(report.filter(has_text="Triage")).not_to_have_attribute("open", "")
    assert page.evaluate("window.stayed")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_the_strip_scrolls_by_itself_and_the_page_never_sideways(
    ward: Ward, trainer: Trainer, width: int
) -> None:
    stages = (Stage("one forward", Passed.FAILED, "x" * 300),)
    trainer.log(Report("T" * 200, Passed.FAILED, stages, "model", "shape mismatch", "y" * 300))
    trainer.log(_used(PLAIN, [], *(f"{'long' * 20}/{number}.jpg" for number in range(40))))
    page = ward.enter(viewport={"width": width, "height": 800}, has_touch=True)
    for step in (SPIKE, PLAIN):
        show(ward, page, trainer, f"?step={step}&attempt=1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    tiles(page).last.scroll_into_view_if_needed()
    expect(tiles(page).last).to_be_in_viewport()
    assert page.evaluate("scrollX") == 0


def test_the_strip_has_names_for_everything_and_one_tab_stop_a_sample(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    show(ward, page, trainer, f"?step={SPIKE}&attempt=1")
    strip = page.get_by_role("region", name=f"Samples of step {SPIKE}")
    items = strip.get_by_role("list", name=f"Samples of step {SPIKE}").get_by_role("listitem")
    expect(items).to_have_count(3)
    expect(items.first.get_by_role("link")).to_have_accessible_name(
        re.compile("blamed.*loss 88.5.*Held.*cats/sound_0.jpg")
    )
    for part in strip.locator("a, button").all():
        assert part.evaluate("(part) => part.innerText.trim().length")
        height = part.evaluate("(part) => part.getBoundingClientRect().height")
        assert height >= 16, part
    assert strip.locator(".tile :is(a, button)[tabindex='0']").count() == 3
    assert page.locator("img:not([alt])").count() == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_without_scripts_an_event_leads_to_its_samples_and_they_can_be_left_out(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter(java_script_enabled=False)
    page.get_by_label("Login link").fill(page.url)
    page.get_by_role("button", name="Log in").click()
    page.goto(f"{ward.server.url}/runs/{trainer.run}")
    page.locator("#happened a", has_text="Loss spike").click()
    expect(page.locator("#strip-title")).to_have_text(f"Samples of step {SPIKE}")
    expect(tiles(page)).to_have_count(3)
    tiles(page).first.get_by_role("button", name="Leave out").click()
    assert status_of(ward, BAD) == "excluded"
