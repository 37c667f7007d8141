"""People who may log in."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.accounts.tables import Person, Role
from sickbay.contract.errors import BadInput
from sickbay.database.tables import now

MAX_NAME = 80


def welcome(session: Session, name: str, role: Role) -> Person:
    """Return the person of that name, entered with ``role`` where there was none.

    Raises:
        BadInput: the name is empty, too long or not printable, or the person has another role.
    """
    known = session.scalar(select(Person).where(Person.name == _checked(name)))
    if known is None:
        known = Person(name=name, role=role, created_at=now())
        session.add(known)
        session.flush()
    elif known.role is not role:
        raise BadInput(
            f"{name} is a {known.role.value} already; choose another name for a {role.value}."
        )
    return known


def number(session: Session) -> int:
    """Return how many people may log in."""
    return session.scalar(select(func.count(Person.id))) or 0


def _checked(name: str) -> str:
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"A person's name has 1 to {MAX_NAME} printable characters.")
    return name
