"""``sickbay import-error``: failures from the error files that torch elastic leaves."""

import time
from pathlib import Path
from typing import Annotated

import typer

from sickbay.cli.state import StateOption, settings
from sickbay.contract.errors import BadInput


def import_error(
    files: Annotated[list[Path], typer.Argument(help="Error files (TORCHELASTIC_ERROR_FILE).")],
    run: Annotated[str, typer.Option(help="Name of the run they belong to.")],
    attempt: Annotated[int | None, typer.Option(help="Which attempt; else the newest.")] = None,
    rank: Annotated[
        int | None, typer.Option(help="Which rank; else the number of the file's folder, or 0.")
    ] = None,
    state: StateOption = None,
) -> None:
    """Add failures to a run; the same file again changes nothing."""
    from sickbay.contract.event_batch import Batch
    from sickbay.database.schema import open_database
    from sickbay.runs import elastic, view
    from sickbay.runs.ingest import receive

    events = [
        elastic.failure_of(_bytes(file), _rank(file, rank), found_at=time.time()) for file in files
    ]
    database = open_database(settings(state).database)
    try:
        with database.reading() as session:
            key = view.named(session, run)
            number = attempt or view.found(session, key).attempts
        receipt = receive(database, key, Batch(number, tuple(events)))
    finally:
        database.close()
    typer.echo(f"{receipt.accepted} added to {run}, {receipt.duplicate} there before.")


def _rank(file: Path, stated: int | None) -> int:
    """Return the rank: torchrun keeps each process's file in a folder named by its rank."""
    if stated is not None:
        return stated
    folder = file.resolve().parent.name
    return int(folder) if folder.isdecimal() and len(folder) < 10 else 0  # noqa: PLR2004 (a rank)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from None
