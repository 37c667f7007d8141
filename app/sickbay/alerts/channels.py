"""Channels: made, listed without their secrets, removed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sickbay.alerts.addresses import FORMS, address, shown
from sickbay.alerts.tables import Channel, ChannelKind, Delivery, DeliveryState
from sickbay.contract.errors import BadInput, Conflict, NotFound
from sickbay.database.tables import now

MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel as people may see it."""

    id: int
    name: str
    kind: ChannelKind
    label: str
    leads_to: str
    created_by: str
    created_at: datetime


def kind_of(text: str) -> ChannelKind:
    """Return the kind of channel of that name.

    Raises:
        BadInput: there is none.
    """
    try:
        return ChannelKind(text)
    except ValueError:
        raise BadInput("There is no such kind of channel; choose one from the list.") from None


def create(
    session: Session, *, name: str, kind: ChannelKind, values: Mapping[str, str], by: str
) -> int:
    """Make a channel; return its id.

    Raises:
        BadInput: the name or a field is missing or not what it must be.
        Conflict: there is a channel of that name.
    """
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"A channel needs a name of 1 to {MAX_NAME} printable characters.")
    address(kind, values)
    if any(one.name == name for one in channels(session)):
        raise Conflict(f"There is a channel named {name}; choose another name.")
    fields = FORMS[kind].fields
    given = {field.name: values.get(field.name, "") for field in fields}
    made = Channel(
        name=name,
        kind=kind,
        fields={field.name: given[field.name] for field in fields if not field.secret},
        secrets={field.name: given[field.name] for field in fields if field.secret},
        created_by=by,
        created_at=now(),
        removed_at=None,
    )
    session.add(made)
    session.flush()
    return made.id


def channels(session: Session) -> list[ChannelView]:
    """Return the channels there are, by name."""
    rows = session.scalars(
        select(Channel).where(Channel.removed_at.is_(None)).order_by(Channel.name, Channel.id)
    )
    return [_view(row) for row in rows]


def channel(session: Session, channel_id: int) -> ChannelView:
    """Return one channel.

    Raises:
        NotFound: there is none, or it was removed.
    """
    found = session.get(Channel, channel_id)
    if found is None or found.removed_at is not None:
        raise NotFound("There is no such channel any more.")
    return _view(found)


def remove(session: Session, channel_id: int) -> None:
    """Remove a channel: its secrets are wiped, what waits for it is not sent.

    Raises:
        NotFound: there is none.
    """
    channel(session, channel_id)
    session.execute(
        update(Channel).where(Channel.id == channel_id).values(secrets={}, removed_at=now())
    )
    session.execute(
        update(Delivery)
        .where(Delivery.channel_id == channel_id, Delivery.state == DeliveryState.WAITING)
        .values(state=DeliveryState.CANCELLED)
    )


def _view(row: Channel) -> ChannelView:
    form = FORMS[row.kind]
    return ChannelView(
        id=row.id,
        name=row.name,
        kind=row.kind,
        label=form.label,
        leads_to=shown(row.kind, row.fields),
        created_by=row.created_by,
        created_at=row.created_at,
    )
