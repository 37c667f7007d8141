"""The page of alerts: rules, channels, the test button, the log; secrets go in and never out."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.alerts.receivers import Receiver, web_server
from tests.web.pages.desk import PAGE, text_of

from sickbay.accounts.tables import Role
from sickbay.alerts.service import Alerts
from sickbay.web.site import Site

TOKEN = "t0ken-of-the-hook"  # noqa: S105 (no secret of anybody's)


@pytest.fixture
def admin(visitor: Callable[[Role], TestClient]) -> TestClient:
    """An admin's browser."""
    return visitor(Role.ADMIN)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A web server."""
    with web_server() as kept:
        yield kept


def test_an_empty_page_says_what_to_do_next(admin: TestClient) -> None:
    words = text_of(admin.get("/alerts", headers=PAGE))
    assert "nobody is told of anything" in words
    assert "Add a channel first" in words
    assert "http://127.0.0.1:8765" in words


def test_a_channel_is_added_tested_and_removed_and_its_secrets_are_on_no_page(
    admin: TestClient, site: Site, receiver: Receiver
) -> None:
    url = f"{receiver.url}/secret-path"
    assert _add(admin, url=url, token=TOKEN).headers["location"] == "/alerts"
    page = admin.get("/alerts", headers=PAGE)
    assert "kept secret" in text_of(page)
    sent = _press(admin, "/alerts/channels/1/test")
    waiting = admin.get(sent, headers=PAGE)
    assert waiting.headers["refresh"]
    _send(site)
    done = admin.get(sent, headers=PAGE)
    assert "refresh" not in done.headers
    assert "hook : sent" in text_of(done)
    assert receiver.bodies[0]["title"] == "Sickbay: test message"
    assert receiver.headers[0]["Authorization"] == f"Bearer {TOKEN}"
    for shown in (page, waiting, done):
        assert TOKEN not in shown.text
        assert "secret-path" not in shown.text
    _press(admin, "/alerts/channels/1/remove")
    assert "Add a channel first" in text_of(admin.get("/alerts", headers=PAGE))
    assert _post(admin, "/alerts/channels/1/test").status_code == 404


def test_a_test_that_fails_says_the_status_and_never_what_was_answered(
    admin: TestClient, site: Site, receiver: Receiver
) -> None:
    receiver.status = 403
    _add(admin, url=receiver.url)
    sent = _press(admin, "/alerts/channels/1/test")
    _send(site)
    words = text_of(admin.get(sent, headers=PAGE))
    assert "it answered with status 403" in words
    assert "next try" in words
    assert "secret of the receiver" not in words


def test_what_is_wrong_comes_back_with_what_was_typed_but_no_secret(admin: TestClient) -> None:
    fields = {
        "kind": "email",
        "name": "team",
        "field-recipients": "nobody",
        "field-host": "mail.example.org",
        "field-security": "starttls",
        "field-user": "me",
        "field-password": TOKEN,
        "field-sender": "a@example.org",
    }
    answer = _post(admin, "/alerts/channels", **fields)
    assert answer.status_code == 422
    assert "The field “To” must hold e-mail addresses" in text_of(answer)
    assert 'value="mail.example.org"' in answer.text
    assert TOKEN not in answer.text


def test_an_address_that_apprise_does_not_know_is_refused(admin: TestClient) -> None:
    fields = {"kind": "apprise", "name": "odd", "field-url": f"odd://{TOKEN}"}
    answer = _post(admin, "/alerts/channels", **fields)
    assert answer.status_code == 422
    assert "the address is not understood" in text_of(answer)
    assert TOKEN not in answer.text


def test_a_kind_or_a_name_or_a_message_that_cannot_be_is_refused(admin: TestClient) -> None:
    assert admin.get("/alerts/channels/new?kind=pigeon", headers=PAGE).status_code == 422
    assert admin.get("/alerts/channels/new?kind=slack", headers=PAGE).status_code == 200
    assert admin.get("/alerts/messages/7", headers=PAGE).status_code == 404
    answer = _post(admin, "/alerts/channels", kind="webhook", name="", **{"field-url": "http://a"})
    assert "A channel needs a name" in text_of(answer)


def test_a_name_that_is_taken_is_refused(admin: TestClient) -> None:
    _add(admin, url="http://127.0.0.1:9/")
    assert "choose another name" in text_of(_add(admin, url="http://127.0.0.1:9/"))


@pytest.mark.parametrize("kind", ["failure", "spike", "silent", "ended", "told", "scan", "held"])
def test_each_kind_of_rule_has_a_form_that_makes_one(admin: TestClient, kind: str) -> None:
    _add(admin, url="http://127.0.0.1:9/")
    form = admin.get(f"/alerts/rules/new?kind={kind}", headers=PAGE)
    assert form.status_code == 200
    number = re.search(r'name="threshold"[^>]*value="(\d+)"', form.text)
    fields = {"kind": kind, "channel": "1", "window": "10", "data-set": ""}
    made = _post(admin, "/alerts/rules", **fields, threshold=number[1] if number else "")
    assert made.headers["location"] == "/alerts"
    assert "hook" in text_of(admin.get("/alerts", headers=PAGE))


def test_a_rule_is_paused_resumed_and_removed(admin: TestClient) -> None:
    _add(admin, url="http://127.0.0.1:9/")
    fields = {"kind": "silent", "channel": "1", "window": "10", "threshold": "5"}
    _post(admin, "/alerts/rules", **fields)
    page = "/alerts"
    assert "A run is silent for 5 min" in text_of(admin.get(page, headers=PAGE))
    _press(admin, "/alerts/rules/1/pause")
    assert "paused" in text_of(admin.get(page, headers=PAGE))
    _press(admin, "/alerts/rules/1/resume")
    assert "paused" not in text_of(admin.get(page, headers=PAGE))
    _press(admin, "/alerts/rules/1/remove")
    assert "nobody is told" in text_of(admin.get(page, headers=PAGE))
    assert _post(admin, "/alerts/rules/1/pause").status_code == 404


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("channel", "7", "Choose at least one channel"),
        ("threshold", "0", "must be from 1 to"),
        ("threshold", "many", "must be a whole number"),
        ("window", "0" * 5000 + "1", "must be a whole number"),
        ("window", "0", "must be from 1 to"),
        ("data-set", "no such", "no data set of that name"),
        ("only", "no-such-kind", "narrowed to something that does not exist"),
        ("kind", "no-such", "no such kind of rule"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_a_sentence(
    admin: TestClient, field: str, value: str, says: str
) -> None:
    _add(admin, url="http://127.0.0.1:9/")
    right = {"kind": "silent", "channel": "1", "window": "10", "threshold": "5", "data-set": ""}
    answer = _post(admin, "/alerts/rules", **(right | {field: value}))
    assert answer.status_code == 422
    assert says in text_of(answer)


def test_the_log_has_older_pages(admin: TestClient) -> None:
    _add(admin, url="http://127.0.0.1:9/")
    for _ in range(51):
        _press(admin, "/alerts/channels/1/test")
    first = admin.get("/alerts", headers=PAGE)
    assert "/alerts/messages/51" in first.text
    assert 'href="/alerts/messages/1"' not in first.text
    assert 'href="/alerts/messages/1"' in admin.get("/alerts?before=2", headers=PAGE).text


def _add(admin: TestClient, **values: str) -> Any:
    fields = {f"field-{name}": value for name, value in values.items()}
    return _post(admin, "/alerts/channels", kind="webhook", name="hook", **fields)


def _post(admin: TestClient, at: str, **fields: str) -> Any:
    return admin.post(at, data=fields or {"do": "it"}, headers=PAGE)


def _press(admin: TestClient, at: str) -> str:
    """Press a button, as a browser does; return where it leads."""
    answer = admin.post(at, headers={**PAGE, "Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 303
    return str(answer.headers["location"])


def _send(site: Site) -> None:
    alerts = Alerts(site.database, site.settings.base_url)
    for begun in alerts.send_due():
        begun.result()
    alerts.close()
