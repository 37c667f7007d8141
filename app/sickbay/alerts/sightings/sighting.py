"""What a rule saw."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.alerts.tables import Standing

MAX_TITLE = 200
MAX_WORDS = 600

_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something that happened, or holds: ``subject`` tells it from everything else.

    ``count`` is how often it happened since the rule last looked.
    """

    subject: str
    title: str
    text: str
    path: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class News:
    """What is new to a rule.

    Attributes:
        seen: what happened or began.
        over: what held, and holds no longer.
        cursor: up to where the rule has looked; nothing where it has none.
        stands: what was seen is remembered, and said again only after it was over.
    """

    seen: tuple[Sighting, ...] = ()
    over: tuple[Sighting, ...] = ()
    cursor: int | None = None
    stands: bool = False

    @property
    def is_none(self) -> bool:
        """Whether there is nothing to say and nothing to remember."""
        return not self.seen and not self.over and self.cursor is None


@dataclass(frozen=True, slots=True)
class Moment:
    """When a rule looks, and since when this server listens: it heard nobody before that."""

    at: datetime
    listening_since: datetime


def one_line(text: str, most: int = MAX_TITLE) -> str:
    """Return text from outside as one line of bounded length that calls nobody.

    Feishu reads ``<at user_id="all">`` in plain text; a training script may not ring for all.
    """
    line = _BLANK.sub(" ", text).strip().replace("<at", "< at")
    return line if len(line) <= most else f"{line[: most - 1]}…"


def run_path(key: str) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(key, safe='')}"


def data_set_path(name: str) -> str:
    """Return the path of a data set's page."""
    return f"/datasets/{quote(name, safe='')}"


def standing(session: Session, rule_id: int) -> dict[str, datetime]:
    """Return what a rule has seen that stands, by subject, with the moment it was first seen."""
    query = select(Standing.subject, Standing.since).where(Standing.rule_id == rule_id)
    return dict(session.execute(query).all())
