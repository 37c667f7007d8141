"""``sickbay pull``: lay a released tree out in a folder, every byte checked."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sickbay.cli.bytes_bar import bytes_bar
from sickbay.cli.release_options import ServerOption, TokenOption, Wanted, origin, told
from sickbay.cli.state import StateOption
from sickbay.client.pull import Pulled
from sickbay.client.verify import Problem
from sickbay.contract.errors import BadInput


def pull(
    release: Annotated[str, typer.Argument(metavar="DATASET[@ID]")],
    destination: Annotated[Path, typer.Argument(metavar="DEST")],
    *,
    root: Annotated[Path | None, typer.Option(help="Where the original files are.")] = None,
    delete_extra: Annotated[
        bool, typer.Option("--delete-extra", help="Delete files in DEST that are not released.")
    ] = False,
    server: ServerOption = None,
    token: TokenOption = None,
    state: StateOption = None,
) -> None:
    """Copy a release's files from ROOT to DEST; ROOT is never written to.

    DEST is new, empty, or an earlier pull of the same data set: what is right there already is
    kept. Files there that the release does not list are named and left, unless --delete-extra.
    """
    from sickbay.client.pull import pull as lay_out

    wanted = Wanted.parse(release)
    with origin(wanted, server, token, state) as found, bytes_bar("pulling") as step:
        originals = root or found.root
        if originals is None:
            raise BadInput("Say with --root where the original files are.")
        done = lay_out(
            found.source,
            data_set=wanted.data_set,
            to=destination,
            root=originals,
            delete_extra=delete_extra,
            tell=_tell,
            step=step,
        )
    _say(done, found.source.digest, destination)
    if done.problems:
        raise typer.Exit(1)


def _tell(problem: Problem) -> None:
    typer.echo(told(problem), err=True)


def _say(done: Pulled, digest: str, destination: Path) -> None:
    typer.echo(
        f"{done.files:,} files of release {digest[:12]} are in {destination}: "
        f"{done.copied:,} copied, {done.cloned:,} cloned, {done.replaced:,} replaced, "
        f"{done.kept:,} there already."
    )
    if done.problems:
        typer.echo(
            f"Problems named above: {done.problems:,}; this tree is not the release. "
            "Files that changed below the root: scan again and make a new release. "
            "Extra files: delete them, or pull again with --delete-extra.",
            err=True,
        )
    else:
        folder = shlex.quote(str(destination))
        typer.echo(f"Check it any time:  cd {folder} && sha256sum -c --quiet SHA256SUMS")
