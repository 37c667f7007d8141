"""Messages arrive, once, with a link: by mail and by webhook, over real servers."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from tests.alerts.conftest import BASE, Ward
from tests.alerts.receivers import PASSWORD, USER, Mailbox, Receiver
from tests.runs.sending import Trainer, failure

from sickbay.alerts import channels
from sickbay.alerts.addresses import address
from sickbay.alerts.deliveries import CUT_OFF, MOST_TRIES, take
from sickbay.alerts.messages import trim, write_test
from sickbay.alerts.post import Letter, Post
from sickbay.alerts.service import Alerts
from sickbay.alerts.tables import Channel, ChannelKind, DeliveryState, RuleKind
from sickbay.database import Database

TOKEN = "s+e/cret="  # noqa: S105 (no secret of anybody's)


def test_a_mail_and_a_webhook_arrive_once_with_a_link_to_the_group(
    ward: Ward, database: Database, mailbox: Mailbox, receiver: Receiver
) -> None:
    hook = ward.channel(url=f"{receiver.url}/hook?room=7")
    ward.rule(RuleKind.FAILURE, _mail(ward, mailbox), hook)
    trainer = Trainer(database, "resnet")
    trainer.log(*[failure(step=3) for _ in range(1000)])
    ward.look(seconds=6)
    assert ward.send() == 2
    assert ward.send() == 0
    link = f"{BASE}/runs/{trainer.run}/groups/1"
    (mail,) = mailbox.mails
    assert mail["Subject"] == "resnet: loader-error at step 3"
    assert link in mail.get_body().get_content()  # type: ignore[union-attr]
    assert "1,000 failures" in mail.get_body().get_content()  # type: ignore[union-attr]
    assert mailbox.recipients == [["ann@example.org", "bob@example.org"]]
    assert mailbox.encrypted == [True]
    (body,) = receiver.bodies
    assert (body["title"], receiver.paths) == ("resnet: loader-error at step 3", ["/hook?room=7"])
    assert link in body["message"]


def test_a_webhook_gets_its_token_and_no_redirect_is_followed(
    ward: Ward, database: Database, receiver: Receiver
) -> None:
    url = f"{receiver.url}/here"
    channel = ward.any_channel(ChannelKind.WEBHOOK, "hook", url=url, token=TOKEN)
    ward.rule(RuleKind.FAILURE, channel)
    receiver.status, receiver.location = 307, f"{receiver.url}/elsewhere"
    Trainer(database).log(failure())
    ward.look(seconds=6)
    ward.send()
    assert receiver.headers[0]["Authorization"] == f"Bearer {TOKEN}"
    assert receiver.paths == ["/here"]
    assert _tries(ward) == ["it answered with status 307"]


def test_what_fails_is_tried_again_later_and_given_up_in_the_end(
    ward: Ward, database: Database, receiver: Receiver
) -> None:
    ward.rule(RuleKind.FAILURE, ward.channel(url=receiver.url))
    receiver.status = 500
    Trainer(database).log(failure())
    ward.look(seconds=6)
    for number in range(1, MOST_TRIES + 1):
        assert ward.send() == 1
        assert len(receiver.bodies) == number
        ward.clock.move(seconds=29)
        assert ward.send() == 0
        ward.clock.move(hours=1)
    assert ward.send() == 0
    (way,) = ward.entries()[0].deliveries
    assert way.state is DeliveryState.FAILED
    assert _tries(ward) == ["it answered with status 500"] * MOST_TRIES


def test_a_channel_that_is_down_for_a_while_gets_its_message(
    ward: Ward, database: Database, mailbox: Mailbox
) -> None:
    ward.rule(RuleKind.FAILURE, _mail(ward, mailbox))
    mailbox.refuse = True
    Trainer(database).log(failure())
    ward.look(seconds=6)
    ward.send()
    mailbox.refuse = False
    ward.clock.move(minutes=1)
    assert ward.send() == 1
    assert len(mailbox.mails) == 1
    assert ward.entries()[0].deliveries[0].state is DeliveryState.SENT
    assert "secret" not in _tries(ward)[0]


def test_a_wrong_password_or_an_untrusted_certificate_sends_nothing(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = _mail_values(mailbox)
    letter = Letter("title", "body")
    wrong = address(ChannelKind.EMAIL, values | {"password": "wrong"})
    assert not Post().send(wrong, letter).accepted
    monkeypatch.delenv("SSL_CERT_FILE")
    assert not Post().send(address(ChannelKind.EMAIL, values), letter).accepted
    assert mailbox.mails == []


def test_a_mail_that_some_addresses_took_is_not_sent_to_them_again(
    ward: Ward, database: Database, mailbox: Mailbox
) -> None:
    mailbox.unknown = "bob@example.org"
    ward.rule(RuleKind.FAILURE, _mail(ward, mailbox))
    Trainer(database).log(failure())
    ward.look(seconds=6)
    ward.send()
    assert ward.entries()[0].deliveries[0].state is DeliveryState.SENT
    assert _tries(ward) == ["accepted, but not for 1 of its addresses"]


def test_a_receiver_that_never_answers_costs_its_own_time_only(receiver: Receiver) -> None:
    receiver.hold.clear()
    outcome = Post(seconds=2).send(f"json://127.0.0.1:{receiver.port}/", Letter("t", "b"))
    assert not outcome.accepted


def test_what_was_being_sent_at_a_crash_is_sent_again_and_the_log_says_so(
    ward: Ward, database: Database, receiver: Receiver, service: Callable[[], Alerts]
) -> None:
    ward.rule(RuleKind.FAILURE, ward.channel(url=receiver.url))
    Trainer(database).log(failure())
    ward.look(seconds=6)
    database.writing(lambda session: take(session, ward.clock(), (), 4))
    ward.alerts = service()
    assert ward.send() == 0
    ward.alerts.take_up_again()
    assert ward.send() == 1
    (way,) = ward.entries()[0].deliveries
    assert (way.state, way.maybe_twice) == (DeliveryState.SENT, True)
    assert _tries(ward) == [CUT_OFF, "accepted"]


def test_what_waits_for_a_channel_that_is_removed_is_not_sent_and_its_secrets_are_gone(
    ward: Ward, database: Database, receiver: Receiver
) -> None:
    channel = ward.channel(url=receiver.url)
    ward.rule(RuleKind.FAILURE, channel)
    Trainer(database).log(failure())
    ward.look(seconds=6)
    database.writing(lambda session: channels.remove(session, channel))
    assert ward.send() == 0
    assert ward.entries()[0].deliveries[0].state is DeliveryState.CANCELLED
    with database.reading() as session:
        assert session.get_one(Channel, channel).secrets == {}


def test_a_channel_that_is_removed_while_it_is_sent_to_is_not_tried_again(
    ward: Ward, database: Database, receiver: Receiver
) -> None:
    channel = ward.channel(url=receiver.url)
    ward.rule(RuleKind.FAILURE, channel)
    Trainer(database).log(failure())
    ward.look(seconds=6)
    receiver.status = 500
    receiver.hold.clear()
    (sending,) = ward.alerts.send_due()
    assert receiver.asked.wait(60)
    assert ward.alerts.send_due() == [], "its channel is busy"
    database.writing(lambda session: channels.remove(session, channel))
    receiver.hold.set()
    sending.result()
    assert ward.entries()[0].deliveries[0].state is DeliveryState.CANCELLED


def test_no_secret_reaches_the_log(
    ward: Ward, database: Database, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    values: dict[str, Any] = {"url": f"{receiver.url}/path-{TOKEN}", "token": TOKEN}
    ward.rule(RuleKind.FAILURE, ward.any_channel(ChannelKind.WEBHOOK, "hook", **values))
    receiver.status = 403
    Trainer(database).log(failure())
    ward.look(seconds=6)
    ward.send()
    assert "delivery 1: it answered with status 403" in caplog.text
    assert TOKEN not in caplog.text


def test_old_messages_leave_the_log_but_not_those_that_are_not_sent(
    ward: Ward, database: Database, receiver: Receiver
) -> None:
    good, bad = ward.channel("good", receiver.url), ward.channel("bad")
    for channel in (good, bad, good):
        database.writing(lambda session, to=channel: write_test(session, to, BASE, "me"))  # type: ignore[misc]
    ward.clock.move(seconds=1)
    ward.send()
    database.writing(lambda session: trim(session, 2))
    assert [one.id for one in ward.entries()] == [3, 2]


def _mail(ward: Ward, mailbox: Mailbox) -> int:
    return ward.any_channel(ChannelKind.EMAIL, "mail", **_mail_values(mailbox))


def _mail_values(mailbox: Mailbox) -> dict[str, str]:
    return {
        "recipients": "ann@example.org, bob@example.org",
        "host": f"localhost:{mailbox.port}",
        "security": "starttls",
        "user": USER,
        "password": PASSWORD,
        "sender": "sickbay@example.org",
    }


def _tries(ward: Ward) -> list[str]:
    return [one.outcome for one in ward.entries()[0].deliveries[0].tries]
