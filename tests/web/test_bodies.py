"""What comes in: strict JSON, limits, and answers that never repeat it."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from sickbay.accounts.tables import Role, Scope
from sickbay.contract.batch import MAX_BATCH

CANARY = "canary-4711"
BAD_JSON = [
    b'{"records":NaN}',
    b'{"records":Infinity}',
    b'{"records":1e999}',
    b'{"records":99999999999999999999}',
    b'{"kind":"\\ud800"}',
    b'{"kind":"a\\u0000b"}',
    b'{"kind":"scan","kind":"scan"}',
    b"[" * 50_000 + b"]" * 50_000,
    b'{"records":' + b"9" * 5000 + b"}",
    b'{"kind":"\xff"}',
    b"",
    b"null",
    b"[]",
    b'"scan"',
    b'{"kind":"scan","records":"1","dataset":"pets","layout":"imagefolder","classes":[]}',
    b'{"kind":"scan","records":1.0,"dataset":"pets","layout":"imagefolder","classes":[]}',
    b'{"kind":"scan","records":1,"dataset":7,"layout":"imagefolder","classes":[]}',
    b'{"kind":"scan","records":1,"dataset":"pets","layout":"imagefolder","classes":[],"x":1}',
    b'{"kind":"scan","records":1,"dataset":"../etc","layout":"imagefolder","classes":[]}',
    b'{"kind":"summary","found":0,"clean":0,"held":0,"skipped":0,"reasons":{},"codes":{}}',
    b'{"' + CANARY.encode() + b'":1}',
]


@pytest.fixture
def scanner(program: Callable[[Scope], TestClient]) -> TestClient:
    return program(Scope.SCAN)


@pytest.mark.parametrize("body", BAD_JSON, ids=range(len(BAD_JSON)))
def test_odd_json_is_refused_shortly_and_without_an_echo(scanner: TestClient, body: bytes) -> None:
    answer = scanner.post("/api/v1/scans", content=body)
    assert answer.status_code == 422
    assert len(answer.content) < 400
    assert CANARY not in answer.text


def test_a_large_body_is_cut_at_its_limit(scanner: TestClient) -> None:
    pieces = (b"[" * (1 << 16) for _ in range(MAX_BATCH // (1 << 16) + 2))
    answer = scanner.post("/api/v1/scans", content=pieces)
    assert answer.status_code == 413
    assert len(answer.content) < 400


def test_a_stated_length_over_the_limit_is_not_even_read(scanner: TestClient) -> None:
    headers = {"Content-Length": str(MAX_BATCH + 1)}
    path = f"/api/v1/scans/{'0' * 32}/batches/0"
    assert scanner.put(path, content=b"x", headers=headers).status_code == 413


def test_strangers_are_refused_before_their_body_is_read(stranger: TestClient) -> None:
    path = f"/api/v1/scans/{'0' * 32}/batches/0"
    headers = {"Content-Length": str(MAX_BATCH * 100)}
    assert stranger.put(path, content=b"x", headers=headers).status_code == 401


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate", "gzip, gzip", "x"])
def test_coded_bodies_are_not_taken(scanner: TestClient, coding: str) -> None:
    answer = scanner.post("/api/v1/scans", content=b"{}", headers={"Content-Encoding": coding})
    assert answer.status_code == 415


def test_a_form_with_a_million_fields_is_refused(stranger: TestClient) -> None:
    answer = stranger.post("/login", content=b"a=1&" * 1_000_000, headers=_FORM)
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"link=%ff", b"link=%00", b"link=\xff", b"a=1&" * 1000])
def test_an_odd_form_is_refused(stranger: TestClient, body: bytes) -> None:
    answer = stranger.post("/login", content=body, headers=_FORM)
    assert answer.status_code in {403, 422}


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data", ""])
def test_a_form_of_another_kind_is_refused(stranger: TestClient, kind: str) -> None:
    answer = stranger.post("/login", content=b"link=x", headers={"Content-Type": kind})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/datasets/pets/samples/0",
        "/datasets/pets/samples/-1",
        "/datasets/pets/samples/99999999999999999999",
        "/datasets/pets/samples/1e3",
        "/datasets/pets/samples/%00",
        "/datasets/pets/samples/..%2f..%2fetc%2fpasswd",
        "/datasets/..%2f..%2fetc/review",
        "/datasets/%252e%252e/review",
        "/datasets/..%5c..%5c/review",
        f"/datasets/{'a' * 5000}/review",
        f"/datasets/{CANARY}%3Cscript%3E/review",
        "/datasets//review",
        "/static/../pyproject.toml",
        "/static/..%2fpyproject.toml",
        "/static/%2e%2e/pyproject.toml",
    ],
)
def test_an_odd_path_finds_nothing(visitor: Callable[[Role], TestClient], path: str) -> None:
    answer = visitor(Role.VIEWER).get(path)
    assert answer.status_code == 404
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    "query",
    [f"status={CANARY}", f"{CANARY}=1", "status=held&status=" + "x" * 5000, "path=" + "%25" * 500],
)
def test_an_odd_query_is_refused_without_an_echo(
    visitor: Callable[[Role], TestClient], query: str
) -> None:
    answer = visitor(Role.VIEWER).get(f"/datasets/pets/review?{query}")
    assert answer.status_code in {404, 422}
    assert CANARY not in answer.text


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
