"""Login links and sessions, seen from a browser."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.web.conftest import ORIGIN

from sickbay.accounts import links, people, sessions
from sickbay.accounts.tables import Role
from sickbay.database.schema import open_database
from sickbay.database.tables import now
from sickbay.web.site import Site

COOKIE = "sickbay_8765"


def a_link(site: Site, age: timedelta = timedelta()) -> str:
    return site.database.writing(
        lambda session: links.issue(session, people.owner(session, "anna"), at=now() - age)
    )


@pytest.mark.parametrize("pasted", ["{}", f"{ORIGIN}/login#{{}}", "  {}\n"])
def test_a_link_or_its_secret_logs_in(site: Site, stranger: TestClient, pasted: str) -> None:
    answer = stranger.post("/login", data={"link": pasted.format(a_link(site))})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert stranger.get("/api/v1/me").json() == {"name": "anna", "role": "admin", "scopes": []}


def test_a_link_works_once(site: Site, stranger: TestClient, app: FastAPI) -> None:
    link = a_link(site)
    assert stranger.post("/login", data={"link": link}).status_code == 303
    other = TestClient(app, base_url=ORIGIN, follow_redirects=False)
    answer = other.post("/login", data={"link": link})
    assert answer.status_code == 403
    assert "sickbay login-link" in answer.text
    assert "set-cookie" not in answer.headers


def test_a_link_is_good_for_ten_minutes(site: Site, stranger: TestClient) -> None:
    late = a_link(site, age=timedelta(minutes=10, seconds=1))
    assert stranger.post("/login", data={"link": late}).status_code == 403
    early = a_link(site, age=timedelta(minutes=9, seconds=50))
    assert stranger.post("/login", data={"link": early}).status_code == 303


@pytest.mark.parametrize("link", ["", "#", "x", "a" * 43, "\x7f", "ä" * 43])
def test_a_made_up_link_gets_the_form_again(stranger: TestClient, link: str) -> None:
    answer = stranger.post("/login", data={"link": link})
    assert answer.status_code == 403
    assert "<form" in answer.text
    if len(link) > 1:
        assert link not in answer.text


def test_the_login_page_takes_a_pasted_link_without_scripts(stranger: TestClient) -> None:
    page = stranger.get("/login").text
    (form,) = re.findall(r"<form[^>]*>", page)
    assert 'method="post"' in form
    assert 'name="link"' in page


@pytest.mark.parametrize(
    "query",
    ["next=//evil.example", "next=/%5Cevil", "next=https:evil", "next=%0d%0aSet-Cookie:x=1"],
)
def test_logging_in_leads_nowhere_but_home(site: Site, stranger: TestClient, query: str) -> None:
    data = {"link": a_link(site), "next": "//evil.example"}
    answer = stranger.post(f"/login?{query}", data=data)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("path", ["//evil.example/", "//evil.example/..", "/\\evil.example"])
def test_no_path_is_turned_into_another_site(stranger: TestClient, path: str) -> None:
    answer = stranger.get(f"{ORIGIN}{path}", headers={"Accept": "text/html"})
    assert answer.headers.get("location", "/login") == "/login"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    site: Site, stranger: TestClient
) -> None:
    answer = stranger.post("/login", data={"link": a_link(site)})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie


def test_over_tls_the_cookie_is_bound_to_host_and_tls(site: Site, app: FastAPI) -> None:
    browser = TestClient(app, base_url="https://127.0.0.1:8765", follow_redirects=False)
    answer = browser.post("/login", data={"link": a_link(site)})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-sickbay=")
    assert "secure" in cookie.lower()
    assert browser.get("/api/v1/me").status_code == 200


def test_a_session_planted_before_login_is_worth_nothing_after(
    site: Site, stranger: TestClient, app: FastAPI
) -> None:
    stranger.post("/login", data={"link": a_link(site)})
    before = stranger.cookies[COOKIE]
    stranger.post("/login", data={"link": a_link(site)})
    assert stranger.cookies[COOKIE] != before
    thief = TestClient(app, base_url=ORIGIN, cookies={COOKIE: before})
    assert thief.get("/api/v1/me").status_code == 401


def test_logging_out_ends_the_session_on_the_server(
    visitor: Callable[[Role], TestClient], app: FastAPI
) -> None:
    anna = visitor(Role.REVIEWER)
    kept = anna.cookies[COOKIE]
    assert anna.post("/logout").headers["location"] == "/login"
    assert COOKIE not in anna.cookies
    thief = TestClient(app, base_url=ORIGIN, cookies={COOKIE: kept})
    assert thief.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("age", "status"),
    [
        (sessions.IDLE - timedelta(minutes=5), 200),
        (sessions.IDLE + timedelta(minutes=5), 401),
        (sessions.LIFETIME + timedelta(minutes=5), 401),
    ],
)
def test_an_unused_session_ends(site: Site, app: FastAPI, age: timedelta, status: int) -> None:
    secret = site.database.writing(
        lambda session: sessions.start(session, people.owner(session, "anna"), at=now() - age)
    )
    browser = TestClient(app, base_url=ORIGIN, cookies={COOKIE: secret})
    assert browser.get("/api/v1/me").status_code == status


def test_two_installs_share_no_secret(site: Site, stranger: TestClient, tmp_path: Path) -> None:
    other = open_database(tmp_path / "other" / "sickbay.db")
    secret = other.writing(lambda session: links.issue(session, people.owner(session, "anna")))
    other.close()
    assert secret != a_link(site)
    assert stranger.post("/login", data={"link": secret}).status_code == 403


def test_a_full_disk_keeps_nobody_from_reading(
    site: Site, visitor: Callable[[Role], TestClient]
) -> None:
    anna = visitor(Role.VIEWER)
    site.database.writing(
        lambda session: sessions.note_seen(session, 1, at=now() - timedelta(hours=1))
    )
    site.database.close()  # from here on every write is refused, as on a full disk
    assert anna.get("/api/v1/me").status_code == 200
