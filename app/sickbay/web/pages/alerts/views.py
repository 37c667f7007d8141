"""Page objects of alerts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from sickbay.alerts import channels, log, rules
from sickbay.alerts.addresses import FORMS, Form
from sickbay.alerts.channels import ChannelView
from sickbay.alerts.log import DeliveryView, Entry
from sickbay.alerts.rules import CHOICES, WINDOW_MINUTES, RuleView
from sickbay.alerts.tables import DeliveryState, RuleKind
from sickbay.quarantine import data_sets
from sickbay.web.identity import Who
from sickbay.web.pages.alerts import words
from sickbay.web.pages.shell import Shell, bare


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule in the list."""

    rule: RuleView
    words: str


@dataclass(frozen=True, slots=True)
class SentRow:
    """A message on its way to one channel."""

    delivery: DeliveryView
    state: str
    mark: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A message in the log."""

    entry: Entry
    kind: str
    ways: tuple[SentRow, ...]


@dataclass(frozen=True, slots=True)
class AlertsPage:
    """``alerts/alerts.html``."""

    shell: Shell
    rules: tuple[RuleRow, ...]
    channels: tuple[ChannelView, ...]
    entries: tuple[EntryRow, ...]
    older: int | None
    channel_kinds: tuple[Form, ...]
    rule_kinds: Mapping[RuleKind, str]
    links_begin: str


@dataclass(frozen=True, slots=True)
class ChannelPage:
    """``alerts/channel.html``: one kind's form; what was typed comes back, secrets do not."""

    shell: Shell
    form: Form
    values: Mapping[str, str]
    problem: str


@dataclass(frozen=True, slots=True)
class RuleTyped:
    """What stands in the form of a rule."""

    data_set: str = ""
    only: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    threshold: str = ""
    window: str = str(WINDOW_MINUTES)


@dataclass(frozen=True, slots=True)
class RulePage:
    """``alerts/rule.html``: one kind's form."""

    shell: Shell
    kind: RuleKind
    title: str
    narrowed: str
    choices: tuple[str, ...]
    number: str
    data_sets: tuple[str, ...]
    channels: tuple[ChannelView, ...]
    typed: RuleTyped = field(default_factory=RuleTyped)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MessagePage:
    """``alerts/message.html``."""

    shell: Shell
    row: EntryRow
    under_way: bool


_MARKS = {DeliveryState.SENT: "ok", DeliveryState.FAILED: "block"}
_USUAL = {RuleKind.SILENT: "10", RuleKind.HELD: "1000"}


def alerts_page(session: Session, me: Who, base_url: str, before: int | None = None) -> AlertsPage:
    """Read what the page of alerts shows."""
    found = log.entries(session, before)
    return AlertsPage(
        shell=bare(session, me, "alerts"),
        rules=tuple(RuleRow(rule, words.rule_words(rule)) for rule in rules.rules(session)),
        channels=tuple(channels.channels(session)),
        entries=tuple(map(_entry, found)),
        older=found[-1].id if len(found) == log.PAGE else None,
        channel_kinds=tuple(FORMS.values()),
        rule_kinds=words.RULES,
        links_begin=base_url,
    )


def channel_page(
    session: Session, me: Who, form: Form, values: Mapping[str, str], problem: str = ""
) -> ChannelPage:
    """Return the form of a channel; secrets that were typed are not among its values."""
    hidden = {one.name for one in form.fields if one.secret}
    open_values = {name: value for name, value in values.items() if name not in hidden}
    return ChannelPage(bare(session, me, "alerts"), form, open_values, problem)


def rule_page(
    session: Session, me: Who, kind: RuleKind, typed: RuleTyped | None = None, problem: str = ""
) -> RulePage:
    """Return the form of a rule."""
    return RulePage(
        shell=bare(session, me, "alerts"),
        kind=kind,
        title=words.RULES[kind],
        narrowed=words.NARROWED.get(kind, ""),
        choices=CHOICES.get(kind, ()),
        number=words.NUMBERS.get(kind, ""),
        data_sets=tuple(card.name for card in data_sets.cards(session)),
        channels=tuple(channels.channels(session)),
        typed=typed or RuleTyped(threshold=_USUAL.get(kind, "")),
        problem=problem,
    )


def message_page(session: Session, me: Who, message_id: int) -> MessagePage:
    """Return one message of the log.

    Raises:
        NotFound: there is none.
    """
    row = _entry(log.entry(session, message_id))
    ways = row.entry.deliveries
    first = any(
        way.state is DeliveryState.SENDING or (way.state is DeliveryState.WAITING and not way.tries)
        for way in ways
    )
    return MessagePage(bare(session, me, "alerts"), row, first)


def _entry(entry: Entry) -> EntryRow:
    ways = tuple(
        SentRow(way, words.STATES[way.state], _MARKS.get(way.state, "note"))
        for way in entry.deliveries
    )
    return EntryRow(entry, words.KINDS[entry.kind], ways)
