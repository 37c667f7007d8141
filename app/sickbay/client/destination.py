"""The folder that a pull lays a release out in; nothing is ever written outside it.

Every folder on the way to a file is opened without following links, and each file is written
apart, in the staging folder, and renamed when it is whole and right: links or files that
somebody put there lead nowhere, and a pull that dies leaves no half file under a sample's name.
"""

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sickbay.contract.errors import BadInput, Busy, Refused, SickbayError, StorageFailed
from sickbay.contract.manifest import FILES, VERSION
from sickbay.contract.version import Version

STAGING = ".sickbay-pull"
_MARKER = "data-set"
"""In the staging folder from first to last: says what a pull that was cut off had begun."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Destination:
    """An open, locked destination. Make one with :func:`destination`."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.staging = path / STAGING
        self.part = self.staging / "part"
        """Where a sample's file is written before it gets its name."""
        self._top = handle
        self._folder: tuple[bytes, int] = (b"", handle)

    def open_present(self, raw_path: bytes) -> int | None:
        """Open the file that has this name already, if it is a regular one of its own.

        A hard link is none: it shares its bytes with a file elsewhere.
        """
        folder, _, name = raw_path.rpartition(b"/")
        try:
            handle = os.open(name, _FILE, dir_fd=self._enter(folder))
        except OSError:
            return None
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            return handle
        os.close(handle)
        return None

    def accept_part(self, raw_path: bytes) -> None:
        """Give the finished part its name, in place of whatever has it.

        Raises:
            StorageFailed: a folder has that name, or the disk refuses.
        """
        folder, _, name = raw_path.rpartition(b"/")
        with _storage_errors(self.path / os.fsdecode(raw_path)):
            os.rename(self.part, name, dst_dir_fd=self._enter(folder))

    def begin(self) -> None:
        """Take the old release's files away: from here on the tree is in between."""
        with _storage_errors(self.path):
            for name in FILES:
                (self.path / name).unlink(missing_ok=True)

    def finish(self) -> None:
        """Put the new release's files beside the samples, version.json last."""
        with _storage_errors(self.path):
            for name in (*(name for name in FILES if name != VERSION), VERSION):
                (self.staging / name).rename(self.path / name)
            shutil.rmtree(self.staging)

    def remove(self, raw_path: bytes) -> None:
        """Delete one file or link, and the folders that are empty without it."""
        folder, _, name = raw_path.rstrip(b"/").rpartition(b"/")
        with _storage_errors(self.path / os.fsdecode(raw_path)):
            os.unlink(name, dir_fd=self._enter(folder))
        self.close()  # what was entered may be gone now
        with suppress(OSError):
            while folder:
                os.rmdir(os.path.join(os.fsencode(self.path), folder))  # noqa: PTH106, PTH118 (bytes)
                folder = folder.rpartition(b"/")[0]

    def close(self) -> None:
        """Let go of the folder last entered."""
        if self._folder[1] != self._top:
            os.close(self._folder[1])
        self._folder = (b"", self._top)

    def _enter(self, folder: bytes) -> int:
        """Return a folder's descriptor, made where it is not there; the last one is kept open."""
        if self._folder[0] != folder:
            handle = self._descend(folder)
            self.close()
            self._folder = (folder, handle)
        return self._folder[1]

    def _descend(self, folder: bytes) -> int:
        handle = os.dup(self._top)
        for part in folder.split(b"/") if folder else ():
            try:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=handle)
                below = os.open(part, _FOLDER, dir_fd=handle)
            except OSError as error:
                raise _in_the_way(self.path, folder, error) from None
            finally:
                os.close(handle)
            handle = below
        return handle


@contextmanager
def destination(path: Path, root: Path, data_set: str) -> Iterator[Destination]:
    """Open the folder to lay a release out in, and keep other pulls away from it.

    Raises:
        BadInput: it is, or lies in, or holds the data set's root.
        Refused: it holds something else than an earlier pull of the same data set.
        Busy: another pull is writing to it.
        StorageFailed: it cannot be made or written to.
    """
    _refuse_overlap(path, root)
    with _storage_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    place = Destination(path, handle)
    try:
        _lock(handle, path)
        _refuse_foreign(path, data_set)
        with _storage_errors(path):
            _stage(place.staging, data_set)
        yield place
    finally:
        place.close()
        os.close(handle)


def _refuse_overlap(path: Path, root: Path) -> None:
    inside, outside = path.resolve(), root.resolve()
    if inside == outside or inside in outside.parents or outside in inside.parents:
        raise BadInput(
            f"{path} and the data set's root {root} lie in one another; "
            "give a folder elsewhere, the root is never written to."
        )


def _refuse_foreign(path: Path, data_set: str) -> None:
    present = {entry.name for entry in path.iterdir()} - {STAGING}
    if present and data_set not in {_pulled(path / VERSION), _begun(path / STAGING / _MARKER)}:
        raise Refused(
            f"{path} is not empty and holds no earlier pull of {data_set}. Give another folder."
        )


def _stage(staging: Path, data_set: str) -> None:
    """Make an empty staging folder that says whose it is; nothing in it is trusted."""
    with suppress(FileExistsError):
        staging.mkdir(mode=0o700)
    if staging.is_symlink() or not staging.is_dir():
        raise Refused(f"{staging} is no folder of Sickbay's. Move it away.")
    for left in staging.iterdir():
        if left.name != _MARKER:
            left.unlink()
    marker = staging / _MARKER
    if _begun(marker) != data_set:
        marker.unlink(missing_ok=True)
        marker.write_text(data_set, encoding="utf-8")


def _begun(marker: Path) -> str | None:
    try:
        return marker.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _pulled(version: Path) -> str | None:
    try:
        return Version.from_bytes(version.read_bytes()).name
    except (OSError, SickbayError):
        return None


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Busy(f"Another pull is writing to {path}. Wait for it to end.") from None


def _in_the_way(top: Path, folder: bytes, error: OSError) -> SickbayError:
    place = top / os.fsdecode(folder)
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return Refused(f"On the way to {place} lies a file or a link. Move it away.")
    return StorageFailed(f"{place} cannot be written: {error.strerror}.")


@contextmanager
def _storage_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageFailed(
            f"{place} cannot be written: {error.strerror}. Make room or choose another folder; "
            "pulling again goes on from here."
        ) from error
