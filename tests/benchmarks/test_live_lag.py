"""From ``log()`` to the browser with fifty streams open, and an ordinary page meanwhile.

    python -m tests.benchmarks.test_live_lag [SECONDS]

A server in a process of its own, one page in a real browser, forty-nine more streams, and a
trainer that logs ten values a second. What the page shows is read off its own text.
"""

import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.chromium import browser_page
from tests.commands import run
from tests.serving import Serving, serving

STREAMS = 50
LAG_BUDGET_S = 1.0
PAGE_BUDGET_S = 0.1
_TRAINER = """
import sys, time
import sickbay.trainer as sickbay
run = sickbay.init("lag")
end = time.time() + float(sys.argv[1])
step = 0
while time.time() < end:
    step += 1
    run.log({"train/loss": 1 / step}, step=step)
    print(step, time.time(), flush=True)
    time.sleep(0.1)
run.finish()
"""
_WATCH = """
window.shown = [];
addEventListener("DOMContentLoaded", () => {
  const note = () => {
    const step = document.getElementById("last-step");
    if (step) shown.push([Number(step.textContent.replaceAll(",", "")), Date.now() / 1000]);
  };
  new MutationObserver(note).observe(document.body,
    {subtree: true, childList: true, characterData: true});
});
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds, 95th percentiles and medians."""

    lag_p95: float
    lag_median: float
    page_p95: float
    page_median: float


def measure(state: Path, seconds: float) -> Measured:
    with serving(state) as server, browser_page() as page:
        page.add_init_script(_WATCH)
        page.goto(f"{server.url}/login#{server.secret}")
        page.wait_for_url(lambda address: "/login" not in address)
        with _trainer(server, state, seconds) as trainer:
            key = _open(page, server)
            cookie = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
            with _streams(server, key, cookie, STREAMS - 1):
                pages = list(_page_times(server, cookie, seconds / 2))
            logged = dict(_logged(trainer))
        page.wait_for_timeout(1500)
        shown: list[tuple[float, float]] = page.evaluate("shown")
    opened_at = shown[0][1]
    lags = list(_lags(logged, shown, opened_at))
    return Measured(
        statistics.quantiles(lags, n=20)[-1],
        statistics.median(lags),
        statistics.quantiles(pages, n=20)[-1],
        statistics.median(pages),
    )


def _lags(
    logged: dict[int, float], shown: list[tuple[float, float]], since: float
) -> Iterator[float]:
    """Yield, for each logged step, how long until the page showed it or a later one."""
    seen = iter(shown)
    step, at = next(seen)
    for number, moment in sorted(logged.items()):
        while step < number:
            following = next(seen, None)
            if following is None:
                return
            step, at = following
        if moment > since:
            yield max(at - moment, 0.0)


@contextmanager
def _trainer(server: Serving, state: Path, seconds: float) -> "Iterator[subprocess.Popen[str]]":
    token = run("token", "new", "lag", "--scope", "events", "--state", state).out.strip()
    told = {"SICKBAY_URL": server.url, "SICKBAY_TOKEN": token, "SICKBAY_SPOOL": str(state / "sp")}
    command = [sys.executable, "-c", _TRAINER, str(seconds)]
    with subprocess.Popen(
        command, env={**os.environ, **told}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _logged(trainer: "subprocess.Popen[str]") -> Iterator[tuple[int, float]]:
    for line in trainer.stdout or ():
        step, at = line.split()
        yield int(step), float(at)


def _open(page: Page, server: Serving) -> str:
    for _ in range(100):
        page.goto(f"{server.url}/runs")
        link = page.get_by_role("link", name="lag")
        if link.count():
            link.first.click()
            page.wait_for_url(lambda address: "/runs/" in address)
            return page.url.rpartition("/")[2]
        page.wait_for_timeout(200)
    pytest.fail("the run never showed")


@contextmanager
def _streams(server: Serving, key: str, cookie: str, number: int) -> Iterator[None]:
    """Hold so many streams open and read what comes."""
    open_ones = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(number)]
    for one in open_ones:
        one.request("GET", f"/runs/{key}/live", headers={"Cookie": cookie})
        answer = one.getresponse()
        assert answer.status == 200, answer.read(300)
        threading.Thread(target=_drain, args=(answer,), daemon=True).start()
    try:
        yield
    finally:
        for one in open_ones:
            if one.sock is not None:
                one.sock.close()


def _drain(answer: http.client.HTTPResponse) -> None:
    try:
        while answer.read1(65536):
            pass
    except (OSError, ValueError, http.client.HTTPException):
        return


def _page_times(server: Serving, cookie: str, seconds: float) -> Iterator[float]:
    """Load the list of runs five times a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        client = http.client.HTTPConnection("127.0.0.1", server.port)
        client.request("GET", "/runs", headers={"Cookie": cookie, "Accept": "text/html"})
        answer = client.getresponse()
        answer.read()
        assert answer.status == 200
        client.close()
        yield time.perf_counter() - began
        time.sleep(0.2)


@pytest.mark.soak
@pytest.mark.browser
def test_a_point_is_in_the_browser_within_a_second(state: Path) -> None:
    measured = measure(state, 30)
    assert measured.lag_p95 < LAG_BUDGET_S
    assert measured.page_p95 < PAGE_BUDGET_S


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), seconds)
    print(f"log() to browser: median {found.lag_median:.2f} s, p95 {found.lag_p95:.2f} s")  # noqa: T201 (its output)
    print(f"ordinary page: median {found.page_median:.3f} s, p95 {found.page_p95:.3f} s")  # noqa: T201 (its output)


if __name__ == "__main__":
    main()
