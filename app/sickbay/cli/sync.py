"""``sickbay sync``: send what training jobs left in their spool."""

import os
from pathlib import Path
from typing import Annotated

import typer

from sickbay.client.http import Pace
from sickbay.contract.errors import BadInput
from sickbay.trainer.line import Line
from sickbay.trainer.replay import Left, replay_all


def sync(
    spool: Annotated[Path, typer.Argument(help="The folder that SICKBAY_SPOOL named.")],
    server: Annotated[
        str, typer.Option(envvar="SICKBAY_URL", help="The server's URL.", show_default=False)
    ] = "",
    token: Annotated[
        str, typer.Option(envvar="SICKBAY_TOKEN", help="A token that may send events.")
    ] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Leave the files where they are.")] = False,
    patience: Annotated[
        float, typer.Option(help="Seconds to go on trying while the server is away.")
    ] = 60.0,
) -> None:
    """Send what training jobs left in SPOOL: offline ones, killed ones, or after an outage.

    Sending twice is harmless. What arrived is deleted; what a living job is sending is left to it.
    """
    if not server:
        raise BadInput("Say where to send it: --server URL, or SICKBAY_URL.")
    line = Line(server, token or None, Pace(patience=patience))
    told: list[Left] = []

    def tell(left: Left) -> None:
        told.append(left)
        typer.echo(_sentence(left))

    replay_all(spool, line, tell, keep=keep)
    if not told:
        typer.echo(f"Nothing is left in {spool}{os.sep}.")


def _sentence(left: Left) -> str:
    if left.busy:
        return f"{left.folder.name}: its process is alive and sends for itself."
    done = left.delivered
    parts = [f"{done.accepted:,} events sent", f"{done.duplicate:,} known already"]
    if done.rejected:
        parts.append(f"{done.rejected:,} rejected ({done.reason})")
    if left.damaged:
        parts.append(f"{left.damaged:,} damaged lines skipped")
    return f"{left.run or left.folder.name}: {', '.join(parts)}."
