"""What commands on the server's own machine share: the state folder, opened."""

import getpass
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sickbay.settings import Settings, from_environment

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        help="Folder of the database and stored files.",
        envvar="SICKBAY_STATE",
        readable=False,
    ),
]


def settings(state: Path | None) -> Settings:
    """Return the environment's settings, with another state folder where one is given."""
    found = from_environment()
    return found if state is None else replace(found, state=state.expanduser().absolute())


def user() -> str:
    """Return the name of who runs this, as histories show it."""
    try:
        return getpass.getuser()[:80]
    except (OSError, KeyError):
        return "owner"
