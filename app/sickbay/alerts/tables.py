"""Tables of alerts: channels, rules, what rules remember, messages and their way out.

Secrets of channels (passwords, tokens, webhook keys) must be sent as they are, so they cannot be
hashed: they lie in the database as they were given. What protects them is that the state's files
can be read by their owner alone (mode 0600), and that nothing but ``addresses`` reads them: no
page, log or error shows one. Copies of the state need the same care.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.database.tables import Base, BigId


class ChannelKind(StrEnum):
    """How a message travels."""

    EMAIL = "email"
    WEBHOOK = "webhook"
    SLACK = "slack"
    FEISHU = "feishu"
    DINGTALK = "dingtalk"
    WECOM = "wecom"
    APPRISE = "apprise"


class RuleKind(StrEnum):
    """What a rule looks for."""

    FAILURE = "failure"
    SPIKE = "spike"
    SILENT = "silent"
    ENDED = "ended"
    TOLD = "told"
    SCAN = "scan"
    HELD = "held"


class MessageKind(StrEnum):
    """Why a message was written."""

    NOTICE = "notice"
    DIGEST = "digest"
    RECOVERY = "recovery"
    TEST = "test"


class DeliveryState(StrEnum):
    """How far a message came on its way to one channel."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Channel(Base):
    """An address that messages are sent to."""

    __tablename__ = "alert_channel"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    kind: Mapped[ChannelKind]
    fields: Mapped[dict[str, Any]]
    """What may be shown."""
    secrets: Mapped[dict[str, Any]]
    """What may not; emptied when the channel is removed."""
    created_by: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]


class Rule(Base):
    """What to look for, and whom to tell."""

    __tablename__ = "alert_rule"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    kind: Mapped[RuleKind]
    data_set: Mapped[str] = mapped_column(String(255))
    """Only what is about this data set; all where it is empty."""
    only: Mapped[list[str]]
    """Kinds of failure, or endings of a run, or levels of a message; all where it is empty."""
    threshold: Mapped[int]
    """Minutes of silence, or held samples; 0 where the kind has none."""
    window_minutes: Mapped[int]
    cursor: Mapped[int]
    """The newest failure, or message of a script, that was looked at."""
    since: Mapped[datetime]
    """What ended or was silent before then is no news."""
    paused: Mapped[bool]
    created_by: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime]
    removed_at: Mapped[datetime | None]


class RuleChannel(Base):
    """A channel of a rule."""

    __tablename__ = "alert_rule_channel"

    rule_id: Mapped[int] = mapped_column(ForeignKey("alert_rule.id"), primary_key=True)
    channel_id: Mapped[int] = mapped_column(ForeignKey("alert_channel.id"), primary_key=True)


class Standing(Base):
    """What a rule saw, and what holds until it ends: a silence, too many held samples."""

    __tablename__ = "alert_standing"

    rule_id: Mapped[int] = mapped_column(ForeignKey("alert_rule.id"), primary_key=True)
    subject: Mapped[str] = mapped_column(String(64), primary_key=True)
    since: Mapped[datetime]


class Topic(Base):
    """A subject that a rule wrote about lately: until its window ends, news of it is held back."""

    __tablename__ = "alert_topic"

    rule_id: Mapped[int] = mapped_column(ForeignKey("alert_rule.id"), primary_key=True)
    subject: Mapped[str] = mapped_column(String(64), primary_key=True)
    ends_at: Mapped[datetime]
    told: Mapped[bool]
    """A message about it went out in this window."""
    held_back: Mapped[int]
    """How many occurrences wait for the digest."""
    title: Mapped[str] = mapped_column(String(250))
    """Of the newest that is held back."""
    path: Mapped[str]


class Message(Base):
    """A message as it was decided."""

    __tablename__ = "alert_message"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    rule_id: Mapped[int | None] = mapped_column(ForeignKey("alert_rule.id"))
    kind: Mapped[MessageKind]
    subject: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(String(250))
    text: Mapped[str]
    path: Mapped[str]
    """Of the page it is about, below the server's address."""
    at: Mapped[datetime]


class Delivery(Base):
    """A message's way to one channel."""

    __tablename__ = "alert_delivery"
    __table_args__ = (Index("ix_alert_delivery_due", "state", "due_at"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    message_id: Mapped[int] = mapped_column(ForeignKey("alert_message.id"), index=True)
    channel_id: Mapped[int] = mapped_column(ForeignKey("alert_channel.id"))
    state: Mapped[DeliveryState]
    tries: Mapped[int]
    due_at: Mapped[datetime]


class Try(Base):
    """One attempt to send; without an end it was cut off, and may have arrived."""

    __tablename__ = "alert_try"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    delivery_id: Mapped[int] = mapped_column(ForeignKey("alert_delivery.id"), index=True)
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(String(200))
    """A sentence of ours; never what the other side answered."""
