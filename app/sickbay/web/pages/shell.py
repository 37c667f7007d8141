"""What stands around every page of a data set: navigation, account, status line."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from sickbay.accounts.tables import Role
from sickbay.quarantine import data_sets
from sickbay.quarantine.data_sets import DataSetCard
from sickbay.quarantine.decisions.recent import Recent, recent
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
    here: str
    person: str
    role: str
    may_decide: bool
    said: Said | None


def shell(session: Session, who: Who, card: DataSetCard | None, here: str) -> Shell:
    """Read what stands around a page; ``here`` is the current one of the main links."""
    last = recent(session, card.id, who.name) if card else None
    return Shell(
        data_set=card.name if card else "",
        data_sets=tuple(one.name for one in data_sets.cards(session)),
        held=card.held if card else 0,
        here=here,
        person=who.name,
        role=who.role.value if who.role else "",
        may_decide=who.role is not None and who.role.covers(Role.REVIEWER),
        said=said(last) if last else None,
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
