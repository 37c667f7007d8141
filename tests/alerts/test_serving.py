"""The server itself watches and sends; what it was about to send survives ``kill -9``."""

import json
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import pytest
from tests.alerts.receivers import Receiver
from tests.runs.sending import NOON, Trainer, failure
from tests.serving import Serving, serving, start

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.alerts import channels, log, rules
from sickbay.alerts.log import Entry
from sickbay.alerts.messages import write_test
from sickbay.alerts.rules import Draft
from sickbay.alerts.service import Alerts
from sickbay.alerts.tables import ChannelKind, DeliveryState, RuleKind
from sickbay.contract.event import Event, FailureKind
from sickbay.contract.opening import Opening
from sickbay.database import Database
from sickbay.database.connections import sqlite_driver

PATIENCE_S = 60
"""Long beyond need: what is waited for comes within seconds."""


def test_a_failure_sent_over_http_reaches_a_webhook_without_anybody_asking(
    state: Path, database: Database, receiver: Receiver
) -> None:
    _rule(database, receiver)
    token = database.writing(lambda session: tokens.create(session, "gpu", [Scope.EVENTS]))
    with serving(state) as server:
        opening = Opening("resnet", "one", "a process").to_json()
        run = _post(server, token, "/api/v1/runs", opening)["run"]
        body = failure(what=FailureKind.OUT_OF_MEMORY, step=7)
        events = [Event(1, 0, NOON, body).to_json()]
        _post(server, token, f"/api/v1/runs/{run}/events", {"attempt": 1, "events": events})
        _until(lambda: bool(receiver.bodies))
    (told,) = receiver.bodies
    assert told["title"] == "resnet: out-of-memory at step 7"
    assert f"{server.url}/runs/{run}/groups/1" in told["message"]


def test_what_was_being_sent_when_the_server_was_killed_is_sent_again(
    state: Path, database: Database, receiver: Receiver
) -> None:
    _rule(database, receiver)
    receiver.hold.clear()
    server = start(state)
    _fail(database)
    assert receiver.asked.wait(PATIENCE_S)
    server.kill()
    receiver.hold.set()
    with serving(state):
        _until(lambda: _state(database) is DeliveryState.SENT)
    (entry,) = _entries(database)
    assert len(receiver.bodies) == 2
    assert entry.deliveries[0].maybe_twice


def test_what_was_decided_and_not_sent_when_the_server_was_killed_is_sent_once(
    state: Path, database: Database, receiver: Receiver
) -> None:
    _rule(database, receiver)
    server = start(state)
    _fail(database)
    server.kill()
    with serving(state):
        _until(lambda: _state(database) is DeliveryState.SENT)
    assert len(receiver.bodies) - _maybe_twice(database) == 1


def test_a_server_that_is_stopped_while_a_receiver_hangs_ends_soon_and_in_order(
    state: Path, database: Database, receiver: Receiver
) -> None:
    _rule(database, receiver)
    receiver.hold.clear()
    server = start(state)
    _fail(database)
    assert receiver.asked.wait(PATIENCE_S)
    assert server.stop() == 0
    assert _state(database) is DeliveryState.SENDING


def test_while_another_process_holds_the_database_alerts_wait_and_nothing_is_lost(
    database: Database, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    _rule(database, receiver)
    _fail(database)
    other = sqlite_driver().connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    alerts = Alerts(database, "http://127.0.0.1")
    alerts.start()
    try:
        _until(lambda: "Another process holds the database" in caplog.text)
        other.execute("ROLLBACK")
        _until(lambda: _state(database) is DeliveryState.SENT)
    finally:
        alerts.close()
        other.close()
    assert len(receiver.bodies) == 1


def test_how_a_message_fared_is_written_down_once_the_database_can_be_written_again(
    database: Database, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    channel = _channel(database, receiver)
    database.writing(lambda session: write_test(session, channel, "http://127.0.0.1", "me"))
    receiver.hold.clear()
    alerts = Alerts(database, "http://127.0.0.1")
    (sending,) = alerts.send_due()
    assert receiver.asked.wait(PATIENCE_S)
    other = sqlite_driver().connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    receiver.hold.set()
    _until(lambda: "delivery 1: Another process holds" in caplog.text)
    other.execute("ROLLBACK")
    other.close()
    sending.result()
    alerts.close()
    assert _state(database) is DeliveryState.SENT


def _channel(database: Database, receiver: Receiver) -> int:
    values = {"url": receiver.url}
    return database.writing(
        lambda session: channels.create(
            session, name="hook", kind=ChannelKind.WEBHOOK, values=values, by="me"
        )
    )


def _rule(database: Database, receiver: Receiver) -> None:
    draft = Draft(RuleKind.FAILURE, [_channel(database, receiver)])
    database.writing(lambda session: rules.create(session, draft, by="me"))


def _fail(database: Database) -> None:
    """Let a run fail, beside the server that runs."""
    Trainer(database).log(failure())


def _post(server: Serving, token: str, at: str, body: object) -> dict[str, str]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", at, json.dumps(body), headers)
    answer: dict[str, str] = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def _entries(database: Database) -> list[Entry]:
    with database.reading() as session:
        return log.entries(session)


def _state(database: Database) -> DeliveryState | None:
    found = _entries(database)
    return found[0].deliveries[0].state if found else None


def _maybe_twice(database: Database) -> bool:
    return _entries(database)[0].deliveries[0].maybe_twice
