import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from sickbay.accounts import tokens
from sickbay.accounts.tables import Role, Scope
from sickbay.runs import series
from sickbay.web.site import Site

RUNS = "/api/v1/runs"
OPENING = {
    "name": "night run",
    "launch": "l",
    "process": "p",
    "rank": 0,
    "local_rank": 0,
    "world_size": 1,
    "started": 1_800_000_000.0,
}
POINTS = {
    "seq": 1,
    "rank": 0,
    "kind": "points",
    "time": 1_800_000_000.0,
    "series": "loss",
    "steps": [1, 2, 3],
    "values": [1.0, "nan", "-inf"],
    "times": [1_800_000_000.0, 1_800_000_001.0, 1_800_000_002.0],
}


@pytest.fixture
def trainer(program: Callable[[Scope], TestClient]) -> TestClient:
    """A training job."""
    return program(Scope.EVENTS)


@pytest.fixture
def viewer(visitor: Callable[[Role], TestClient]) -> TestClient:
    """Somebody who looks."""
    return visitor(Role.VIEWER)


@pytest.fixture
def run(trainer: TestClient) -> str:
    """The address of an open run."""
    opened = trainer.post(RUNS, json=OPENING).json()
    assert opened["attempt"] == 1
    assert opened["url"] == f"/runs/{opened['run']}"
    return f"{RUNS}/{opened['run']}"


def _send(trainer: TestClient, run: str, *events: Any) -> dict[str, Any]:
    answer = trainer.post(f"{run}/events", json={"attempt": 1, "events": list(events)})
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def test_events_are_taken_once_and_bad_ones_rejected_alone(trainer: TestClient, run: str) -> None:
    bad = {**POINTS, "seq": 2, "steps": ["one"]}
    said = _send(trainer, run, POINTS, bad)
    assert (said["accepted"], said["duplicate"]) == (1, 0)
    assert [one["seq"] for one in said["rejected"]] == [2]
    assert "one" not in said["rejected"][0]["error"]
    assert _send(trainer, run, POINTS)["duplicate"] == 1


def test_ndjson_is_taken_with_the_attempt_in_the_address(trainer: TestClient, run: str) -> None:
    body = json.dumps(POINTS).encode() + b"\nnonsense\n"
    headers = {"Content-Type": "application/x-ndjson"}
    answer = trainer.post(f"{run}/events?attempt=1", content=body, headers=headers)
    assert answer.json()["accepted"] == 1
    assert len(answer.json()["rejected"]) == 1
    without = trainer.post(f"{run}/events", content=body, headers=headers)
    assert without.status_code == 422


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/events", {"attempt": 1, "events": [{}] * 1001}, 422),
        ("/events", {"attempt": 2, "events": []}, 404),
        ("/events", {"attempt": 0, "events": []}, 422),
        ("/events", [], 422),
        ("/events", {"attempt": 1, "events": [], "more": 1}, 422),
    ],
)
def test_what_is_no_batch_is_refused_whole(
    trainer: TestClient, run: str, path: str, body: object, status: int
) -> None:
    assert trainer.post(run + path, json=body).status_code == status


def test_too_large_or_of_another_kind_is_refused(trainer: TestClient, run: str) -> None:
    json_type = {"Content-Type": "application/json"}
    large = b'{"attempt":1,"events":[' + b" " * 1_000_000 + b"]}"
    assert trainer.post(f"{run}/events", content=large, headers=json_type).status_code == 422
    huge = b" " * (2 << 20)
    assert trainer.post(f"{run}/events", content=huge, headers=json_type).status_code == 413
    text = {"Content-Type": "text/plain"}
    assert trainer.post(f"{run}/events", content=b"{}", headers=text).status_code == 422
    assert trainer.post(f"{RUNS}/{'0' * 16}/events", content=b"{}", headers=text).status_code == 422
    assert trainer.post(f"{RUNS}/other/events", json={}).status_code == 404


@pytest.mark.parametrize("attempt", ["", "0", "-1", "one", "²", "9" * 30, "1e3"])
def test_ndjson_for_no_attempt_is_refused(trainer: TestClient, run: str, attempt: str) -> None:
    headers = {"Content-Type": "application/x-ndjson"}
    address = f"{run}/events?attempt={attempt}"
    assert trainer.post(address, content=b"{}", headers=headers).status_code == 422


def test_a_large_batch_is_taken_like_a_small_one(trainer: TestClient, run: str) -> None:
    steps = list(range(5000))
    long = {**POINTS, "steps": steps, "values": steps, "times": steps}
    assert _send(trainer, run, long)["accepted"] == 1
    assert _send(trainer, run, long)["duplicate"] == 1


def test_a_token_that_was_revoked_is_refused_at_once(
    site: Site, trainer: TestClient, run: str
) -> None:
    _send(trainer, run, POINTS)
    site.database.writing(lambda session: tokens.revoke(session, "a events"))
    later = {"attempt": 1, "events": [{**POINTS, "seq": 2}]}
    refused = trainer.post(f"{run}/events", json=later)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    with site.database.reading() as session:
        assert series.count_points(session, run.rpartition("/")[2]) == 3


def test_a_chart_holds_what_happened_and_is_strict_json(
    trainer: TestClient, viewer: TestClient, run: str
) -> None:
    _send(trainer, run, POINTS)
    answer = viewer.get(f"{run}/chart", params={"series": "loss"})
    found = json.loads(answer.content, parse_constant=pytest.fail)
    (curve,) = found["curves"]
    assert (curve["n"], curve["nan"], curve["neg_inf"]) == ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    assert curve["high"] == [1.0, None, None]
    assert curve["odd_step"] == [None, 2, 3]
    zoomed = viewer.get(f"{run}/chart?series=loss&since=2&until=2&attempt=1&rank=0&mean=true")
    assert zoomed.json()["curves"][0]["step"] == [2]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "series=",
        "series=x&buckets=1",
        "series=x&since=nan",
        "series=x&by=epoch",
        "series=x&attempt=-1",
        "series=x&since=inf",
    ],
)
def test_a_chart_of_nonsense_is_refused(viewer: TestClient, run: str, query: str) -> None:
    assert viewer.get(f"{run}/chart?{query}").status_code == 422


def test_points_come_as_csv(trainer: TestClient, viewer: TestClient, run: str) -> None:
    _send(trainer, run, POINTS)
    answer = viewer.get(f"{run}/points.csv?series=loss")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.text.splitlines()[1:3] == [
        "1,0,1,1800000000.000000,1.0",
        "1,0,2,1800000001.000000,nan",
    ]


def test_runs_are_listed_and_described(trainer: TestClient, viewer: TestClient, run: str) -> None:
    _send(trainer, run, POINTS)
    (row,) = viewer.get(RUNS).json()["rows"]
    assert (row["name"], row["state"], row["last_value"]) == ("night run", "live", "-inf")
    assert viewer.get(f"{RUNS}?state=failed").json()["rows"] == []
    assert viewer.get(run).json()["attempts"][0]["ranks"][0]["rank"] == 0
    (series,) = viewer.get(f"{run}/series").json()["series"]
    assert (series["name"], series["points"], series["nan"]) == ("loss", 3, 1)


def test_programs_write_and_people_read(trainer: TestClient, viewer: TestClient, run: str) -> None:
    assert trainer.get(run).status_code == 403
    assert trainer.get(RUNS).status_code == 403
    assert viewer.post(RUNS, json=OPENING).status_code == 403
    assert viewer.post(f"{run}/events", json={"attempt": 1, "events": []}).status_code == 403


def test_no_run_is_not_found(viewer: TestClient) -> None:
    for path in ("", "/series", "/chart?series=x", "/points.csv?series=x"):
        assert viewer.get(f"{RUNS}/{'0' * 16}{path}").status_code == 404
