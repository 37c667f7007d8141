"""``sickbay release``: make a release of a data set in this machine's state."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.cli.state import StateOption, settings, user

if TYPE_CHECKING:
    from sickbay.database import Database
    from sickbay.releases.counts import Counts
    from sickbay.releases.make import Made
    from sickbay.settings import Settings


def release(
    data_set: Annotated[str, typer.Argument(metavar="DATASET")],
    require_decided: Annotated[
        bool, typer.Option("--require-decided", help="Refuse while samples are undecided.")
    ] = False,
    root: Annotated[
        Path | None, typer.Option(help="Where the files are, if not where they were scanned.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask about undecided samples.")] = False,
    state: StateOption = None,
) -> None:
    """Make a release: a clean, hashed manifest that never changes again."""
    from sickbay.database.schema import open_database

    chosen = settings(state)
    database = open_database(chosen.database)
    try:
        _ask(_counted(database, data_set), yes=yes or require_decided)
        made = _make(database, chosen, data_set, require_decided=require_decided, root=root)
    finally:
        database.close()
    _say(made, data_set, chosen.releases / made.digest)


def _counted(database: "Database", data_set: str) -> "Counts":
    from sickbay.quarantine import data_sets
    from sickbay.releases.counts import count

    with database.reading() as session:
        return count(session, data_sets.find(session, data_set).id)


def _ask(counts: "Counts", *, yes: bool) -> None:
    """Say what will be released; where samples are undecided, ask whoever can answer."""
    typer.echo(_numbers(counts))
    if counts.pending:
        typer.echo(f"Held and undecided, so left out and listed as pending: {counts.pending:,}.")
        if not yes and sys.stdin.isatty():
            typer.confirm("Make the release without them?", abort=True)


def _make(
    database: "Database",
    chosen: "Settings",
    data_set: str,
    *,
    require_decided: bool,
    root: Path | None,
) -> "Made":
    from sickbay.blobs import Blobs
    from sickbay.releases.make import make

    return make(
        database,
        releases=chosen.releases,
        blobs=Blobs(chosen.blobs),
        data_set=data_set,
        by=user(),
        require_decided=require_decided,
        root=root,
    )


def _say(made: "Made", data_set: str, folder: Path) -> None:
    again = "was there already" if made.already_there else "is made"
    checked = (
        "every file is as it was scanned"
        if made.checked_on_disk
        else "not compared with the files, which this machine does not see"
    )
    typer.echo(f"Release sha256:{made.digest} {again}: {_numbers(made.counts)}; {checked}.")
    for warning in made.warnings:
        typer.echo(f"Warning: {warning}")
    typer.echo(f"Its files are in {folder}")
    short = f"{data_set}@{made.digest[:12]}"
    typer.echo(f"Lay it out:  sickbay pull {short} DEST --root ROOT")
    typer.echo(f"Check it:    sickbay verify {short} DEST")


def _numbers(counts: "Counts") -> str:
    return (
        f"{counts.samples:,} samples = {counts.kept:,} kept ({counts.approved:,} approved, "
        f"{counts.repaired:,} repaired) + {counts.excluded:,} left out + "
        f"{counts.pending:,} undecided"
    )
