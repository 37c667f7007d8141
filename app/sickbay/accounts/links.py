"""Login links: single-use, short-lived, turned into a session once."""

from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from sickbay.accounts.secrets import fresh, hashed
from sickbay.accounts.tables import LoginLink, Person
from sickbay.contract.errors import Denied
from sickbay.database.tables import now

LIFETIME = timedelta(minutes=10)
"""Long enough to copy a link to another screen, short enough to be worthless in a log."""


def issue(session: Session, person: Person, *, at: datetime | None = None) -> str:
    """Return the secret of a new link for a person; links that ran out are swept away."""
    at = at or now()
    session.execute(delete(LoginLink).where(LoginLink.expires_at < at))
    secret = fresh()
    session.add(
        LoginLink(
            secret_hash=hashed(secret),
            person_id=person.id,
            expires_at=at + LIFETIME,
            used_at=None,
        )
    )
    return secret


def redeem(session: Session, secret: str, *, at: datetime | None = None) -> Person:
    """Use a link up and return whose it is.

    Raises:
        Denied: there is no such link, it was used before, or it ran out. The sentence does not
            say which.
    """
    at = at or now()
    person_id = session.scalar(
        update(LoginLink)
        .where(
            LoginLink.secret_hash == hashed(secret),
            LoginLink.used_at.is_(None),
            LoginLink.expires_at >= at,
        )
        .values(used_at=at)
        .returning(LoginLink.person_id)
    )
    person = None if person_id is None else session.get(Person, person_id)
    if person is None:
        raise Denied(
            "This login link was used already or is too old. "
            "Run `sickbay login-link` for a new one."
        )
    return person
