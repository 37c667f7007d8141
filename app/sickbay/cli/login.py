"""``sickbay login-link``: a new way in, for whoever may run commands where the state lies."""

from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.cli.serve import served_at
from sickbay.cli.state import StateOption, settings, user
from sickbay.contract.errors import BadInput

if TYPE_CHECKING:
    from sickbay.accounts.tables import Role


def login_link(
    state: StateOption = None,
    name: Annotated[str | None, typer.Option(help="Who logs in; the owner by default.")] = None,
    role: Annotated[
        str | None, typer.Option(help="What somebody new may do: admin, reviewer or viewer.")
    ] = None,
) -> None:
    """Print a login link: it works once, for ten minutes."""
    from sickbay.accounts import links, people
    from sickbay.database.schema import open_database

    chosen, wanted = settings(state), _role(role)
    database = open_database(chosen.database)
    try:
        secret = database.writing(
            lambda session: links.issue(
                session,
                people.owner(session, user())
                if name is None
                else people.welcome(session, name, wanted),
            )
        )
    finally:
        database.close()
    typer.echo(f"{served_at(chosen)}/login#{secret}")


def _role(given: str | None) -> "Role | None":
    from sickbay.accounts.tables import Role

    try:
        return None if given is None else Role(given)
    except ValueError:
        raise BadInput("--role takes one of admin, reviewer and viewer.") from None
