"""The application over a real database, and visitors of every kind."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from sickbay.accounts import links, people, tokens
from sickbay.accounts.tables import Role, Scope
from sickbay.blobs import Blobs
from sickbay.database import Database
from sickbay.scanner.guard import Guards
from sickbay.settings import Settings
from sickbay.web.app import create_app
from sickbay.web.site import Site

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def site(state: Path, database: Database) -> Iterator[Site]:
    """A site on a state of its own."""
    settings = Settings(state=state)
    guards = Guards(1)
    yield Site(settings, database, Blobs(settings.blobs), guards)
    guards.close()


@pytest.fixture
def app(site: Site) -> FastAPI:
    """The whole application."""
    return create_app(site)


@pytest.fixture
def stranger(app: FastAPI) -> TestClient:
    """A browser that is not logged in."""
    return TestClient(
        app,
        base_url=ORIGIN,
        headers={"Sec-Fetch-Site": "same-origin"},
        follow_redirects=False,
        raise_server_exceptions=False,
    )


@pytest.fixture
def visitor(site: Site, app: FastAPI) -> Callable[[Role], TestClient]:
    """Makes browsers that are logged in, with a role."""

    def log_in(role: Role) -> TestClient:
        secret = site.database.writing(
            lambda session: links.issue(session, people.welcome(session, f"a {role.value}", role))
        )
        client = TestClient(
            app,
            base_url=ORIGIN,
            headers={"Sec-Fetch-Site": "same-origin"},
            follow_redirects=False,
            raise_server_exceptions=False,
        )
        assert client.post("/login", data={"link": secret}).status_code == 303
        return client

    return log_in


@pytest.fixture
def program(site: Site, app: FastAPI) -> Callable[[Scope], TestClient]:
    """Makes programs that carry a token with one scope."""

    def issue(scope: Scope) -> TestClient:
        shown = site.database.writing(
            lambda session: tokens.create(session, f"a {scope.value}", [scope])
        )
        return TestClient(
            app,
            base_url=ORIGIN,
            headers={"Authorization": f"Bearer {shown}"},
            follow_redirects=False,
            raise_server_exceptions=False,
        )

    return issue
