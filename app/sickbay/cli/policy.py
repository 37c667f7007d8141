"""``sickbay policy``: what a data set's scans are to find."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sickbay.cli.policy_options import read_policy
from sickbay.cli.state import StateOption, settings, user
from sickbay.contract.errors import BadInput

if TYPE_CHECKING:
    from sickbay.quarantine.policies import StoredPolicy


def policy(
    dataset: Annotated[str, typer.Argument(help="The data set's name.")],
    *,
    new: Annotated[
        Path | None,
        typer.Option("--set", help="Put this TOML file's policy in force.", readable=False),
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the defaults.")] = False,
    state: StateOption = None,
) -> None:
    """Show a data set's policy as TOML, or set another from the next scan on."""
    from sickbay.contract.policy import Policy
    from sickbay.database.schema import open_database
    from sickbay.quarantine import data_sets, policies

    if new is not None and reset:
        raise BadInput("Give --set or --reset, not both.")
    wanted = read_policy(new) if new is not None else Policy() if reset else None
    database = open_database(settings(state).database)
    try:
        with database.reading() as session:
            data_set_id = data_sets.find(session, dataset).id
            stored = policies.read(session, data_set_id)
        if wanted is not None:
            seen, asked = stored.version, wanted
            stored = database.writing(
                lambda session: policies.change(
                    session, data_set_id, asked, expected=seen, by=user()
                )
            )
    finally:
        database.close()
    typer.echo(shown(dataset, stored), nl=False)


def shown(dataset: str, stored: "StoredPolicy") -> str:
    """Return the policy as TOML that ``--set`` takes back, under a comment."""
    lines = [f"# {dataset}: {_since(stored)}"]
    differences = stored.differences
    severities = differences.pop("severities", {})
    lines += [f"{name} = {_toml(value)}" for name, value in differences.items()]
    if severities:
        lines += ["", "[severities]"]
        lines += [f"{_toml(code)} = {_toml(said)}" for code, said in severities.items()]
    return "\n".join(lines) + "\n"


def _since(stored: "StoredPolicy") -> str:
    if stored.changed_at is None:
        return "as by default"
    what = "" if stored.differences else "as by default, "
    return f"{what}set by {stored.changed_by} at {stored.changed_at:%Y-%m-%d %H:%M} UTC"


def _toml(value: Any) -> str:
    """Write a value of a policy; JSON's strings are TOML's, but for the character DEL."""
    import json

    if isinstance(value, list):
        return f"[{', '.join(_toml('*' if one is None else one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
