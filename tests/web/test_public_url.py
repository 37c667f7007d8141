"""Behind a proxy: the public URL is in links, its host is answered to, its cookie needs TLS."""

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from sickbay.accounts import links, people
from sickbay.accounts.tables import Role
from sickbay.contract.errors import BadInput
from sickbay.settings import Settings, from_environment
from sickbay.web.app import create_app
from sickbay.web.site import Site

PUBLIC = "https://sickbay.example.org"


@pytest.fixture
def proxied(site: Site) -> TestClient:
    """A browser that comes through a proxy; the proxy itself speaks plain HTTP to us."""
    settings = replace(site.settings, public_url=PUBLIC)
    app = create_app(replace(site, settings=settings))
    same = {"Sec-Fetch-Site": "same-origin", "Host": "sickbay.example.org"}
    return TestClient(app, base_url="http://127.0.0.1:8765", headers=same, follow_redirects=False)


def test_the_public_host_is_answered_to_and_its_session_needs_tls(
    site: Site, proxied: TestClient
) -> None:
    assert proxied.get("/healthz").status_code == 200
    secret = site.database.writing(
        lambda session: links.issue(session, people.welcome(session, "ann", Role.VIEWER))
    )
    answer = proxied.post("/login", data={"link": secret})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-sickbay=")
    assert "; Secure" in cookie
    seen = proxied.get("/runs", headers={"Cookie": cookie.partition(";")[0]})
    assert seen.status_code == 200


def test_any_other_host_is_still_refused(proxied: TestClient) -> None:
    refused = proxied.get("/healthz", headers={"Host": "evil.example.org"})
    assert refused.status_code == 400


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("", "http://127.0.0.1:8765"),
        ("https://Sickbay.example.org/", "https://sickbay.example.org"),
        ("http://sickbay:8000", "http://sickbay:8000"),
    ],
)
def test_links_begin_with_the_public_url_or_else_the_address_as_bound(
    given: str, base: str
) -> None:
    assert from_environment({"SICKBAY_PUBLIC_URL": given}).base_url == base


def test_an_address_that_listens_everywhere_is_linked_to_as_this_machine(tmp_path: Path) -> None:
    assert Settings(tmp_path, host="0.0.0.0").base_url == "http://127.0.0.1:8765"  # noqa: S104 (not bound)
    assert Settings(tmp_path, host="::1").base_url == "http://[::1]:8765"


@pytest.mark.parametrize(
    "given",
    [
        "sickbay.example.org",
        "ftp://a.b",
        "https://a.b/path",
        "https://a.b/?q",
        "https://u@a.b",
        "https://[",
    ],
)
def test_a_public_url_that_is_none_is_refused_at_the_start(given: str) -> None:
    with pytest.raises(BadInput):
        from_environment({"SICKBAY_PUBLIC_URL": given})
