"""Rules: made, listed, paused, removed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from sickbay.alerts.tables import Channel, Rule, RuleChannel, RuleKind, Standing, Topic
from sickbay.contract.errors import BadInput, NotFound
from sickbay.contract.event import Ending, FailureKind, Level
from sickbay.database.tables import now
from sickbay.quarantine import data_sets
from sickbay.runs.failures.tables import Failure
from sickbay.runs.tables import Told

WINDOW_MINUTES = 10
"""Unless said otherwise."""
LONGEST_MINUTES = 7 * 24 * 60
MOST_HELD = 1_000_000_000
MOST_RULES = 200
"""They are looked at one by one, every few seconds."""

CHOICES: Mapping[RuleKind, tuple[str, ...]] = {
    RuleKind.FAILURE: tuple(kind.value for kind in FailureKind),
    RuleKind.ENDED: tuple(ending.value for ending in Ending),
    RuleKind.TOLD: tuple(level.value for level in Level),
}
"""What a kind of rule may be narrowed to."""
_HIGHEST = {RuleKind.SILENT: LONGEST_MINUTES, RuleKind.HELD: MOST_HELD}
_LOWEST = {RuleKind.SILENT: 1, RuleKind.HELD: 0}


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule as somebody asks for it; see :class:`~sickbay.alerts.tables.Rule`."""

    kind: RuleKind
    channels: Sequence[int]
    data_set: str = ""
    only: Sequence[str] = ()
    threshold: int = 0
    window_minutes: int = WINDOW_MINUTES


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule as pages show it; ``channels`` are names."""

    id: int
    kind: RuleKind
    data_set: str
    only: tuple[str, ...]
    threshold: int
    window_minutes: int
    paused: bool
    created_by: str
    created_at: datetime
    channels: tuple[str, ...] = field(default=())


def kind_of(text: str) -> RuleKind:
    """Return the kind of rule of that name.

    Raises:
        BadInput: there is none.
    """
    try:
        return RuleKind(text)
    except ValueError:
        raise BadInput("There is no such kind of rule; choose one from the list.") from None


def create(session: Session, draft: Draft, *, by: str, at: datetime | None = None) -> int:
    """Make a rule; what happened before is no news to it. Return its id.

    Raises:
        BadInput: it names no channel or data set there is, or a number is out of range.
    """
    at = at or now()
    _check(session, draft)
    made = Rule(
        kind=draft.kind,
        data_set=draft.data_set,
        only=sorted(set(draft.only)),
        threshold=draft.threshold if draft.kind in _HIGHEST else 0,
        window_minutes=draft.window_minutes,
        cursor=_newest(session, draft.kind),
        since=at,
        paused=False,
        created_by=by,
        created_at=at,
        removed_at=None,
    )
    session.add(made)
    session.flush()
    session.add_all(
        RuleChannel(rule_id=made.id, channel_id=channel) for channel in set(draft.channels)
    )
    return made.id


def rules(session: Session) -> list[RuleView]:
    """Return the rules there are, oldest first, in two queries."""
    named: dict[int, list[str]] = {}
    for rule_id, name in session.execute(
        select(RuleChannel.rule_id, Channel.name)
        .join(Channel, Channel.id == RuleChannel.channel_id)
        .where(Channel.removed_at.is_(None))
        .order_by(Channel.name)
    ):
        named.setdefault(rule_id, []).append(name)
    rows = session.scalars(select(Rule).where(Rule.removed_at.is_(None)).order_by(Rule.id))
    return [_view(row, tuple(named.get(row.id, ()))) for row in rows]


def active(session: Session) -> Sequence[Rule]:
    """Return the rules that look, oldest first."""
    return session.scalars(
        select(Rule).where(Rule.removed_at.is_(None), Rule.paused.is_(False)).order_by(Rule.id)
    ).all()


def pause(session: Session, rule_id: int) -> None:
    """Let a rule look no more, until it is resumed.

    Raises:
        NotFound: there is none.
    """
    _find(session, rule_id).paused = True


def resume(session: Session, rule_id: int, *, at: datetime | None = None) -> None:
    """Let a rule look again; what happened meanwhile is no news, what was held back before is.

    Raises:
        NotFound: there is none.
    """
    rule = _find(session, rule_id)
    if rule.paused:
        rule.paused = False
        rule.cursor, rule.since = _newest(session, rule.kind), at or now()
        session.execute(delete(Standing).where(Standing.rule_id == rule_id))


def remove(session: Session, rule_id: int) -> None:
    """Remove a rule; what it decided to send is sent, and stays in the log.

    Raises:
        NotFound: there is none.
    """
    _find(session, rule_id).removed_at = now()
    session.execute(delete(Standing).where(Standing.rule_id == rule_id))
    session.execute(delete(Topic).where(Topic.rule_id == rule_id))


def _check(session: Session, draft: Draft) -> None:
    lowest, highest = _LOWEST.get(draft.kind, 0), _HIGHEST.get(draft.kind)
    if highest is not None and not lowest <= draft.threshold <= highest:
        raise BadInput(f"The number must be from {lowest:,} to {highest:,}.")
    if not 1 <= draft.window_minutes <= LONGEST_MINUTES:
        raise BadInput(f"The window must be from 1 to {LONGEST_MINUTES:,} minutes.")
    if not set(draft.only) <= set(CHOICES.get(draft.kind, ())):
        raise BadInput("The rule is narrowed to something that does not exist.")
    if draft.data_set and all(one.name != draft.data_set for one in data_sets.cards(session)):
        raise BadInput("There is no data set of that name; leave it empty for all.")
    live = select(Channel.id).where(Channel.removed_at.is_(None))
    if not draft.channels or not set(draft.channels) <= set(session.scalars(live)):
        raise BadInput("Choose at least one channel for the rule; add one first if there is none.")
    if len(active(session)) >= MOST_RULES:
        raise BadInput(f"There are {MOST_RULES} rules; remove one first.")


def _newest(session: Session, kind: RuleKind) -> int:
    """Return the newest id that a rule of this kind has nothing to say about."""
    table = Told if kind is RuleKind.TOLD else Failure
    return session.scalar(select(func.max(table.id))) or 0


def _find(session: Session, rule_id: int) -> Rule:
    found = session.get(Rule, rule_id)
    if found is None or found.removed_at is not None:
        raise NotFound("There is no such rule any more.")
    return found


def _view(row: Rule, channels: tuple[str, ...]) -> RuleView:
    return RuleView(
        id=row.id,
        kind=row.kind,
        data_set=row.data_set,
        only=tuple(row.only),
        threshold=row.threshold,
        window_minutes=row.window_minutes,
        paused=row.paused,
        created_by=row.created_by,
        created_at=row.created_at,
        channels=channels,
    )
