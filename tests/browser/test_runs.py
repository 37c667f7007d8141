"""Runs in a real browser: the chart and its marks, live, hostile names, narrow windows."""

import math
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests import scanned
from tests.browser.conftest import Ward
from tests.runs.sending import Trainer, failure, points

from sickbay.contract.event import Alert, Ending, FailureKind, Finish
from sickbay.database import Database
from sickbay.database.schema import open_database

pytestmark = pytest.mark.browser


@pytest.fixture
def beside(ward: Ward) -> Iterator[Database]:
    """The server's database, opened beside it."""
    database = open_database(ward.state / "sickbay.db")
    yield database
    database.close()


@pytest.fixture
def trainer(beside: Database) -> Trainer:
    """A run of two attempts, with everything that a curve can hold."""
    name = f"signs {scanned.CANARY}"
    Trainer(beside, name=name, launch="first").log(points("loss", range(50), [2.0] * 50))
    made = Trainer(beside, name=name, launch="second", dataset=scanned.NAME)
    values = [1.0 + 0.01 * (step % 7) for step in range(5000)]
    values[2500], values[3000], values[3500], values[4000] = 9.0, math.nan, math.inf, -math.inf
    values[4500] = -1.0
    made.log(points("loss", range(5000), values), points(scanned.CANARY, [1, 2], [1.0, 2.0]))
    made.log(failure(scanned.CANARY, step=4200), Alert(scanned.CANARY))
    made.log(failure("", what=FailureKind.LOSS_SPIKE, exception_type="", step=2500))
    return made


def _show(ward: Ward, page: Page, trainer: Trainer, query: str = "") -> None:
    page.goto(f"{ward.server.url}/runs/{trainer.run}{query}")
    expect(page.locator("html[data-ready]")).to_be_attached()
    _drawn(page, "step linear")


def _drawn(page: Page, kind: str) -> None:
    """Wait until a figure of that kind is there, with its data."""
    expect(page.locator(f'#plot[data-kind="{kind}"]')).to_be_attached()


def _source(page: Page, name: str) -> dict[str, list[Any]]:
    """Return what is drawn under a name."""
    found: dict[str, list[Any]] = page.evaluate(
        """(name) => {
            const data = Bokeh.documents.at(-1).get_model_by_name(`${name}-data`).data;
            const copies = Object.entries(data).map(([key, value]) => [key, [...value]]);
            return Object.fromEntries(copies);
        }""",
        name,
    )
    return found


def _marks(page: Page, prefix: str = "") -> dict[str, list[Any]]:
    names = ("nan", "inf", "neg", "failure", "spike")
    return {name: _source(page, prefix + name)["x"] for name in names}


STREAM, POLL = re.compile(r"/runs/[0-9a-f]{16}/live"), re.compile("/changes")
ALL = {"nan": [3000], "inf": [3500], "neg": [4000], "failure": [4200], "spike": [2500, 2500]}


def test_every_mark_is_there_at_every_zoom_smoothing_and_axis(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    _show(ward, page, trainer)
    assert _marks(page) == ALL
    assert 9.0 in [value for path in _source(page, "lines")["ys"] for value in path]
    page.get_by_role("combobox", name="Smooth").select_option("0.04")
    page.get_by_label("Log axis").check()
    _drawn(page, "step log")
    expect(page.locator("#below")).to_have_text(re.compile("at least 1 values of zero or less"))
    assert _marks(page) == ALL
    assert _source(page, "below")["x"] == [4500]
    assert 9.0 in [value for path in _source(page, "raw")["ys"] for value in path]
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    assert _marks(page, "all-") == ALL


def test_failures_beyond_the_last_point_and_spikes_without_a_height_are_marked(
    ward: Ward, trainer: Trainer
) -> None:
    trainer.log(failure("later", step=(1 << 63) - 1))
    trainer.log(points("loss", [6000], [math.nan]))
    trainer.log(failure("", what=FailureKind.LOSS_SPIKE, exception_type="", step=6000))
    page = ward.enter()
    _show(ward, page, trainer)
    assert sorted(_marks(page)["failure"]) == [4200, 6000, 6000]
    assert sorted(_marks(page, "all-")["failure"]) == [4200, 6000, 6000]


def test_zooming_fetches_finer_data_of_what_is_in_view(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    _show(ward, page, trainer)
    for _ in range(5):
        with page.expect_response(re.compile("/chart.*since=")):
            page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#extent")).to_have_text(re.compile(r"2,42\d to 2,57\d of 4,999"))
    box = page.locator("#plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    expect(page.locator("#readout")).to_contain_text(re.compile(r"Step 2,\d+"))
    page.get_by_role("button", name="Whole run").click()
    expect(page.locator("#extent")).to_have_text("whole run")


def test_dragging_over_the_chart_zooms_into_it(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    _show(ward, page, trainer)
    box = page.locator("#plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 150, steps=5)
    page.mouse.up()
    expect(page.locator("#extent")).to_have_text(re.compile(r"of 4,999"))


def test_new_points_failures_and_the_end_show_without_loading_the_page(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    _show(ward, page, trainer)
    expect(page.locator("#feed")).to_have_text("Following: new points show at once.")
    trainer.log(points("loss", [5000, 5001], [1.5, math.nan]))
    expect(page.locator("#last-step")).to_have_text("5,001")
    expect(page.locator("[data-count=nan]")).to_have_text("2")
    assert 5001 in _source(page, "nan")["x"]
    trainer.log(failure("a new one", step=5001))
    expect(page.locator("#failures")).to_contain_text("a new one")
    trainer.log(Finish(Ending.FINISHED))
    expect(page.locator("#head")).to_contain_text("Finished")


def test_the_list_moves_the_cursor_and_a_failure_opens_its_group(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    _show(ward, page, trainer)
    page.keyboard.press("n")
    expect(page.locator("#happened [aria-current]")).to_have_count(1)
    page.locator("#happened a", has_text="Loss spike").click()
    assert _source(page, "cursor")["x"] == [2500]
    page.locator("#happened a", has_text="could not be loaded").click()
    expect(page.locator("details.group", has_text="OSError").first).to_have_attribute("open", "")


def test_where_a_stream_fails_the_page_polls_and_says_when_nothing_is_new(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    page.route(STREAM, lambda route: route.abort())
    _show(ward, page, trainer)
    expect(page.locator("#feed")).to_have_text("New points show every two seconds.")
    trainer.log(points("loss", [5000], [1.5]))
    expect(page.locator("#last-step")).to_have_text("5,000")
    page.route(POLL, lambda route: route.abort())
    expect(page.locator("#feed")).to_contain_text("Not live since")
    expect(page.get_by_role("button", name="Try now")).to_be_visible()
    page.unroute(STREAM)
    page.unroute(POLL)
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#feed")).to_have_text("Following: new points show at once.")


def test_a_run_is_compared_with_another_and_over_time(
    ward: Ward, trainer: Trainer, beside: Database
) -> None:
    other = Trainer(beside, name="another")
    other.log(points("loss", [0, 1], [7.0, 8.0]))
    page = ward.enter()
    _show(ward, page, trainer)
    page.locator("[name=with]").select_option(other.run)
    expect(page.locator("#legend")).to_contain_text("another")
    expect(page).to_have_url(re.compile(f"with={other.run}"))
    assert [7.0, 8.0] in _source(page, "lines")["ys"]
    page.locator("[name=by]").select_option("time")
    _drawn(page, "time linear")
    assert len(_source(page, "older")["xs"]) == 1


def test_a_picture_of_the_chart_can_be_kept(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter()
    _show(ward, page, trainer)
    with page.expect_download() as kept:
        page.get_by_role("button", name="Picture").click()
    assert kept.value.suggested_filename.endswith(".png")
    assert kept.value.path().read_bytes().startswith(b"\x89PNG")


def test_the_chart_takes_the_colours_of_the_theme(ward: Ward, trainer: Trainer) -> None:
    page = ward.enter(color_scheme="light")
    _show(ward, page, trainer)
    colour = "Bokeh.documents.at(-1).get_model_by_name('main').outline_line_color"
    assert page.evaluate(colour) == "rgb(124, 133, 142)"
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    assert page.evaluate(colour) == "rgb(119, 129, 139)"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_no_page_of_a_run_scrolls_sideways(ward: Ward, trainer: Trainer, width: int) -> None:
    page = ward.enter(viewport={"width": width, "height": 800})
    _show(ward, page, trainer)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for path in ("/runs", f"/runs/{trainer.run}/groups/1", f"/datasets/{scanned.NAME}"):
        page.goto(f"{ward.server.url}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_hostile_names_run_nothing_on_pages_of_runs(ward: Ward, trainer: Trainer) -> None:
    """The fixture fails the test on any dialog, script error or violation of the policy."""
    page = ward.enter()
    _show(ward, page, trainer)
    page.locator("#tools [name=series]").select_option(scanned.CANARY)
    expect(page.locator("#csv")).to_have_attribute("href", re.compile("onerror"))
    page.locator("[name=ranks]").select_option("each")
    expect(page.locator("#legend")).to_be_attached()
    page.goto(f"{ward.server.url}/runs")
    expect(page.locator("#runs")).to_contain_text("onerror=alert(1)")
    expect(page.locator("img[src=x]")).to_have_count(0)
    page.wait_for_load_state("networkidle")


def test_a_run_can_be_read_without_scripts(ward: Ward, trainer: Trainer) -> None:
    assert trainer.run
    page = ward.enter(java_script_enabled=False)
    page.get_by_label("Login link").fill(page.url)
    page.get_by_role("button", name="Log in").click()
    page.goto(f"{ward.server.url}/runs")
    page.get_by_role("link", name=re.compile("^signs")).first.click()
    expect(page.locator(".plain-plot .curve")).to_be_visible()
    expect(page.locator("#happened")).to_contain_text("NaN")
    page.locator("#tools [name=series]").select_option(scanned.CANARY)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="2 points as CSV")).to_be_visible()


def test_a_run_that_falls_silent_is_shown_as_such_without_loading_the_page(
    ward: Ward, trainer: Trainer
) -> None:
    page = ward.enter()
    page.clock.install()
    _show(ward, page, trainer)
    expect(page.locator("#head")).to_contain_text("Live")
    connection = sqlite3.connect(ward.state / "sickbay.db", timeout=20)
    with closing(connection), connection:
        connection.execute("UPDATE attempt SET heartbeat_at = heartbeat_at - 120000000")
    page.clock.run_for(70_000)
    expect(page.locator("#head")).to_contain_text("Silent")
