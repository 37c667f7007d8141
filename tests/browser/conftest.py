"""A real browser on a real server, on a copy of a state that a real scan filled."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests import scanned
from tests.chromium import browser_page
from tests.serving import Serving, start

from sickbay.accounts import links, people
from sickbay.accounts.tables import Role
from sickbay.database.schema import open_database

expect.set_options(timeout=20_000)  # a machine that runs much else is slow, not wrong
_WATCH = """
addEventListener("securitypolicyviolation", (event) => console.error("CSP " + event.blockedURI));
"""


@pytest.fixture(scope="session")
def scanned_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder and the data beside it, made once; tests work on copies of the state."""
    base = tmp_path_factory.mktemp("browsed")
    scanned.fill(base / "data")
    (base / "state").mkdir()
    scanned.scan_into(base / "state", base / "data")
    return base / "state"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module: a process has one Playwright at a time."""
    with browser_page() as page:
        assert page.context.browser is not None
        yield page.context.browser


@dataclass
class Ward:
    """A server, and pages of people who are logged in to it; what went wrong is kept."""

    server: Serving
    browser: Browser
    state: Path
    faults: list[str] = field(default_factory=list)

    def enter(self, name: str = "Mei", **context: Any) -> Page:
        """Open a page in a context of its own, logged in as a reviewer of that name."""
        link = self._link(name)
        made = self.browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **context})
        made.add_init_script(_WATCH)
        page = made.new_page()
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("console", lambda said: self._heard(said.text))
        page.goto(link)
        if context.get("java_script_enabled", True):
            page.wait_for_url(re.compile(r"^(?!.*login)"))
        return page

    def open(self, page: Page, address: str) -> None:
        """Load a page of the data set and wait until its keys work."""
        page.goto(f"{self.server.url}/datasets/{scanned.NAME}{address}")

    def restart(self) -> None:
        """Start the server again, where it was."""
        self.server = start(self.state, self.server.port)

    def _link(self, name: str) -> str:
        database = open_database(self.state / "sickbay.db")
        secret = database.writing(
            lambda session: links.issue(session, people.welcome(session, name, Role.REVIEWER))
        )
        database.close()
        return f"{self.server.url}/login#{secret}"

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _heard(self, text: str) -> None:
        if "CSP" in text or "Content Security Policy" in text:
            self.faults.append(text)


@pytest.fixture
def ward(scanned_once: Path, tmp_path: Path, browser: Browser) -> Iterator[Ward]:
    """A server on a state of its own; a test fails if any page misbehaved."""
    state = tmp_path / "state"
    shutil.copytree(scanned_once, state)
    made = Ward(start(state), browser, state)
    yield made
    made.server.kill()
    for context in browser.contexts[1:]:
        context.close()
    assert made.faults == []
