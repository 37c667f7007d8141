"""The delivery log: what was sent to whom, how often it was tried, and how that went."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.alerts.deliveries import CUT_OFF
from sickbay.alerts.tables import (
    Channel,
    Delivery,
    DeliveryState,
    Message,
    MessageKind,
    Try,
)
from sickbay.contract.errors import NotFound

PAGE = 50


@dataclass(frozen=True, slots=True)
class TryView:
    """One try; ``ended_at`` is missing while it runs, and for ever where it was cut off."""

    began_at: datetime
    ended_at: datetime | None
    outcome: str


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """A message on its way to a channel."""

    id: int
    channel: str
    state: DeliveryState
    due_at: datetime
    tries: tuple[TryView, ...]

    @property
    def maybe_twice(self) -> bool:
        """Whether it was sent again after a try that may have arrived."""
        return any(one.outcome == CUT_OFF for one in self.tries[:-1])


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in the log."""

    id: int
    kind: MessageKind
    title: str
    path: str
    at: datetime
    deliveries: tuple[DeliveryView, ...]


def entries(session: Session, before: int | None = None, size: int = PAGE) -> list[Entry]:
    """Return messages, the newest first, older than one, in three queries."""
    query = select(Message).order_by(Message.id.desc()).limit(size)
    if before is not None:
        query = query.where(Message.id < before)
    return _entries(session, session.scalars(query).all())


def entry(session: Session, message_id: int) -> Entry:
    """Return one message.

    Raises:
        NotFound: there is none, or it is so old that it was dropped.
    """
    found = session.get(Message, message_id)
    if found is None:
        raise NotFound("There is no such message in the log any more.")
    return _entries(session, [found])[0]


def _entries(session: Session, messages: Sequence[Message]) -> list[Entry]:
    ways: defaultdict[int, list[DeliveryView]] = defaultdict(list)
    rows = session.execute(
        select(Delivery, Channel.name)
        .join(Channel, Channel.id == Delivery.channel_id)
        .where(Delivery.message_id.in_([message.id for message in messages]))
        .order_by(Delivery.id)
    ).all()
    tries = _tries(session, [delivery.id for delivery, _name in rows])
    for delivery, name in rows:
        ways[delivery.message_id].append(
            DeliveryView(
                delivery.id, name, delivery.state, delivery.due_at, tuple(tries[delivery.id])
            )
        )
    return [
        Entry(one.id, one.kind, one.title, one.path, one.at, tuple(ways[one.id]))
        for one in messages
    ]


def _tries(session: Session, deliveries: Sequence[int]) -> defaultdict[int, list[TryView]]:
    found: defaultdict[int, list[TryView]] = defaultdict(list)
    query = select(Try).where(Try.delivery_id.in_(deliveries)).order_by(Try.id)
    for one in session.scalars(query):
        found[one.delivery_id].append(TryView(one.began_at, one.ended_at, one.outcome))
    return found
