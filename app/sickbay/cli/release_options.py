"""What ``pull`` and ``verify`` share: which release is meant, and where it comes from."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sickbay.cli.state import StateOption, settings
from sickbay.client.http import Server
from sickbay.client.release_source import ReleaseSource, ServedRelease, StoredRelease
from sickbay.client.verify import Problem

ServerOption = Annotated[
    str | None,
    typer.Option("--server", help="URL of a Sickbay server.", envvar="SICKBAY_URL"),
]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", help="Token with the scope releases.", envvar="SICKBAY_TOKEN"),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A release as a user names it: ``DATASET``, ``DATASET@latest`` or ``DATASET@ID``."""

    data_set: str
    release: str

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        """Read the user's words; without an id, the release made last is meant."""
        data_set, _, release = text.partition("@")
        return cls(data_set, release.removeprefix("sha256:") or "latest")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a release comes from, and the data set's root where this machine knows it."""

    source: ReleaseSource
    root: Path | None = None


@contextmanager
def origin(
    wanted: Wanted, server: str | None, token: str | None, state: StateOption
) -> Iterator[Origin]:
    """Give a release from a server, or else from the state folder on this machine.

    Raises:
        NotFound: there is no such data set or release.
    """
    if server is not None:
        served = ServedRelease.find(Server(server, token), wanted.data_set, wanted.release)
        yield Origin(served)
    else:
        yield _stored(wanted, state)


def told(problem: Problem) -> str:
    """Return a problem as one line; names are quoted, so that none can forge another line."""
    why = f" ({problem.why})" if problem.why else ""
    return f"{problem.fault.value:8}{problem.file_name!r}{why}"


def _stored(wanted: Wanted, state: StateOption) -> Origin:
    from sickbay.blobs import Blobs
    from sickbay.database.schema import open_database
    from sickbay.quarantine import data_sets
    from sickbay.releases import find

    chosen = settings(state)
    database = open_database(chosen.database)
    try:
        with database.reading() as session:
            digest = find.find(session, wanted.data_set, wanted.release).digest
            root = data_sets.find(session, wanted.data_set).root
    finally:
        database.close()
    stored = StoredRelease(chosen.releases / digest, Blobs(chosen.blobs).path, digest)
    return Origin(stored, None if root is None else Path(root))
