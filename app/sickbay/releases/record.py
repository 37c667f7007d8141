"""The database's side of a release: written last, so that a row stands for whole files."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from sickbay.contract.manifest import IN_ID
from sickbay.releases.tables import Release, ReleaseFile
from sickbay.releases.write import Written, WrittenFile


def latest_digest(session: Session, data_set_id: int) -> str | None:
    """Return the id of the release that was made last, anew or again."""
    query = select(Release.digest).where(Release.data_set_id == data_set_id)
    return session.scalar(query.order_by(Release.turn.desc()).limit(1))


def made_again(session: Session, data_set_id: int, digest: str) -> bool:
    """Let ``latest`` mean this release, if it is recorded; say whether it is."""
    release = _find(session, data_set_id, digest)
    if release is not None:
        release.turn = _next_turn(session, data_set_id)
    return release is not None


def add(
    session: Session,
    data_set_id: int,
    written: Written,
    files: Sequence[WrittenFile],
    facts: Mapping[str, Any],
) -> None:
    """Record a release whose files are in place; one whose files were lost gets the new ones."""
    columns = {
        "turn": _next_turn(session, data_set_id),
        "parent": facts["parent"] or None,
        "counts": written.counts.as_dict(),
        "created_by": facts["created_by"],
        "created_at": datetime.fromisoformat(facts["created_at"]),
    }
    release = _find(session, data_set_id, written.digest) or Release()
    for name, value in {"data_set_id": data_set_id, "digest": written.digest, **columns}.items():
        setattr(release, name, value)
    session.add(release)
    session.flush()
    session.execute(delete(ReleaseFile).where(ReleaseFile.release_id == release.id))
    session.add_all(_file(release.id, file) for file in files)


def _file(release_id: int, file: WrittenFile) -> ReleaseFile:
    return ReleaseFile(
        release_id=release_id,
        name=file.entry.name,
        sha256=file.entry.sha256,
        size=file.entry.size,
        rows=file.rows,
        in_id=file.entry.name in IN_ID,
    )


def _find(session: Session, data_set_id: int, digest: str) -> Release | None:
    query = select(Release).where(Release.data_set_id == data_set_id, Release.digest == digest)
    return session.scalar(query)


def _next_turn(session: Session, data_set_id: int) -> int:
    query = select(func.max(Release.turn)).where(Release.data_set_id == data_set_id)
    return (session.scalar(query) or 0) + 1
