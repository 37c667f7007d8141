"""Messages: written into the database first, with one delivery for each channel."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from sickbay.alerts.tables import (
    Channel,
    Delivery,
    DeliveryState,
    Message,
    MessageKind,
    Rule,
    RuleChannel,
    Try,
)
from sickbay.database.tables import now

KEPT = 5000
"""Messages that the log keeps; what is not sent yet is kept anyhow."""
_TRIM_EVERY = 100


@dataclass(frozen=True, slots=True)
class Words:
    """What a message says, and the path of the page it is about."""

    title: str
    text: str
    path: str


def write(
    session: Session,
    *,
    rule: Rule,
    kind: MessageKind,
    subject: str,
    words: Words,
    base_url: str,
    at: datetime,
) -> int:
    """Store a message of a rule, to be sent to each of its channels; return its id."""
    channels = session.scalars(
        select(RuleChannel.channel_id)
        .join(Channel, Channel.id == RuleChannel.channel_id)
        .where(RuleChannel.rule_id == rule.id, Channel.removed_at.is_(None))
    ).all()
    message = _message(kind, subject, words, base_url, at)
    message.rule_id = rule.id
    return _post(session, message, channels)


def write_test(session: Session, channel_id: int, base_url: str, by: str) -> int:
    """Store a message that shows whether a channel works; return its id."""
    words = Words(
        "Sickbay: test message",
        f"Sent by {by} to see whether this channel works. It does.",
        "/",
    )
    return _post(session, _message(MessageKind.TEST, "test", words, base_url, now()), [channel_id])


def _message(kind: MessageKind, subject: str, words: Words, base_url: str, at: datetime) -> Message:
    link = f"{base_url}{words.path}"
    return Message(
        rule_id=None,
        kind=kind,
        subject=subject,
        title=words.title,
        text=f"{words.text}\n\n{link}",
        path=words.path,
        at=at,
    )


def _post(session: Session, message: Message, channels: Sequence[int]) -> int:
    session.add(message)
    session.flush()
    session.add_all(
        Delivery(
            message_id=message.id,
            channel_id=channel,
            state=DeliveryState.WAITING,
            tries=0,
            due_at=message.at,
        )
        for channel in channels
    )
    session.flush()
    if message.id % _TRIM_EVERY == 0:
        trim(session, message.id - KEPT)
    return message.id


def trim(session: Session, last: int) -> None:
    """Drop messages up to one, but for those that are not sent yet."""
    unsent = select(Delivery.message_id).where(
        Delivery.state.in_([DeliveryState.WAITING, DeliveryState.SENDING])
    )
    old = select(Message.id).where(Message.id <= last, Message.id.not_in(unsent))
    deliveries = select(Delivery.id).where(Delivery.message_id.in_(old))
    session.execute(delete(Try).where(Try.delivery_id.in_(deliveries)))
    session.execute(delete(Delivery).where(Delivery.message_id.in_(old)))
    without = select(func.count()).where(Delivery.message_id == Message.id).scalar_subquery()
    session.execute(delete(Message).where(Message.id <= last, without == 0))
