"""What commands on the server's own machine share: the state folder, opened."""

import getpass
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sickbay.contract.errors import BadInput, StorageFailed
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
    """Return the environment's settings, with another state folder where one is given.

    Raises:
        BadInput: the state is a file.
        StorageFailed: it may not be looked at.
    """
    found = from_environment()
    if state is not None:
        found = replace(found, state=state.expanduser().absolute())
    _refuse_file(found.state)
    return found


def _refuse_file(state: Path) -> None:
    try:
        is_file = state.exists() and not state.is_dir()
    except OSError as error:
        raise StorageFailed(
            f"The state folder {state} cannot be used: {error.strerror}. Give another with --state."
        ) from None
    if is_file:
        raise BadInput(f"The state {state} is a file; give a folder with --state.")


def user() -> str:
    """Return the name of who runs this, as histories show it."""
    try:
        return getpass.getuser()[:80]
    except (OSError, KeyError):
        return "owner"
