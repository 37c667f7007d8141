"""Sessions: browsers that are logged in."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from sickbay.accounts import links
from sickbay.accounts.secrets import fresh, hashed
from sickbay.accounts.tables import LoginSession, Person, Role
from sickbay.database.tables import now

IDLE = timedelta(hours=12)
"""Unused for this long, a session ends: a working day and its evening."""
LIFETIME = timedelta(days=14)
"""However much it is used, a session ends after this."""
SEEN_EVERY = timedelta(minutes=1)
"""How stale ``seen_at`` may be; spares a write on each request."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is logged in, and whether it is time to note that they were seen."""

    session_id: int
    name: str
    role: Role
    note_seen: bool


def log_in(session: Session, link: str, *, replacing: str = "") -> str:
    """Turn a login link's secret into a new session; return the session's secret.

    The session that the browser had before ends, so that one planted there is worth nothing.

    Raises:
        Denied: the link is not good (any more).
    """
    person = links.redeem(session, link)
    end(session, replacing)
    return start(session, person)


def start(session: Session, person: Person, *, at: datetime | None = None) -> str:
    """Log a person in; return the new session's secret. Sessions that ran out are swept away."""
    at = at or now()
    session.execute(
        delete(LoginSession).where(
            or_(LoginSession.expires_at < at, LoginSession.seen_at < at - IDLE)
        )
    )
    secret = fresh()
    session.add(
        LoginSession(
            secret_hash=hashed(secret),
            person_id=person.id,
            created_at=at,
            seen_at=at,
            expires_at=at + LIFETIME,
        )
    )
    return secret


def find(session: Session, secret: str, *, at: datetime | None = None) -> Visitor | None:
    """Return who holds this session, or nothing where there is none or it ran out."""
    at = at or now()
    row = session.execute(
        select(LoginSession.id, LoginSession.seen_at, Person.name, Person.role)
        .join(Person, Person.id == LoginSession.person_id)
        .where(
            LoginSession.secret_hash == hashed(secret),
            LoginSession.expires_at >= at,
            LoginSession.seen_at >= at - IDLE,
        )
    ).one_or_none()
    if row is None:
        return None
    return Visitor(row.id, row.name, row.role, note_seen=row.seen_at < at - SEEN_EVERY)


def note_seen(session: Session, session_id: int, *, at: datetime | None = None) -> None:
    """Keep a session alive: it was used now."""
    session.execute(
        update(LoginSession).where(LoginSession.id == session_id).values(seen_at=at or now())
    )


def end(session: Session, secret: str) -> None:
    """Log out; ending a session that is not there is nothing."""
    session.execute(delete(LoginSession).where(LoginSession.secret_hash == hashed(secret)))
