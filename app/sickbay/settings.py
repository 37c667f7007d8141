"""The environment, read once into one frozen object."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sickbay.contract.errors import BadInput

DEFAULT_PORT = 8765
_HIGHEST_PORT = 65535
_ANY = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 (compared, not bound)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the server and the command line need to know before they start."""

    state: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    public_url: str = ""
    """Where people find the server, such as ``https://sickbay.example.org``, if it is not
    where it listens: behind a proxy."""

    @property
    def base_url(self) -> str:
        """What links begin with: the public URL, else the local one."""
        return self.public_url or self.local_url

    @property
    def local_url(self) -> str:
        """Where a browser on the same machine finds the server."""
        host = "127.0.0.1" if self.host in _ANY else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.state / "sickbay.db"

    @property
    def blobs(self) -> Path:
        """Content-addressed files: thumbnails and replacements."""
        return self.state / "blobs"

    @property
    def releases(self) -> Path:
        """One folder for each release, named by its digest."""
        return self.state / "releases"


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read ``SICKBAY_STATE``, ``SICKBAY_HOST``, ``SICKBAY_PORT`` and ``SICKBAY_PUBLIC_URL``.

    Raises:
        BadInput: the port is not a number from 0 to 65535, or the URL is none.
    """
    port = environment.get("SICKBAY_PORT", str(DEFAULT_PORT))
    if not port.isdecimal() or int(port) > _HIGHEST_PORT:
        raise BadInput("SICKBAY_PORT is not a port: give a number from 0 to 65535.")
    return Settings(
        state=Path(environment.get("SICKBAY_STATE") or _user_data(environment)).absolute(),
        host=environment.get("SICKBAY_HOST", "127.0.0.1"),
        port=int(port),
        public_url=_public_url(environment.get("SICKBAY_PUBLIC_URL", "")),
    )


def _public_url(text: str) -> str:
    """Return the URL without its last slash; it has a scheme and a host, and no more."""
    with suppress(ValueError):
        parts = urlsplit(text)
        bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
        if not text or (parts.scheme in {"http", "https"} and parts.hostname and bare):
            return f"{parts.scheme}://{parts.netloc.lower()}" if text else ""
    raise BadInput("SICKBAY_PUBLIC_URL reads https://HOST or https://HOST:PORT, without a path.")


def _user_data(environment: Mapping[str, str]) -> Path:
    """Return the platform's folder for a user's application data."""
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "sickbay"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/sickbay").expanduser()
    return Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "sickbay"
