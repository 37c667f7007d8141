"""Foreign hosts, foreign sites, headers on every answer."""

import socket
from collections.abc import Callable
from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.web.conftest import ORIGIN

from sickbay.accounts.tables import Role
from sickbay.web.app import create_app
from sickbay.web.security import HEADERS, LOOPBACK
from sickbay.web.site import Site

GOOD_HOSTS = ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765", "127.0.0.1"]
BAD_HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8765",
    "127.0.0.1:8765@evil.example",
    "a/?x=",
    "127.0.0.1:8765/login?",
    "10.0.0.7",
    "",
    "[::1",
    "localhost:8765, evil.example",
    "127.0.0.1:99999999",
]
ORIGIN_HEADERS_REFUSED = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": ORIGIN},
    {"Sec-Fetch-Site": ""},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:8766"},
    {"Origin": ""},
    {"Origin": "http://127.0.0.1:8765.evil.example"},
    {},
]
ORIGIN_HEADERS_ALLOWED = [
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": ORIGIN},
    {"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN},
]


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_a_name_of_this_machine_is_answered(stranger: TestClient, host: str) -> None:
    assert stranger.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_a_foreign_host_name_is_refused(stranger: TestClient, host: str) -> None:
    answer = stranger.get("/healthz", headers={"Host": host})
    assert answer.status_code == 400
    assert "evil" not in answer.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("10.0.0.7:8765", 200),
        ("[2001:db8::7]", 200),
        ("gpu-box:8765", 200),
        (socket.gethostname(), 200),
        ("localhost", 200),
        ("evil.example", 400),
        ("10.0.0.7.evil.example", 400),
    ],
)
def test_bound_to_other_than_loopback_it_answers_to_addresses_but_not_to_any_name(
    site: Site, host: str, status: int
) -> None:
    elsewhere = replace(site, settings=replace(site.settings, host="gpu-box"))
    client = TestClient(create_app(elsewhere), base_url=ORIGIN)
    assert client.get("/healthz", headers={"Host": host}).status_code == status


@pytest.mark.parametrize("header", ["X-Forwarded-Host", "X-Forwarded-For", "Forwarded"])
def test_forwarding_headers_change_nothing(stranger: TestClient, header: str) -> None:
    headers = {header: "evil.example", "Accept": "text/html"}
    answer = stranger.get("/", headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")


@pytest.fixture
def anna(visitor: Callable[[Role], TestClient]) -> TestClient:
    """A logged-in browser that says nothing of where its requests come from."""
    browser = visitor(Role.ADMIN)
    del browser.headers["Sec-Fetch-Site"]
    return browser


@pytest.mark.parametrize("headers", ORIGIN_HEADERS_REFUSED)
def test_a_changing_request_from_another_site_is_refused(
    anna: TestClient, headers: dict[str, str]
) -> None:
    assert anna.post("/logout", headers=headers).status_code == 403
    assert anna.get("/api/v1/me").status_code == 200, "it must not have had its effect"


@pytest.mark.parametrize("headers", ORIGIN_HEADERS_ALLOWED)
def test_a_changing_request_from_our_own_page_is_carried_out(
    anna: TestClient, headers: dict[str, str]
) -> None:
    assert anna.post("/logout", headers=headers).status_code == 303
    assert anna.get("/api/v1/me").status_code == 401


def test_another_site_cannot_log_a_browser_in(stranger: TestClient) -> None:
    answer = stranger.post("/login", data={"link": "x"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.json()["error"] == "This request came from another site."


def test_no_answer_invites_other_sites(stranger: TestClient) -> None:
    answer = stranger.options(
        "/api/v1/me",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"},
    )
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/login", 200),
        ("GET", "/healthz", 200),
        ("GET", "/static/login.js", 200),
        ("GET", "/static/none.js", 404),
        ("GET", "/nothing", 404),
        ("PUT", "/login", 405),
        ("TRACE", "/login", 405),
        ("FOO", "/login", 405),
        ("POST", "/api/v1/scans", 401),
        ("POST", "/login", 403),
    ],
)
def test_every_answer_carries_the_security_headers(
    stranger: TestClient, method: str, path: str, status: int, accept: str
) -> None:
    body = {"link": "x"} if method == "POST" else None
    answer = stranger.request(method, path, data=body, headers={"Accept": accept})
    assert answer.status_code == status
    _assert_guarded(answer.headers, but={"Cache-Control"} if status == 200 else set())


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_refusals_before_any_route_carry_them_too(stranger: TestClient, accept: str) -> None:
    for headers, status in (
        ({"Host": "evil.example"}, 400),
        ({"Content-Encoding": "gzip"}, 415),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        answer = stranger.post("/login", headers={**headers, "Accept": accept})
        assert answer.status_code == status
        _assert_guarded(answer.headers)


def test_too_large_and_invalid_requests_carry_them_too(
    stranger: TestClient, visitor: Callable[[Role], TestClient]
) -> None:
    large = stranger.post("/login", data={"link": "x" * 5000})
    assert large.status_code == 413
    _assert_guarded(large.headers)
    invalid = visitor(Role.VIEWER).get("/datasets/pets/review?nonsense=1")
    assert invalid.status_code in {404, 422}
    _assert_guarded(invalid.headers)


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_a_fault_of_ours_is_answered_plainly_and_with_the_headers(
    app: FastAPI, stranger: TestClient, accept: str, caplog: pytest.LogCaptureFixture
) -> None:
    app.state.site = None
    answer = stranger.get("/healthz", headers={"Accept": accept})
    assert answer.status_code == 500
    _assert_guarded(answer.headers)
    assert "Traceback" not in answer.text
    assert "NoneType" not in answer.text
    assert answer.headers["X-Request-Id"] in answer.text
    assert answer.headers["X-Request-Id"] in caplog.text


def test_a_browser_keeps_static_files_but_asks_about_them(stranger: TestClient) -> None:
    first = stranger.get("/static/login.js")
    assert first.headers["Cache-Control"] == "no-cache"
    again = stranger.get("/static/login.js", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    _assert_guarded(again.headers, but={"Cache-Control"})


def test_loopback_names_are_all_it_answers_to_by_default() -> None:
    assert {"localhost", "127.0.0.1", "[::1]"} == LOOPBACK


def _assert_guarded(headers: object, but: set[str] | None = None) -> None:
    for name, value in HEADERS.items():
        if name not in (but or set()):
            assert headers[name] == value  # type: ignore[index]
