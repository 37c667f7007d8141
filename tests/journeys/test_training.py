"""A training script gains three lines, and its curve grows in a real browser."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.chromium import browser_page
from tests.commands import run
from tests.readme import example
from tests.serving import Serving, serving

pytest.importorskip("torch", reason="the README's example trains with torch")
pytestmark = pytest.mark.browser

STEPS = 400
ALONE = [sys.executable]
TWO_RANKS = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


@pytest.fixture
def server(state: Path) -> Iterator[Serving]:
    with serving(state) as running:
        yield running


@pytest.fixture
def told(server: Serving, state: Path, tmp_path: Path) -> dict[str, str]:
    """What the README has a trainer export."""
    made = run("token", "new", "gpu", "--scope", "events,releases", "--state", state)
    return {
        "SICKBAY_URL": server.url,
        "SICKBAY_TOKEN": made.out.strip(),
        "SICKBAY_SPOOL": str(tmp_path / "spool"),
    }


@pytest.mark.parametrize(("launcher", "ranks"), [(ALONE, 1), (TWO_RANKS, 2)])
def test_the_readme_s_example_is_watched_while_it_trains(
    launcher: list[str], ranks: int, server: Serving, told: dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(example("train"))
    with browser_page() as page, _training([*launcher, str(script)], told) as process:
        page.goto(f"{server.url}/login#{server.secret}")
        page.wait_for_url(re.compile(r"^(?!.*login)"))
        _open_the_run(page, server)
        seen = _growing(page)
        assert process.wait(timeout=120) == 0
        expect(page.locator("#head")).to_contain_text("Finished", timeout=15_000)
        expect(page.locator("#last-step")).to_have_text(f"{STEPS - 1}")
        assert seen[0] < seen[-1] <= STEPS - 1
        assert _points(page, server) == STEPS * ranks


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
def test_what_curl_sends_as_the_readme_shows_is_taken(told: dict[str, str]) -> None:
    opening, sending = re.findall(r"(curl .*?-d '.*?')", example("curl"), re.DOTALL)
    opened = json.loads(_shell(opening, told))
    answer = json.loads(_shell(sending, {**told, "RUN": opened["run"]}))
    assert answer == {"accepted": 1, "duplicate": 0, "rejected": []}
    again = json.loads(_shell(sending, {**told, "RUN": opened["run"]}))
    assert again == {"accepted": 0, "duplicate": 1, "rejected": []}


def _open_the_run(page: Page, server: Serving) -> None:
    """Wait on the list of runs until the run shows, as a person would, by loading it again."""
    link = page.get_by_role("link", name="line-fit")
    for _ in range(60):
        page.goto(f"{server.url}/runs")
        if link.count():
            break
        page.wait_for_timeout(500)
    link.first.click()
    expect(page.locator("#last-step")).to_be_visible(timeout=15_000)


def _growing(page: Page) -> list[int]:
    """Return three steps as the page shows them one after another, without a reload."""
    seen = [_step(page)]
    while len(seen) < 3:
        expect(page.locator("#last-step")).not_to_have_text(f"{seen[-1]}", timeout=15_000)
        seen.append(_step(page))
    return seen


def _step(page: Page) -> int:
    return int(page.locator("#last-step").inner_text().replace(",", ""))


def _points(page: Page, server: Serving) -> int:
    """Count the points in the browser's own download of the curve."""
    key = page.url.rpartition("/")[2].partition("?")[0]
    address = f"{server.url}/api/v1/runs/{key}/points.csv?series=train/loss&attempt=1"
    return len(page.request.get(address).text().splitlines()) - 1


@contextmanager
def _training(command: list[str], told: dict[str, str]) -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(command, env={**os.environ, **told}) as process:
        try:
            yield process
        finally:
            process.kill()


def _shell(command: str, told: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, **told}, capture_output=True, check=True
    )
    return done.stdout.decode()
