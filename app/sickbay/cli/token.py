"""``sickbay token``: what scanners and training jobs show to the server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.cli.state import StateOption, settings
from sickbay.contract.errors import BadInput

if TYPE_CHECKING:
    from sickbay.accounts.tables import Scope
    from sickbay.database import Database

token = typer.Typer(
    name="token", help="Make, list and revoke tokens for programs.", no_args_is_help=True
)


@token.command("new")
def new(
    name: Annotated[str, typer.Argument(help="What it is for; shown in histories.")],
    scope: Annotated[str, typer.Option(help="Any of scan,events,releases.")],
    state: StateOption = None,
) -> None:
    """Print a new token; it is shown this once."""
    from sickbay.accounts import tokens

    scopes = _scopes(scope)
    with _opened(state) as database:
        shown = database.writing(lambda session: tokens.create(session, name, scopes))
    typer.echo(shown)


@token.command("list")
def listed(state: StateOption = None) -> None:
    """List tokens: name, scopes, last use."""
    from sickbay.accounts import tokens

    with _opened(state) as database, database.reading() as session:
        for one in tokens.known(session):
            used = "never used" if one.used_at is None else f"used {one.used_at:%Y-%m-%d %H:%M} UTC"
            now = used if one.revoked_at is None else "revoked"
            typer.echo(f"{one.name}\t{','.join(one.scopes)}\t{now}")


@token.command("revoke")
def revoke(name: str, state: StateOption = None) -> None:
    """End a token at once."""
    from sickbay.accounts import tokens

    with _opened(state) as database:
        database.writing(lambda session: tokens.revoke(session, name))
    typer.echo(f"The token {name} is revoked.")


def _scopes(given: str) -> "list[Scope]":
    from sickbay.accounts.tables import Scope

    try:
        return [Scope(one.strip()) for one in given.split(",") if one.strip()]
    except ValueError:
        raise BadInput("--scope takes any of scan, events and releases, with commas.") from None


@contextmanager
def _opened(state: StateOption) -> "Iterator[Database]":
    from sickbay.database.schema import open_database

    database = open_database(settings(state).database)
    try:
        yield database
    finally:
        database.close()
