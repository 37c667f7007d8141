"""``sickbay codes``: the catalogue of what a scan can find."""

import typer

from sickbay.contract.defects import DEFECTS


def codes() -> None:
    """Print every finding code: how bad it is, what it means, what to do."""
    width = max(map(len, DEFECTS))
    for defect in DEFECTS.values():
        typer.echo(f"{defect.code:{width}}  {defect.severity.value:5}  {defect.meaning}")
        typer.echo(f"{'':{width}}         {defect.advice}")
