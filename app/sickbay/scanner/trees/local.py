"""A data set in a folder of this machine."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Finding
from sickbay.contract.inside import Inside
from sickbay.contract.paths import SamplePath
from sickbay.scanner.trees import (
    AGAIN,
    HIDDEN,
    LITTER,
    OUTSIDE,
    UNREADABLE,
    Entry,
    Key,
    Skipped,
    What,
)

_LITTER = {b"thumbs.db", b"ehthumbs.db", b"desktop.ini", b"icon\r"}


class LocalTree:
    """A folder, followed into links that stay inside it.

    Raises:
        BadInput: the root is missing, no folder, or cannot be read.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.where = os.fspath(root)
        self._top = os.fsencode(self.where)
        self._refuse_bad_root()

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield everything below the root in ascending order of raw path."""
        return _Walk(self._top, os.path.realpath(self._top)).run()

    def listing(self, folder: bytes = b"") -> Iterator[tuple[bytes, bool]]:
        """Yield the names in one folder, and whether each is a folder."""
        try:
            with os.scandir(_below(self._top, folder)) as entries:
                for entry in entries:
                    if not entry.name.startswith(b"."):
                        yield entry.name, entry.is_dir()
        except OSError:
            return

    def open(self, raw: bytes) -> BinaryIO:
        """Open a regular file below the root for reading."""
        with Inside(self.where) as folder:
            return open(folder.open(raw), "rb")  # noqa: PTH123 (a descriptor; the caller's)

    def key(self, raw: bytes) -> Key | None:
        """Return the key of a file's content."""
        try:
            return _key(os.stat(_below(self._top, raw)))  # noqa: PTH116 (bytes)
        except (OSError, ValueError):
            return None

    def _refuse_bad_root(self) -> None:
        root = self.where
        try:
            os.scandir(self._top).close()
        except FileNotFoundError:
            raise BadInput(f"There is no folder {root!r}; check the path.") from None
        except NotADirectoryError:
            raise BadInput(f"{root!r} is a file; give the folder that holds the samples.") from None
        except OSError as error:
            raise BadInput(f"The folder {root!r} cannot be read: {error.strerror}.") from None


def _below(top: bytes, raw: bytes) -> bytes:
    return top.rstrip(b"/") + b"/" + raw


def _key(found: os.stat_result) -> Key | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@dataclass(slots=True)
class _Walk:
    top: bytes
    real: bytes
    linked: set[tuple[int, int]] = field(default_factory=set)

    def run(self) -> Iterator[Entry | Skipped]:
        """Walk without recursion: trees may be deeper than Python's stack."""
        open_folders = [self._entries(b"")]
        while open_folders:
            item = next(open_folders[-1], None)
            if item is None:
                open_folders.pop()
            elif item.raw[-1:] == b"/":
                open_folders.append(self._entries(item.raw))
            else:
                yield item

    def _entries(self, folder: bytes) -> Iterator[Entry | Skipped]:
        """List one folder in order; its name ends with a slash, as do those of folders in it."""
        try:
            with os.scandir(_below(self.top, folder)) as entries:
                seen = [self._seen(folder, entry) for entry in entries]
        except OSError as error:
            yield _unreadable_folder(folder, error)
            return
        seen.sort(key=_raw)
        yield from seen

    def _seen(self, folder: bytes, entry: os.DirEntry[bytes]) -> Entry | Skipped:
        raw = folder + entry.name
        if entry.is_symlink():
            return self._link(raw, entry)
        if entry.is_dir(follow_symlinks=False):
            return Entry(raw + b"/")
        if (reason := _unwanted(folder, entry.name)) is not None:
            return Skipped(raw, reason)
        if entry.is_file(follow_symlinks=False):
            return Entry(raw, What.FILE, _stat_key(entry))
        return Entry(raw, What.SPECIAL)

    def _link(self, raw: bytes, entry: os.DirEntry[bytes]) -> Entry | Skipped:
        folder, name = raw[: -len(entry.name)], entry.name
        target = os.path.realpath(entry.path)
        outside = not (target + b"/").startswith(self.real.rstrip(b"/") + b"/")
        try:
            found = entry.stat()
        except OSError:
            return _unless_unwanted(folder, name, What.OUTSIDE if outside else What.BROKEN)
        if not stat.S_ISDIR(found.st_mode):
            what = What.FILE if stat.S_ISREG(found.st_mode) else What.SPECIAL
            made = _unless_unwanted(folder, name, What.OUTSIDE if outside else what)
            return (
                Entry(raw, what, _key(found))
                if isinstance(made, Entry) and made.what is What.FILE
                else made
            )
        if outside:
            return Skipped(raw, OUTSIDE, _leads_out(raw))
        identity = (found.st_dev, found.st_ino)
        if identity in self.linked or self._above(raw, target):
            return Skipped(raw, AGAIN)
        self.linked.add(identity)
        return Entry(raw + b"/")

    def _above(self, raw: bytes, target: bytes) -> bool:
        """Whether the link leads back to a folder that it lies in."""
        folder = os.path.realpath(_below(self.top, raw.rpartition(b"/")[0]))
        return (folder + b"/").startswith(target + b"/")


def _raw(item: Entry | Skipped) -> bytes:
    return item.raw


def _stat_key(entry: os.DirEntry[bytes]) -> Key | None:
    try:
        return _key(entry.stat(follow_symlinks=False))
    except OSError:
        return None


def _unwanted(folder: bytes, name: bytes) -> str | None:
    if name[:1] == b"." or folder[:1] == b"." or b"/." in folder:
        return HIDDEN
    return LITTER if name.lower() in _LITTER else None


def _unless_unwanted(folder: bytes, name: bytes, what: What) -> Entry | Skipped:
    reason = _unwanted(folder, name)
    return Skipped(folder + name, reason) if reason else Entry(folder + name, what)


def _unreadable_folder(folder: bytes, error: OSError) -> Skipped:
    raw = folder.rstrip(b"/")
    message = f"The folder cannot be read: {error.strerror}."
    return Skipped(raw, UNREADABLE, Finding.of("file.unreadable", SamplePath(raw).text, message))


def _leads_out(raw: bytes) -> Finding:
    message = "The folder is a link that leads out of the data set."
    return Finding.of("file.unsafe-path", SamplePath(raw).text, message)
