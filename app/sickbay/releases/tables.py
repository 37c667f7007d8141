"""Tables of releases; their files lie in the state folder, named by digest."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.database.tables import Base, BigId


class Release(Base):
    """An immutable version of a data set's clean manifest."""

    __tablename__ = "release"
    __table_args__ = (UniqueConstraint("data_set_id", "digest"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"), index=True)
    digest: Mapped[str] = mapped_column(String(64), index=True)
    """SHA-256 of version.json, in hex."""
    turn: Mapped[int]
    """Counts the makings of its data set's releases; the one made last, anew or again, has the
    highest, and is what ``latest`` means."""
    parent: Mapped[str | None] = mapped_column(String(64))
    counts: Mapped[dict[str, Any]]
    created_by: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime]


class ReleaseFile(Base):
    """One file of a release."""

    __tablename__ = "release_file"
    __table_args__ = (UniqueConstraint("release_id", "name"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    release_id: Mapped[int] = mapped_column(ForeignKey("release.id"))
    name: Mapped[str] = mapped_column(String(80))
    sha256: Mapped[str] = mapped_column(String(64))
    size: Mapped[int]
    rows: Mapped[int | None]
    in_id: Mapped[bool]
    """Whether the release id covers it."""
