"""Tokens: what a scanner or a training job shows instead of a person.

A token reads ``sickbay_<id>_<secret>``: the prefix lets secret scanners find one that leaked.
"""

import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from sickbay.accounts.secrets import fresh, hashed
from sickbay.accounts.tables import Scope, Token
from sickbay.contract.errors import BadInput, Conflict, Denied, NotFound
from sickbay.database.tables import now

USED_EVERY = timedelta(minutes=1)
"""How stale ``used_at`` may be; spares a write on each request."""
_SHAPE = re.compile(r"sickbay_([1-9][0-9]{0,17})_([A-Za-z0-9_-]{43})")
_FIND = select(
    Token.id, Token.name, Token.secret_hash, Token.scopes, Token.used_at, Token.revoked_at
).where(Token.id == bindparam("token_id"))
_REVOKED = select(Token.revoked_at).where(Token.id == bindparam("token_id"))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,79}")


class Revoked(Denied):
    """A token was revoked since it was looked up."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a token allows, and whether it is time to note that it was used."""

    token_id: int
    name: str
    scopes: frozenset[Scope]
    note_used: bool


def create(session: Session, name: str, scopes: Collection[Scope]) -> str:
    """Return a new token; it is not stored and cannot be shown again.

    Raises:
        BadInput: the name is malformed, or no scope is given.
        Conflict: a token of that name exists.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(
            "A token's name has 1 to 80 letters, digits, spaces or . _ @ - "
            "and begins with a letter or digit."
        )
    if not scopes:
        raise BadInput("A token needs at least one scope: scan, events or releases.")
    if session.scalar(select(Token.id).where(Token.name == name)) is not None:
        raise Conflict(f"A token named {name} exists; choose another name.")
    secret = fresh()
    token = Token(
        name=name,
        secret_hash=hashed(secret),
        scopes=sorted(scope.value for scope in set(scopes)),
        created_at=now(),
        used_at=None,
        revoked_at=None,
    )
    session.add(token)
    session.flush()
    return f"sickbay_{token.id}_{secret}"


def find(session: Session, shown: str, *, at: datetime | None = None) -> Bearer | None:
    """Return what a shown token allows, or nothing where it is unknown or revoked."""
    shape = _SHAPE.fullmatch(shown)
    # Looked up with each batch of a training job, so prepared once and without the object.
    its = {"token_id": int(shape[1]) if shape else 0}
    token = session.connection().execute(_FIND, its).one_or_none()
    if shape is None or token is None or token.revoked_at is not None:
        return None
    if not hmac.compare_digest(token.secret_hash, hashed(shape[2])):
        return None
    stale = token.used_at is None or token.used_at < (at or now()) - USED_EVERY
    return Bearer(token.id, token.name, frozenset(map(Scope, token.scopes)), note_used=stale)


def refuse_revoked(session: Session, token_id: int) -> None:
    """Look again at a token that was found a moment ago.

    Raises:
        Revoked: it does not count any more.
    """
    row = session.connection().execute(_REVOKED, {"token_id": token_id}).one_or_none()
    if row is None or row.revoked_at is not None:
        raise Revoked("This token was revoked; `sickbay token new` makes one.")


def note_used(session: Session, token_id: int, *, at: datetime | None = None) -> None:
    """Write down that a token was used now."""
    session.execute(update(Token).where(Token.id == token_id).values(used_at=at or now()))


def known(session: Session) -> Sequence[Token]:
    """Return every token, revoked ones too, oldest first."""
    return session.scalars(select(Token).order_by(Token.id)).all()


def revoke(session: Session, name: str) -> None:
    """End a token at once; revoking it again is nothing.

    Raises:
        NotFound: there is no token of that name.
    """
    token = session.scalar(select(Token).where(Token.name == name))
    if token is None:
        raise NotFound("There is no token of that name; `sickbay token list` shows them.")
    token.revoked_at = token.revoked_at or now()
