"""Whose a spool folder is: a living process holds a lock in its own; the rest is for sync."""

import os
from contextlib import suppress
from pathlib import Path

LOCK = "lock"


def claim(folder: Path) -> int | None:
    """Lock a folder, as long as the returned descriptor is open; nothing where it is taken.

    Where the system or the file system has no locks, everybody may have it: what is sent twice
    is stored once.
    """
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        import fcntl  # noqa: PLC0415 (Windows has none)

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except (ImportError, OSError):
        pass
    return lock


def release(folder: Path, lock: int, *, remove: bool) -> None:
    """Unlock a folder, and delete it where it is empty and done with."""
    if remove:
        with suppress(OSError):
            (folder / LOCK).unlink()
    with suppress(OSError):
        os.close(lock)
    if remove:
        with suppress(OSError):
            folder.rmdir()
