"""Streams: what comes, what was missed, who gets a seat; and how a server with streams stops."""

import asyncio
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi.testclient import TestClient
from tests.runs.sending import Trainer, failure, points
from tests.serving import Serving, serving

from sickbay.accounts.tables import Role
from sickbay.contract.blame import Outcome, Verdict
from sickbay.contract.errors import Busy
from sickbay.contract.report import Change, Passed, Report
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.web import live
from sickbay.web.live import Feed, News, changes

FOREVER = 600.0


@pytest.fixture
def server(state: Path) -> Iterator[Serving]:
    """A real server."""
    with serving(state) as running:
        yield running


@pytest.fixture
def beside(server: Serving) -> Iterator[Database]:
    """The server's database, opened beside it."""
    database = open_database(server.log.parent / "sickbay.db")
    yield database
    database.close()


@pytest.fixture
def cookie(server: Serving) -> str:
    """A session of the server's owner."""
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request("POST", "/login", urlencode({"link": server.secret}), headers)
        answer = connection.getresponse()
        answer.read()
    return str(answer.headers["Set-Cookie"]).partition(";")[0]


@contextmanager
def listening(
    server: Serving, cookie: str, run: str, **headers: str
) -> Iterator[http.client.HTTPResponse]:
    """An open stream."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", f"/runs/{run}/live", headers={"Cookie": cookie, **headers})
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        answer.close()
        connection.close()


def message(stream: http.client.HTTPResponse) -> dict[str, Any]:
    """Read on until a whole event has come; return it with its id."""
    found: dict[str, Any] = {}
    while line := stream.readline().decode().rstrip("\n"):
        name, _, value = line.partition(": ")
        found[name] = value
    if "data" not in found:
        assert found, "the stream ended"
        return message(stream)
    return {"id": found.get("id"), **json.loads(found["data"])}


def test_a_point_comes_to_every_page_that_is_open(
    server: Serving, beside: Database, cookie: str
) -> None:
    trainer = Trainer(beside)
    with ExitStack() as open_pages:
        streams = [
            open_pages.enter_context(listening(server, cookie, trainer.run)) for _ in range(50)
        ]
        assert {stream.headers["Content-Type"] for stream in streams} == {
            "text/event-stream; charset=utf-8"
        }
        for stream in streams:
            assert message(stream)["kinds"] == []
        trainer.log(points("loss", [3, 4], [1.0, 2.0]))
        for stream in streams:
            said = message(stream)
            assert said["kinds"] == ["points"]
            assert said["series"] == [{"attempt": 1, "series": "loss", "first": 3, "last": 4}]


def test_a_stream_goes_on_from_the_event_that_was_seen_last(
    server: Serving, beside: Database, cookie: str
) -> None:
    trainer = Trainer(beside)
    with listening(server, cookie, trainer.run) as stream:
        seen = message(stream)["id"]
    trainer.log(points("loss", [1], [1.0]))
    Trainer(beside, name="another").log(points("loss", [9], [1.0]))
    trainer.log(failure(step=2))
    with listening(server, cookie, trainer.run, **{"Last-Event-ID": seen}) as stream:
        kinds: list[str] = []
        while "failure" not in kinds:
            said = message(stream)
            kinds += said["kinds"]
            assert all(one["series"] == "loss" and one["last"] == 1 for one in said["series"])
        assert sorted(kinds) == ["failure", "points"]
        trainer.log(points("loss", [5], [1.0]))
        assert message(stream)["series"][0]["first"] == 5


def test_what_was_found_out_about_a_run_comes_to_open_pages_too(
    server: Serving, beside: Database, cookie: str
) -> None:
    trainer = Trainer(beside)
    told = (
        ("verdict", Verdict("0123456789abcdef", Outcome.NOT_REPRODUCED)),
        ("course", Change("learning-rate", "0.1", "0.05")),
        ("report", Report("Triage", Passed.PASSED)),
    )
    with listening(server, cookie, trainer.run) as stream:
        message(stream)
        for kind, body in told:
            trainer.log(body)
            assert message(stream)["kinds"] == [kind]


def test_a_server_with_open_streams_stops_without_waiting_for_them(
    server: Serving, beside: Database, cookie: str
) -> None:
    trainer = Trainer(beside)
    with listening(server, cookie, trainer.run) as stream:
        message(stream)
        stopper = threading.Thread(target=server.stop)
        stopper.start()
        with pytest.raises((http.client.IncompleteRead, AssertionError)):
            message(stream)
        stopper.join(20)
        assert server.process.returncode == 0


def test_pages_that_poll_get_the_same(database: Database, client: TestClient) -> None:
    trainer = Trainer(database)
    start = client.get(f"/runs/{trainer.run}/changes").json()
    assert start["kinds"] == []
    trainer.log(points("loss", [1], [1.0]))
    found = client.get(f"/runs/{trainer.run}/changes", params={"after": start["last"]}).json()
    assert (found["kinds"], found["everything"]) == (["points"], False)
    again = client.get(f"/runs/{trainer.run}/changes", params={"after": found["last"]}).json()
    assert again["kinds"] == []
    assert client.get(f"/runs/{'0' * 16}/changes").status_code == 404


@pytest.fixture
def client(visitor: Callable[[Role], TestClient]) -> TestClient:
    """Somebody who looks."""
    return visitor(Role.VIEWER)


def test_who_was_away_for_too_long_reads_everything_anew(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(database)
    trainer.log(*(points("loss", [step], [1.0]) for step in range(4)))
    monkeypatch.setattr(live, "AT_ONCE", 1)
    assert changes(database, trainer.run, 0).everything
    assert changes(database, trainer.run, 10_000).everything


def test_a_slow_reader_is_told_that_lines_were_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(database)
    monkeypatch.setattr(live, "MOST_WAITING", 2)

    async def slow() -> News:
        feed = Feed(database)
        with feed.seat("Mei", trainer.run) as ear:
            stream = feed.listen(ear, None, FOREVER)
            await anext(stream)
            for step in range(3):
                await asyncio.to_thread(trainer.log, points("loss", [step], [1.0]))
            return await anext(stream)

    assert asyncio.run(slow()).last > 0


def test_seats_are_bounded_for_one_and_for_all_and_come_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_OF_ONE", 2)
    monkeypatch.setattr(live, "MOST_STREAMS", 3)

    async def crowd() -> None:
        feed = Feed(database)
        with feed.seat("Mei", "r"), feed.seat("Mei", "r"):
            with pytest.raises(Busy), feed.seat("Mei", "r"):
                pass
            with feed.seat("Li", "r"), pytest.raises(Busy), feed.seat("Ada", "r"):
                pass
        with feed.seat("Mei", "r"), feed.seat("Mei", "r"), feed.seat("Li", "r"):
            pass

    asyncio.run(crowd())


def test_a_full_house_is_answered_with_when_to_come_back(
    database: Database, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(database)
    monkeypatch.setattr(live, "MOST_STREAMS", 0)
    answer = client.get(f"/runs/{trainer.run}/live")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0


def test_a_stream_ends_in_time_so_that_who_was_logged_out_is_gone(database: Database) -> None:
    trainer = Trainer(database)

    async def short() -> list[News]:
        feed = Feed(database)
        with feed.seat("Mei", trainer.run) as ear:
            return [news async for news in feed.listen(ear, None, 0.0)]

    assert len(asyncio.run(short())) == 1


def test_the_reader_rests_while_nobody_listens(database: Database) -> None:
    trainer = Trainer(database)

    async def twice() -> int:
        feed = Feed(database)
        seen = 0
        for step in (1, 2):
            with feed.seat("Mei", trainer.run) as ear:
                stream = feed.listen(ear, None, FOREVER)
                await anext(stream)
                await asyncio.to_thread(trainer.log, points("loss", [step], [1.0]))
                seen += len((await anext(stream)).lines)
            await asyncio.sleep(2 * live.LOOK_SECONDS)
        return seen

    assert asyncio.run(twice()) == 2
