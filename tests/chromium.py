"""A real browser for tests: the system's Chromium, else the one Playwright installed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def browser_page(**context: Any) -> Iterator[Page]:
    """Open one page in a fresh browser context; skip with a reason where there is no browser."""
    with sync_playwright() as playwright:
        system = shutil.which("chromium") or shutil.which("chromium-browser")
        if system is None and not Path(playwright.chromium.executable_path).exists():
            if os.environ.get("CI") == "true":
                pytest.fail("CI has no Chromium; .ci/run installs it.")
            pytest.skip("There is no Chromium; run `playwright install chromium`.")
        browser = playwright.chromium.launch(executable_path=system, args=list(ARGUMENTS))
        try:
            yield browser.new_context(
                **{"viewport": {"width": 1440, "height": 900}, **context}
            ).new_page()
        finally:
            browser.close()
