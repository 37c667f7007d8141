"""Open a file that a user's path names, and nothing outside the folder it must lie in.

This is the one place that opens such paths. Every part of the path is opened on its own, relative
to the folder before it and without following links; a link is read and walked in the same way,
so one that stays inside is followed and one that leads out is refused, whoever swaps what in
between. Only regular files are opened, and never in a way that waits.
"""

import errno
import os
import stat
from collections import deque
from types import TracebackType
from typing import Self

from sickbay.contract.errors import NotFound, Refused, StorageFailed
from sickbay.contract.paths import SamplePath, leaves_root

MAX_LINKS = 40  # as Linux counts them in one path
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Missing(NotFound):
    """Nothing lies at that path."""


class Unreadable(StorageFailed):
    """The file system does not give it out."""


class NotRegular(Refused):
    """A folder, device, pipe or socket."""


class LeadsOut(Refused):
    """The path, or a link on it, leads out of the folder."""


class Inside:
    """One folder, held open, and the files below it."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        path = os.fsencode(os.path.abspath(root))  # noqa: PTH100 (bytes are wanted, and no links resolved)
        self._anchors = tuple({path, os.path.realpath(path)})
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise _translated(error, path) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._fd)

    def open(self, raw_path: bytes) -> int:
        """Open the regular file at ``raw_path`` for reading and return its descriptor.

        Raises:
            Missing: nothing is there, or a link leads to nothing.
            NotRegular: it is no regular file.
            LeadsOut: the path or a link on it leaves the folder.
            Unreadable: no permission, too many links, a name too long, a failing disk.
        """
        if leaves_root(raw_path):
            raise LeadsOut(f"{_shown(raw_path)} leads out of the data set.")
        folders = [self._fd]
        try:
            return self._descend(deque(raw_path.split(b"/")), folders)
        except OSError as error:
            raise _translated(error, raw_path) from None
        finally:
            for fd in folders[1:]:
                os.close(fd)

    def _descend(self, parts: deque[bytes], folders: list[int]) -> int:
        links = 0
        while parts:
            part = parts.popleft()
            if part in (b"", b"."):
                continue
            if part == b"..":
                _leave(folders)
                continue
            mode = os.stat(part, dir_fd=folders[-1], follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                if (links := links + 1) > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                self._follow(os.readlink(part, dir_fd=folders[-1]), parts, folders)
            elif parts:
                folders.append(os.open(part, _FOLDER, dir_fd=folders[-1]))
            elif stat.S_ISREG(mode):
                return _regular(os.open(part, _FILE, dir_fd=folders[-1]))
            else:
                break
        raise NotRegular("It is a folder, device, pipe or socket, not a file.")

    def _follow(self, target: bytes, parts: deque[bytes], folders: list[int]) -> None:
        """Put the link's target in front of what is left of the path."""
        if target.startswith(b"/"):
            target = self._below(target)
            while len(folders) > 1:
                os.close(folders.pop())
        parts.extendleft(reversed(target.split(b"/")))

    def _below(self, target: bytes) -> bytes:
        for anchor in self._anchors:
            if target.startswith(anchor.rstrip(b"/") + b"/"):
                return target[len(anchor.rstrip(b"/")) + 1 :]
        raise LeadsOut("A link leads out of the data set.")


def open_inside(root: str | os.PathLike[str], raw_path: bytes) -> int:
    """Open one regular file below ``root``; see :meth:`Inside.open` for what is raised."""
    with Inside(root) as folder:
        return folder.open(raw_path)


def _leave(folders: list[int]) -> None:
    if len(folders) == 1:
        raise LeadsOut("A link leads out of the data set.")
    os.close(folders.pop())


def _regular(fd: int) -> int:
    """Look again at what was opened: it may have been swapped after the first look."""
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotRegular("It is a folder, device, pipe or socket, not a file.")


_GONE = {errno.ENOENT, errno.ENOTDIR}
_ODD = {errno.EISDIR, errno.ENXIO, errno.ENODEV}


def _translated(error: OSError, raw_path: bytes) -> Missing | NotRegular | Unreadable:
    if error.errno in _GONE:
        return Missing(f"There is no file {_shown(raw_path)}.")
    if error.errno in _ODD:
        return NotRegular(f"{_shown(raw_path)} is not a regular file.")
    return Unreadable(f"{_shown(raw_path)} cannot be read: {error.strerror}.")


def _shown(raw_path: bytes) -> str:
    return repr(SamplePath(raw_path).text[:200])
