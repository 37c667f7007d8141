"""The environment, read once into one frozen object."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sickbay.contract.errors import BadInput

DEFAULT_PORT = 8765
_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Settings:
    """What the server and the command line need to know before they start."""

    state: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

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
    """Read ``SICKBAY_STATE``, ``SICKBAY_HOST`` and ``SICKBAY_PORT``.

    Raises:
        BadInput: the port is not a number from 0 to 65535.
    """
    port = environment.get("SICKBAY_PORT", str(DEFAULT_PORT))
    if not port.isdecimal() or int(port) > _HIGHEST_PORT:
        raise BadInput("SICKBAY_PORT is not a port: give a number from 0 to 65535.")
    return Settings(
        state=Path(environment.get("SICKBAY_STATE") or _user_data(environment)).absolute(),
        host=environment.get("SICKBAY_HOST", "127.0.0.1"),
        port=int(port),
    )


def _user_data(environment: Mapping[str, str]) -> Path:
    """Return the platform's folder for a user's application data."""
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "sickbay"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/sickbay").expanduser()
    return Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "sickbay"
