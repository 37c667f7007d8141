"""Looking releases up: list, latest, by id or the beginning of one."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from sickbay.contract.errors import BadInput, NotFound, StorageFailed
from sickbay.contract.manifest import STATS
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Replacement
from sickbay.releases.tables import Release, ReleaseFile

LATEST = "latest"
SHORT = 12
"""Hex digits of an id's short form."""
_WANTED = re.compile(r"(?:sha256:)?([0-9a-f]{4,64})")


@dataclass(frozen=True, slots=True)
class FileView:
    """One file of a release."""

    name: str
    sha256: str
    size: int
    rows: int | None
    in_id: bool


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """One release, as pages and answers show it."""

    digest: str
    parent: str | None
    counts: Mapping[str, int]
    created_by: str
    created_at: datetime
    files: tuple[FileView, ...]

    @property
    def short(self) -> str:
        """The first 12 hex digits of the id."""
        return self.digest[:SHORT]

    def file(self, name: str) -> FileView:
        """Return one of its files.

        Raises:
            NotFound: it has none of that name.
        """
        for file in self.files:
            if file.name == name:
                return file
        raise NotFound("A release has no file of that name.")


def releases(session: Session, data_set: str) -> list[ReleaseView]:
    """Return a data set's releases, the one made last first.

    Raises:
        NotFound: no such data set.
    """
    return _views(session, _of(session, data_set).order_by(Release.turn.desc()))


def latest(session: Session, data_set: str) -> ReleaseView:
    """Return the release that was made last.

    Raises:
        NotFound: no such data set, or it has no release.
    """
    return find(session, data_set, LATEST)


def find(session: Session, data_set: str, wanted: str) -> ReleaseView:
    """Return a release by ``latest``, its id, or at least four first digits of it.

    Raises:
        NotFound: no such data set or release.
        BadInput: no id by its form, or more than one begins like that.
    """
    query = _of(session, data_set).order_by(Release.turn.desc())
    if wanted != LATEST:
        query = query.where(Release.digest.startswith(_digits(wanted)))
    found = _views(session, query.limit(1 if wanted == LATEST else 2))
    if not found:
        missing = "no release yet" if wanted == LATEST else "no release with that id"
        raise NotFound(f"{data_set} has {missing}; `sickbay release {data_set}` makes one.")
    if len(found) > 1:
        raise BadInput(f"More than one release of {data_set} begins like that; give more digits.")
    return found[0]


def statistics(folder: Path, digest: str) -> Mapping[str, Any]:
    """Return what ``stats.json`` of a release says; ``folder`` is the state's of releases.

    Raises:
        StorageFailed: the file is not there or cannot be read.
    """
    try:
        content: Mapping[str, Any] = json.loads((folder / digest / STATS).read_bytes())
    except (OSError, ValueError):
        raise StorageFailed(
            f"The files of release {digest[:SHORT]} cannot be read; making the release again "
            "writes them anew."
        ) from None
    return content


def is_replacement(session: Session, sha256: str) -> bool:
    """Say whether a stored file is a replacement, and so may be handed out by its hash."""
    return session.get(Replacement, sha256) is not None


def _of(session: Session, data_set: str) -> Select[Release]:
    data_set_id = data_sets.find(session, data_set).id
    return select(Release).where(Release.data_set_id == data_set_id)


def _digits(wanted: str) -> str:
    match = _WANTED.fullmatch(wanted)
    if match is None:
        raise BadInput("A release is named by `latest` or by 4 to 64 hex digits of its id.")
    return match[1]


def _views(session: Session, query: Select[Release]) -> list[ReleaseView]:
    found = list(session.scalars(query))
    ids = [release.id for release in found]
    files = session.scalars(
        select(ReleaseFile).where(ReleaseFile.release_id.in_(ids)).order_by(ReleaseFile.name)
    ).all()
    return [_view(release, files) for release in found]


def _view(release: Release, files: Sequence[ReleaseFile]) -> ReleaseView:
    return ReleaseView(
        digest=release.digest,
        parent=release.parent,
        counts=release.counts,
        created_by=release.created_by,
        created_at=release.created_at,
        files=tuple(
            FileView(file.name, file.sha256, file.size, file.rows, file.in_id)
            for file in files
            if file.release_id == release.id
        ),
    )
