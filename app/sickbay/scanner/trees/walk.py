"""Walking a folder of this machine, in order of raw path, and looking whether it changed."""

import hashlib
import marshal
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sickbay.contract.finding import Finding
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
_DAY = 86_400_000_000_000  # ns
_PLAIN = 2  # version of marshal without references: equal values give equal bytes


def below(top: bytes, raw: bytes) -> bytes:
    """Return where a path below a folder is."""
    return top.rstrip(b"/") + b"/" + raw


def key_of(found: os.stat_result) -> Key | None:
    """Return the key of a regular file."""
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def written(mtime: int, ctime: int) -> int:
    """Return when a file was last written to.

    That is its ctime, which nobody can set; a file system without one of its own shows by an
    mtime that is a little later. One far in the future was set by hand.
    """
    return mtime if ctime < mtime < ctime + _DAY else ctime


def depth_first(
    listed: Callable[[bytes], Iterator[Entry | Skipped]],
) -> Iterator[Entry | Skipped]:
    """Yield what lies in folders, and in folders of theirs, each where its name stands.

    Without recursion: trees may be deeper than Python's stack.

    Args:
        listed: yields what is in one folder, in order; names of folders end with a slash.
    """
    open_folders = [listed(b"")]
    while open_folders:
        item = next(open_folders[-1], None)
        if item is None:
            open_folders.pop()
        elif item.raw[-1:] == b"/":
            open_folders.append(listed(item.raw))
        else:
            yield item


@dataclass(slots=True)
class Walk:
    """One walk over everything below a folder, into links that stay inside it."""

    top: bytes
    real: bytes
    linked: set[tuple[int, int]] = field(default_factory=set)

    def run(self) -> Iterator[Entry | Skipped]:
        """Yield everything in ascending order of raw path."""
        return depth_first(self._entries)

    def digest(self) -> tuple[bytes, int]:
        """Digest all names, keys and links; return with it when a file was last written to.

        What a scan finds depends on what is digested and on nothing else below the root, as long
        as no file was written to within the same tick of the clock as the walk before.
        """
        whole, newest, folders = hashlib.blake2b(digest_size=32), 0, [b""]
        while folders:
            folder = folders.pop()
            try:
                rows, last = self._rows(folder)
            except OSError as error:
                rows, last = [(folder, False, error.errno)], 0
            newest = max(newest, last)
            rows.sort()
            whole.update(marshal.dumps((folder, rows), _PLAIN))
            folders += [folder + row[0] + b"/" for row in reversed(rows) if row[1] is True]
        return whole.digest(), newest

    def _rows(self, folder: bytes) -> tuple[list[tuple[bytes, object, object]], int]:
        rows: list[tuple[bytes, object, object]] = []
        links, newest = [], 0
        with os.scandir(below(self.top, folder)) as entries:
            for entry in entries:
                if entry.is_symlink():
                    links.append(entry)
                elif entry.is_dir(follow_symlinks=False):
                    rows.append((entry.name, True, None))
                else:
                    found = entry.stat(follow_symlinks=False)
                    mtime, ctime = found.st_mtime_ns, found.st_ctime_ns
                    if ctime > newest or mtime > newest:
                        newest = max(newest, written(mtime, ctime))
                    identity = found.st_dev, found.st_ino, found.st_size, mtime, ctime
                    rows.append((entry.name, found.st_mode, identity))
        for entry in sorted(links, key=_name):
            row, last = self._link_row(folder, entry)
            rows.append(row)
            newest = max(newest, last)
        return rows, newest

    def _link_row(
        self, folder: bytes, entry: os.DirEntry[bytes]
    ) -> tuple[tuple[bytes, object, object], int]:
        item = self._link(folder + entry.name, entry)
        if isinstance(item, Skipped):
            return (entry.name, item.reason, None), 0
        if item.raw[-1:] == b"/":
            return (entry.name, True, None), 0
        last = 0 if item.key is None else written(int(item.key[3]), int(item.key[4]))
        return (entry.name, item.what.value, item.key), last

    def _entries(self, folder: bytes) -> Iterator[Entry | Skipped]:
        """List one folder in order; its name ends with a slash, as do those of folders in it."""
        try:
            with os.scandir(below(self.top, folder)) as entries:
                found = sorted(entries, key=_name)
        except OSError as error:
            yield unreadable_folder(folder, error.strerror)
            return
        seen = [self._seen(folder, entry) for entry in found]
        seen.sort(key=_raw)
        yield from seen

    def _seen(self, folder: bytes, entry: os.DirEntry[bytes]) -> Entry | Skipped:
        raw = folder + entry.name
        if entry.is_symlink():
            return self._link(raw, entry)
        if entry.is_dir(follow_symlinks=False):
            return Entry(raw + b"/")
        if (reason := unwanted(folder, entry.name)) is not None:
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
                Entry(raw, what, key_of(found))
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
        folder = os.path.realpath(below(self.top, raw.rpartition(b"/")[0]))
        return (folder + b"/").startswith(target + b"/")


def _name(entry: os.DirEntry[bytes]) -> bytes:
    return entry.name


def _raw(item: Entry | Skipped) -> bytes:
    return item.raw


def _stat_key(entry: os.DirEntry[bytes]) -> Key | None:
    try:
        return key_of(entry.stat(follow_symlinks=False))
    except OSError:
        return None


def unwanted(folder: bytes, name: bytes) -> str | None:
    """Say why nobody meant a name to be a sample, or nothing."""
    if name[:1] == b"." or folder[:1] == b"." or b"/." in folder:
        return HIDDEN
    return LITTER if name.lower() in _LITTER else None


def _unless_unwanted(folder: bytes, name: bytes, what: What) -> Entry | Skipped:
    reason = unwanted(folder, name)
    return Skipped(folder + name, reason) if reason else Entry(folder + name, what)


def unreadable_folder(folder: bytes, why: str | None) -> Skipped:
    """Say that a folder cannot be read, and why."""
    raw = folder.rstrip(b"/")
    message = f"The folder cannot be read: {why}."
    return Skipped(raw, UNREADABLE, Finding.of("file.unreadable", SamplePath(raw).text, message))


def _leads_out(raw: bytes) -> Finding:
    message = "The folder is a link that leads out of the data set."
    return Finding.of("file.unsafe-path", SamplePath(raw).text, message)
