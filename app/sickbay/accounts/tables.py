"""Tables of people and of what proves who they are. Secrets are stored as SHA-256 only."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.database.tables import Base, BigId


class Role(StrEnum):
    """What a person may do; each role may do all that the ones after it may."""

    ADMIN = "admin"
    REVIEWER = "reviewer"
    VIEWER = "viewer"

    def covers(self, needed: "Role") -> bool:
        """Whether somebody with this role may do what ``needed`` is asked for."""
        ranks = list(Role)
        return ranks.index(self) <= ranks.index(needed)


class Scope(StrEnum):
    """What a token may do."""

    SCAN = "scan"
    EVENTS = "events"
    RELEASES = "releases"


class Person(Base):
    """Somebody who may log in."""

    __tablename__ = "person"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    role: Mapped[Role]
    created_at: Mapped[datetime]


class LoginLink(Base):
    """A single-use link; it turns into a login session once."""

    __tablename__ = "login_link"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class LoginSession(Base):
    """A browser that is logged in."""

    __tablename__ = "login_session"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("person.id"))
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class Token(Base):
    """What a scanner or a training job shows instead of a person."""

    __tablename__ = "token"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    secret_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
