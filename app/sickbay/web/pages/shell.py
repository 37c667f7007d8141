"""What stands around every page of a data set: navigation, account, status line."""

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from sickbay.quarantine import data_sets
from sickbay.quarantine.data_sets import DataSetCard
from sickbay.quarantine.decisions.recent import Recent, recent
from sickbay.runs import find
from sickbay.runs.state import RunState
from sickbay.web.identity import Who
from sickbay.web.pages import words


@dataclass(frozen=True, slots=True)
class Said:
    """The status line: what was done last, to what, why; ``batch`` undoes it."""

    words: str
    path: str
    because: str
    batch: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Shell:
    """Navigation, the reader, and the status line. ``data_set`` is empty on ``/``."""

    data_set: str
    data_sets: tuple[str, ...]
    held: int
    live: int
    """Runs under way."""
    here: str
    person: str
    role: str
    may_decide: bool
    said: Said | None


@dataclass(frozen=True, slots=True)
class Entered:
    """The data set that a page is about, and the names of all."""

    card: DataSetCard
    names: tuple[str, ...]


def enter(session: Session, name: str) -> Entered:
    """Find a data set among all.

    Raises:
        NotFound: there is none of that name.
    """
    cards = data_sets.cards(session)
    card = next((one for one in cards if one.name == name), None)
    names = tuple(one.name for one in cards)
    return Entered(card or data_sets.card(session, data_sets.find(session, name).id), names)


def shell(session: Session, who: Who, entered: Entered, here: str) -> Shell:
    """Read what stands around a data set's page; ``here`` is the current one of the main links."""
    card = entered.card
    last = recent(session, card.id, who.name)
    return replace(
        bare(session, who, here),
        data_set=card.name,
        data_sets=entered.names,
        held=card.held,
        said=said(last) if last else None,
    )


def bare(session: Session, who: Who, here: str) -> Shell:
    """Return what stands around a page that is about no data set."""
    return Shell(
        data_set="",
        data_sets=(),
        held=0,
        live=find.runs(session, state=RunState.LIVE, size=1).total,
        here=here,
        person=who.name,
        role=who.role.value if who.role else "",
        may_decide=who.may_decide,
        said=None,
    )


def said(act: Recent) -> Said:
    """Put an act into the status line's words."""
    return Said(
        words=words.did_one(act.action)
        if act.count == 1
        else words.did_many(act.action, act.count),
        path=act.path if act.count == 1 else "",
        because=words.reason_label(act.reason),
        batch=act.batch,
        at=act.at,
    )
