"""``sickbay codes``: the catalogue of what a scan can find."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from sickbay.contract.defects import DEFECTS


def codes(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False
) -> None:
    """Print every finding code: how bad it is, what it means, what to do."""
    if as_json:
        typer.echo(json.dumps([asdict(defect) for defect in DEFECTS.values()], indent=1))
        return
    width = max(map(len, DEFECTS))
    for defect in DEFECTS.values():
        typer.echo(f"{defect.code:{width}}  {defect.severity.value:5}  {defect.meaning}")
        typer.echo(f"{'':{width}}         {defect.advice}")
