"""People who may log in."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.accounts.tables import Person, Role
from sickbay.contract.errors import BadInput
from sickbay.database.tables import now

MAX_NAME = 80
_NOT_PEOPLE = ("scan ", "token ")
"""How histories name those who are no people; nobody may pass for one."""


def welcome(session: Session, name: str, role: Role | None = None) -> Person:
    """Return the person of that name, entered with ``role`` where there was none.

    Raises:
        BadInput: the name is empty, too long or not printable; or the person is new and no role
            is given, or known with another one.
    """
    known = session.scalar(select(Person).where(Person.name == _checked(name)))
    if known is not None:
        if role not in {None, known.role}:
            raise BadInput(f"{name} is known as {known.role.value}; leave the role away.")
        return known
    if role is None:
        raise BadInput(f"Nobody is known as {name}; give a role: admin, reviewer or viewer.")
    return _enter(session, name, role)


def owner(session: Session, name: str) -> Person:
    """Return the first admin, entered under ``name`` where there is none yet."""
    first = select(Person).where(Person.role == Role.ADMIN).order_by(Person.id).limit(1)
    return session.scalar(first) or _enter(session, _free(session, name), Role.ADMIN)


def number(session: Session) -> int:
    """Return how many people may log in."""
    return session.scalar(select(func.count(Person.id))) or 0


def _enter(session: Session, name: str, role: Role) -> Person:
    person = Person(name=name, role=role, created_at=now())
    session.add(person)
    session.flush()
    return person


def _free(session: Session, name: str) -> str:
    """Return the name, or another one where a reviewer has it."""
    taken = session.scalar(select(Person.id).where(Person.name == name))
    return _checked(name) if taken is None else "owner"


def _checked(name: str) -> str:
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"A person's name has 1 to {MAX_NAME} printable characters.")
    if name.lower().startswith(_NOT_PEOPLE):
        raise BadInput("A person's name does not begin with scan or token: those are not people.")
    return name
