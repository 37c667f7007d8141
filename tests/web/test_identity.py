"""Who may call what: every route against every identity."""

import re
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient
from starlette.routing import Mount

from sickbay.accounts.tables import Role, Scope
from sickbay.web.identity import is_public

NOBODY, SCAN, EVENTS, RELEASES = "nobody", "scan", "events", "releases"
VIEWER, REVIEWER, ADMIN = "viewer", "reviewer", "admin"
EVERYBODY = {NOBODY, SCAN, EVENTS, RELEASES, VIEWER, REVIEWER, ADMIN}
KNOWN = EVERYBODY - {NOBODY}
PEOPLE = {VIEWER, REVIEWER, ADMIN}
REVIEWERS = {REVIEWER, ADMIN}

ALLOWED = {
    "GET /healthz": EVERYBODY,
    "GET /login": EVERYBODY,
    "POST /login": EVERYBODY,
    "POST /logout": PEOPLE,
    "GET /api/v1/me": KNOWN,
    "POST /api/v1/scans": {SCAN},
    "GET /api/v1/scans/{key}": {SCAN},
    "PUT /api/v1/scans/{key}/batches/{number}": {SCAN},
    "PUT /api/v1/scans/{key}/repeats/{number}": {SCAN},
    "POST /api/v1/scans/{key}/finish": {SCAN},
    "DELETE /api/v1/scans/{key}": {SCAN},
    "GET /api/v1/datasets/{name}/policy": PEOPLE | {SCAN},
    "GET /api/v1/datasets/{name}/releases": PEOPLE | {RELEASES},
    "POST /api/v1/datasets/{name}/releases": REVIEWERS | {RELEASES},
    "GET /api/v1/datasets/{name}/releases/{wanted}": PEOPLE | {RELEASES},
    "GET /api/v1/datasets/{name}/releases/{wanted}/{file}": PEOPLE | {RELEASES},
    "HEAD /api/v1/datasets/{name}/releases/{wanted}/{file}": PEOPLE | {RELEASES},
    "GET /blobs/sha256/{sha256}": PEOPLE | {RELEASES},
    "HEAD /blobs/sha256/{sha256}": PEOPLE | {RELEASES},
    "POST /api/v1/runs": {EVENTS},
    "POST /api/v1/runs/{run}/events": {EVENTS},
    "GET /api/v1/runs": PEOPLE,
    "GET /api/v1/runs/{run}": PEOPLE,
    "GET /api/v1/runs/{run}/series": PEOPLE,
    "GET /api/v1/runs/{run}/chart": PEOPLE,
    "GET /api/v1/runs/{run}/points.csv": PEOPLE,
    "GET /alerts": {ADMIN},
    "GET /alerts/channels/new": {ADMIN},
    "POST /alerts/channels": {ADMIN},
    "POST /alerts/channels/{channel_id}/test": {ADMIN},
    "POST /alerts/channels/{channel_id}/remove": {ADMIN},
    "GET /alerts/rules/new": {ADMIN},
    "POST /alerts/rules": {ADMIN},
    "POST /alerts/rules/{rule_id}/pause": {ADMIN},
    "POST /alerts/rules/{rule_id}/resume": {ADMIN},
    "POST /alerts/rules/{rule_id}/remove": {ADMIN},
    "GET /alerts/messages/{message_id}": {ADMIN},
    "GET /static/bokeh/{release}/bokeh.min.js": EVERYBODY,
    "GET /runs": PEOPLE,
    "GET /runs/figures/{release}/{across}-{up}.json": PEOPLE,
    "GET /runs/{run}": PEOPLE,
    "GET /runs/{run}/groups/{group}": PEOPLE,
    "GET /runs/{run}/live": PEOPLE,
    "GET /runs/{run}/samples": PEOPLE,
    "GET /runs/{run}/changes": PEOPLE,
    "GET /": PEOPLE,
    "GET /datasets/{name}": PEOPLE,
    "GET /datasets/{name}/files": PEOPLE,
    "GET /datasets/{name}/policy": PEOPLE,
    "POST /datasets/{name}/policy": REVIEWERS,
    "GET /datasets/{name}/review": PEOPLE,
    "GET /datasets/{name}/review.tsv": PEOPLE,
    "GET /datasets/{name}/review.jsonl": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}/thumbnail": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}/preview": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}/original": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}/replacement/thumbnail": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}/replacement/preview": PEOPLE,
    "GET /datasets/{name}/samples/{sample_id}/replacement/original": PEOPLE,
    "POST /datasets/{name}/samples/{sample_id}/decision": REVIEWERS,
    "POST /datasets/{name}/samples/{sample_id}/replacement": REVIEWERS,
    "POST /datasets/{name}/decisions": REVIEWERS,
    "POST /datasets/{name}/undo": REVIEWERS,
    "GET /datasets/{name}/releases": PEOPLE,
    "POST /datasets/{name}/releases": REVIEWERS,
    "GET /datasets/{name}/releases/{wanted}": PEOPLE,
}
PUBLIC = {
    "GET /healthz",
    "GET /login",
    "POST /login",
    "GET /static/bokeh/{release}/bokeh.min.js",
}
FILLED = {
    "name": "pets",
    "sample_id": "1",
    "channel_id": "1",
    "rule_id": "1",
    "message_id": "1",
    "number": "0",
    "key": "0" * 32,
    "sha256": "0" * 64,
    "run": "0" * 16,
}

Visitors = dict[str, TestClient]


def routes(app: FastAPI) -> set[str]:
    """Every method and path that the application answers, however it was included."""
    return {
        f"{method} {route.path}"
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
    }


@pytest.fixture
def visitors(
    stranger: TestClient,
    visitor: Callable[[Role], TestClient],
    program: Callable[[Scope], TestClient],
) -> Visitors:
    people = {role.value: visitor(role) for role in Role}
    programs = {scope.value: program(scope) for scope in Scope}
    return {NOBODY: stranger, **people, **programs}


def test_every_route_is_in_the_table_and_every_line_of_it_is_a_route(app: FastAPI) -> None:
    assert routes(app) == set(ALLOWED)


def test_nothing_but_static_files_is_mounted_beside_the_routes(app: FastAPI) -> None:
    assert [route.path for route in app.routes if isinstance(route, Mount)] == ["/static"]


def test_one_route_alone_asks_for_itself_who_is_there(app: FastAPI) -> None:
    """The others answer nobody by themselves: asking is a dependency of the application."""
    alone = [
        route.path
        for route in iter_route_contexts(app.routes)
        if not isinstance(route.original_route, APIRoute | Mount)
    ]
    assert alone == ["/api/v1/runs/{run}/events"]


def test_only_the_listed_routes_are_public(app: FastAPI) -> None:
    public = {
        f"{method} {route.path}"
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
        if is_public(route.endpoint)
    }
    assert public == PUBLIC


@pytest.mark.parametrize("route", sorted(set(ALLOWED) - PUBLIC))
def test_a_route_answers_whom_the_table_names_and_nobody_else(
    route: str, visitors: Visitors
) -> None:
    method, _, path = route.partition(" ")
    address = re.sub(r"{(\w+)}", lambda match: FILLED.get(match[1], "x"), path)
    allowed = set()
    for name, client in visitors.items():
        status = client.request(method, address).status_code
        assert status < 500, f"{name} got {status}"
        if status == 401:
            assert name == NOBODY
        elif status != 403:
            allowed.add(name)
    assert allowed == ALLOWED[route]


@pytest.mark.parametrize("route", sorted(set(ALLOWED) - PUBLIC))
def test_a_browser_without_identity_is_sent_to_the_login_page(
    route: str, stranger: TestClient
) -> None:
    method, _, path = route.partition(" ")
    address = re.sub(r"{(\w+)}", lambda match: FILLED.get(match[1], "x"), path)
    answer = stranger.request(method, address, headers={"Accept": "text/html"})
    if method == "GET":
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    else:
        assert answer.status_code == 401


@pytest.mark.parametrize(
    "shown",
    ["", "Bearer", "Bearer nonsense", "Basic YTpi", "Bearer sickbay_1_" + "A" * 43, "Bearer \xff"],
)
def test_a_made_up_token_opens_nothing(stranger: TestClient, shown: str) -> None:
    headers = {b"Authorization": shown.encode("latin-1")} if shown else None
    assert stranger.get("/api/v1/me", headers=headers).status_code == 401


def test_a_bad_token_is_not_helped_by_a_good_session(
    visitor: Callable[[Role], TestClient],
) -> None:
    anna = visitor(Role.ADMIN)
    assert anna.get("/api/v1/me").status_code == 200
    assert anna.get("/api/v1/me", headers={"Authorization": "Bearer x"}).status_code == 401
