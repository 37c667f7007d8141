"""Secrets and private queries never reach a log."""

import logging
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.web.conftest import ORIGIN

from sickbay.accounts import links, people, tokens
from sickbay.accounts.tables import Scope
from sickbay.web.site import Site

COOKIE = "sickbay_8765"


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Callable[[], str]:
    """Everything that any logger says, at any level."""
    caplog.set_level(logging.WARNING, logger="httpx2")  # the test's own client
    caplog.set_level(logging.DEBUG)
    return lambda: caplog.text + " ".join(str(record.__dict__) for record in caplog.records)


def test_link_cookie_token_and_query_are_not_logged_even_when_we_fail(
    site: Site, app: FastAPI, stranger: TestClient, log: Callable[[], str]
) -> None:
    link = site.database.writing(
        lambda session: links.issue(session, people.owner(session, "anna"))
    )
    token = site.database.writing(lambda session: tokens.create(session, "ci", [Scope.SCAN]))
    stranger.post("/login", data={"link": link})
    cookie = stranger.cookies[COOKIE]
    program = TestClient(
        app,
        base_url=ORIGIN,
        headers={"Authorization": f"Bearer {token}"},
        raise_server_exceptions=False,
    )
    program.get("/api/v1/me?token=canary-in-query")
    site.database.close()
    app.state.site = None
    assert stranger.get("/api/v1/me?token=canary-in-query").status_code == 500
    assert program.get(f"/api/v1/me?token={token}").status_code == 500
    written = log()
    assert "GET /api/v1/me 500" in written
    for secret in (link, cookie, token, token.split("_", 2)[2], "canary-in-query"):
        assert secret not in written


def test_a_path_cannot_forge_a_line_of_the_log(
    stranger: TestClient, log: Callable[[], str]
) -> None:
    stranger.get("/%0a2026-01-01%20INFO%20forged%1b[31m")
    assert "\n2026-01-01 INFO forged" not in log()
    assert "\x1b" not in log()
