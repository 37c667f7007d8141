"""A message's way to a channel: taken, tried, accepted or tried again later, given up in the end.

That a try began is committed before anything is sent, how it ended after. A try without an end
was cut off by a crash: the message may have arrived or not. It is sent again, so each message
arrives at least once, and the log tells that it may have arrived twice.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, func, select, update
from sqlalchemy.orm import Session

from sickbay.alerts.post import Letter, Outcome
from sickbay.alerts.tables import (
    Channel,
    ChannelKind,
    Delivery,
    DeliveryState,
    Message,
    MessageKind,
    Try,
)

MOST_TRIES = 8
"""With the pauses below: over about an hour."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 30.0, 3600.0
"""Seconds before the second try, doubled with each; full jitter above half of it."""
CUT_OFF = "cut off: it may have arrived"

_MOODS = {
    MessageKind.NOTICE: "warning",
    MessageKind.DIGEST: "warning",
    MessageKind.RECOVERY: "success",
    MessageKind.TEST: "info",
}


@dataclass(frozen=True, slots=True)
class Parcel:
    """One try that has begun. ``values`` holds secrets: it is neither logged nor shown."""

    delivery_id: int
    try_id: int
    channel_id: int
    kind: ChannelKind
    values: Mapping[str, Any]
    letter: Letter

    def __repr__(self) -> str:
        return f"Parcel(delivery {self.delivery_id}, channel {self.channel_id})"


def is_due(session: Session, at: datetime, busy: Collection[int] = ()) -> bool:
    """Whether something waits to be sent now to a channel that is not busy."""
    return bool(_channels_due(session, at, busy, 1))


def take(session: Session, at: datetime, busy: Collection[int], most: int) -> list[Parcel]:
    """Begin a try for what is due, one for each channel that is not busy, the oldest first."""
    return [
        _begin(session, session.execute(_oldest(channel, at)).one(), at)
        for channel in _channels_due(session, at, busy, most)
    ]


def settle(
    session: Session,
    parcel: Parcel,
    outcome: Outcome,
    at: datetime,
    jitter: Callable[[float, float], float],
) -> None:
    """Note how a try ended."""
    delivery = session.get_one(Delivery, parcel.delivery_id)
    attempt = session.get_one(Try, parcel.try_id)
    attempt.ended_at, attempt.outcome = at, outcome.words
    if outcome.accepted:
        delivery.state = DeliveryState.SENT
    else:
        delivery.state = _next(session, delivery)
        delivery.due_at = at + _pause(delivery.tries, jitter)


def take_up_again(session: Session, at: datetime) -> int:
    """Let what was being sent when the server stopped be sent again; return how many."""
    session.execute(
        update(Try).where(Try.ended_at.is_(None), Try.outcome == "").values(outcome=CUT_OFF)
    )
    cut_off = select(Delivery).where(Delivery.state == DeliveryState.SENDING)
    found = session.scalars(cut_off).all()
    for delivery in found:
        delivery.state, delivery.due_at = _next(session, delivery), at
    return len(found)


def _next(session: Session, delivery: Delivery) -> DeliveryState:
    """Return what becomes of a delivery whose try did not succeed."""
    if session.get_one(Channel, delivery.channel_id).removed_at is not None:
        return DeliveryState.CANCELLED
    return DeliveryState.FAILED if delivery.tries >= MOST_TRIES else DeliveryState.WAITING


def _channels_due(
    session: Session, at: datetime, busy: Collection[int], most: int
) -> Sequence[int]:
    due = (Delivery.state == DeliveryState.WAITING, Delivery.due_at <= at)
    query = select(Delivery.channel_id).where(*due, Delivery.channel_id.not_in(busy))
    first = func.min(Delivery.due_at)
    return session.scalars(query.group_by(Delivery.channel_id).order_by(first).limit(most)).all()


def _oldest(channel_id: int, at: datetime) -> Select[Delivery, Message, Channel]:
    return (
        select(Delivery, Message, Channel)
        .join(Message, Message.id == Delivery.message_id)
        .join(Channel, Channel.id == Delivery.channel_id)
        .where(
            Delivery.channel_id == channel_id,
            Delivery.state == DeliveryState.WAITING,
            Delivery.due_at <= at,
        )
        .order_by(Delivery.due_at, Delivery.id)
        .limit(1)
    )


def _begin(session: Session, row: Row[Delivery, Message, Channel], at: datetime) -> Parcel:
    delivery, message, channel = row
    attempt = Try(delivery_id=delivery.id, began_at=at, ended_at=None, outcome="")
    session.add(attempt)
    delivery.state = DeliveryState.SENDING
    delivery.tries += 1
    session.flush()
    return Parcel(
        delivery.id,
        attempt.id,
        channel.id,
        channel.kind,
        {**channel.fields, **channel.secrets},
        Letter(message.title, message.text, _MOODS[message.kind]),
    )


def _pause(tries: int, jitter: Callable[[float, float], float]) -> timedelta:
    longest = min(FIRST_PAUSE_S * 2 ** (tries - 1), LONGEST_PAUSE_S)
    return timedelta(seconds=jitter(longest / 2, longest))
