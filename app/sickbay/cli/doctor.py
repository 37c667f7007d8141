"""``sickbay doctor``: is the state whole and private, has it room, are the versions safe?"""

import shutil
import stat
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import typer

from sickbay.cli.state import StateOption, settings
from sickbay.contract.errors import NotFound, StorageFailed
from sickbay.settings import Settings

ROOM_LEAST = 1 << 30
"""Bytes: a scan of a million pictures writes about as much in thumbnails and records."""
PILLOW_LEAST = 13
"""Major version; older ones have known holes in decoders that hostile files reach."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def doctor(state: StateOption = None) -> None:
    """Check the whole database, versions, permissions and disk space; exit 1 if anything is wrong.

    Only reads; a server may go on meanwhile.
    """
    chosen = settings(state)
    try:
        problems = list(_problems(chosen))
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"There is no state at {chosen.state}; give one with --state.") from None
    except OSError as error:
        why = f"The state {chosen.state} cannot be read: {error.strerror}. Run this as its owner."
        raise StorageFailed(why) from None
    for problem in problems:
        typer.echo(f"wrong: {problem}")
    if problems:
        raise typer.Exit(1)
    typer.echo(f"Nothing is wrong with {chosen.state}: database, versions, permissions, room.")


def _problems(chosen: Settings) -> Iterator[str]:
    from sickbay.database.connections import sqlite_driver

    yield from too_open(chosen.database)
    yield from damage(chosen.database)
    yield from old_sqlite(sqlite_driver().sqlite_version_info)
    yield from old_pillow(version("pillow"))
    yield from little_room(chosen.state, shutil.disk_usage(chosen.state).free)


def damage(database: Path) -> Iterator[str]:
    """Say what is broken in the database."""
    from sickbay.database.damage import examine

    try:
        examine(database)
    except StorageFailed as error:
        yield error.sentence


def old_sqlite(found: tuple[int, int, int]) -> Iterator[str]:
    """Say whether this SQLite could lose commits in WAL mode, which is not used then."""
    from sickbay.database.connections import has_wal_reset_bug

    if has_wal_reset_bug(found):
        yield (
            f"SQLite {'.'.join(map(str, found))} has the WAL-reset bug, so a rollback journal is "
            "used: safe, but slower. Install pysqlite3, or a Python with SQLite 3.51.3 or newer."
        )


def old_pillow(found: str) -> Iterator[str]:
    """Say whether Pillow is older than what the decoders count on."""
    if int(found.partition(".")[0]) < PILLOW_LEAST:
        yield f"Pillow {found} is too old: run `pip install 'pillow>={PILLOW_LEAST}'`."


def too_open(database: Path) -> Iterator[str]:
    """Say what others on this machine may read: the state's folder, the database's files."""
    for path, fit in [
        (database.parent, 0o700),
        *((one, 0o600) for one in sorted(database.parent.glob(f"{database.name}*"))),
    ]:
        mode = _mode(path)
        if mode & _OTHERS:
            yield f"Others may use {path} (mode {mode:04o}): run `chmod {fit:o} {path}`."


def _mode(path: Path) -> int:
    """Return the permissions; none where it is gone by now, as a journal may be."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0


def little_room(state: Path, free: int) -> Iterator[str]:
    """Say whether the disk is nearly full."""
    if free < ROOM_LEAST:
        yield f"The disk of {state} has {free >> 20:,} MB free, less than 1 GB: make room."
