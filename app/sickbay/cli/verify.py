"""``sickbay verify``: is this folder what the release says, byte for byte and nothing else?"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sickbay.cli.bytes_bar import bytes_bar
from sickbay.cli.release_options import ServerOption, TokenOption, Wanted, origin, told
from sickbay.cli.state import StateOption
from sickbay.client import metadata
from sickbay.client.verify import verify as compare
from sickbay.contract.manifest import FILES, VERSION


def verify(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE",
            help="DATASET[@ID], or a folder with a release's files (FOLDER[@ID]).",
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    server: ServerOption = None,
    token: TokenOption = None,
    state: StateOption = None,
) -> None:
    """Name every missing, changed and extra file in DIR; exit 0 only where there is none."""
    with _files(release, server, token, state) as (files, wanted):
        version = metadata.check_metadata(files, wanted)
        faults: Counter[str] = Counter()
        with bytes_bar("verifying") as step:
            for problem in compare(files, folder, step):
                faults[problem.fault.value] += 1
                typer.echo(told(problem))
    kept = version.counts["kept"]
    if faults:
        numbers = ", ".join(f"{number:,} {fault}" for fault, number in sorted(faults.items()))
        typer.echo(f"{folder} is not release {version.digest[:12]} ({kept:,} files): {numbers}.")
        raise typer.Exit(1)
    typer.echo(f"{folder} is release sha256:{version.digest}: all {kept:,} files, nothing else.")


@contextmanager
def _files(
    release: str, server: str | None, token: str | None, state: StateOption
) -> Iterator[tuple[Path, str | None]]:
    """Give a folder with the release's files, and what its id must begin with."""
    local, _, digits = release.rpartition("@")
    if _is_release(release):
        yield Path(release), None
    elif local and _is_release(local):
        yield Path(local), digits.removeprefix("sha256:")
    else:
        with (
            origin(Wanted.parse(release), server, token, state) as found,
            tempfile.TemporaryDirectory(prefix="sickbay-") as folder,
        ):
            for name in FILES:
                found.source.fetch(name, Path(folder) / name)
            yield Path(folder), found.source.digest


def _is_release(name: str) -> bool:
    """Whether a folder is meant: a path is, and a name is where a release lies in it.

    A folder of data named like its data set must not stand in the way of the data set.
    """
    folder = Path(name)
    return folder.is_dir() and ("/" in name or name in {".", ".."} or (folder / VERSION).is_file())
