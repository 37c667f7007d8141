"""Where a release comes from: a server, or folders on this machine."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from sickbay.client.http import Server
from sickbay.contract.errors import NotFound, StorageFailed, Unreachable

_ID = re.compile(r"[0-9a-f]{64}")


class ReleaseSource(Protocol):
    """Hands out a release's files. What it hands out is checked by whoever asked."""

    @property
    def digest(self) -> str:
        """The release's id."""

    def fetch(self, name: str, target: Path) -> None:
        """Write one of the release's own files to ``target``."""

    def fetch_replacement(self, sha256: str, target: Path) -> None:
        """Write the replacement with that SHA-256 to ``target``."""


@dataclass(frozen=True, slots=True)
class ServedRelease:
    """A release on a Sickbay server."""

    server: Server
    data_set: str
    digest: str

    @classmethod
    def find(cls, server: Server, data_set: str, wanted: str) -> "ServedRelease":
        """Ask the server which release is meant by ``latest`` or the beginning of an id.

        Raises:
            NotFound: the server has none such.
            Unreachable: no usable answer.
        """
        answer = server.get(_path(data_set, wanted)).json()
        digest = answer.get("id") if isinstance(answer, dict) else None
        if not isinstance(digest, str) or not _ID.fullmatch(digest):
            raise Unreachable("The server's answer names no release; check that it is Sickbay.")
        if wanted != "latest" and not digest.startswith(wanted.removeprefix("sha256:")):
            raise Unreachable("The server answered with another release than was asked for.")
        return cls(server, data_set, digest)

    def fetch(self, name: str, target: Path) -> None:
        """Write one of the release's own files to ``target``."""
        self.server.download(f"{_path(self.data_set, self.digest)}/{quote(name)}", target)

    def fetch_replacement(self, sha256: str, target: Path) -> None:
        """Write the replacement with that SHA-256 to ``target``."""
        self.server.download(f"/blobs/sha256/{sha256}", target)


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release in a state folder on this machine."""

    folder: Path
    blob: Callable[[str], Path]
    """Says where the stored file with a SHA-256 lies, or raises NotFound."""
    digest: str

    def fetch(self, name: str, target: Path) -> None:
        """Write one of the release's own files to ``target``."""
        _copy(self.folder / name, target)

    def fetch_replacement(self, sha256: str, target: Path) -> None:
        """Write the replacement with that SHA-256 to ``target``."""
        _copy(self.blob(sha256), target)


def _path(data_set: str, wanted: str) -> str:
    return f"/api/v1/datasets/{quote(data_set, safe='')}/releases/{quote(wanted, safe='')}"


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        raise NotFound(f"{source} is not there (any more).") from None
    except OSError as error:
        raise StorageFailed(f"{target} cannot be written: {error.strerror}.") from None
