"""Image folders: plain, or one folder a class, with or without train, val and test above.

As trainers read them: the label is the name of the topmost folder below the root (or below the
split), pictures may lie at any depth beneath it.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.inside import Inside
from sickbay.contract.paths import SamplePath
from sickbay.scanner.formats import HEAD_BYTES, PICTURE_SUFFIXES, sniff
from sickbay.scanner.sources import Found, Skipped

MAX_NAME = 255  # characters of a label, as records allow
_SPLITS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "test": "test",
    "testing": "test",
}
_LITTER = {b"thumbs.db", b"ehthumbs.db", b"desktop.ini", b"icon\r"}
HIDDEN = "hidden file"
LITTER = "file manager's litter"
NO_PICTURE = "not a picture by name or content"
SPECIAL = "not a regular file"
BROKEN = "link to nothing"
OUTSIDE = "link out of the data set"
AGAIN = "link to a folder already scanned"
UNREADABLE = "cannot be read"


def walk(root: str) -> Iterator[Found | Skipped]:
    """Yield everything below ``root`` in order of raw path.

    Raises:
        BadInput: the root is missing, no folder, or cannot be read.
    """
    top = os.fsencode(root)
    names = _top(root, top)
    return _Walk(top, os.path.realpath(top), _split_folders(top, names)).run()


def _top(root: str, top: bytes) -> list[os.DirEntry[bytes]]:
    try:
        with os.scandir(top) as entries:
            return list(entries)
    except FileNotFoundError:
        raise BadInput(f"There is no folder {root!r}; check the path.") from None
    except NotADirectoryError:
        raise BadInput(f"{root!r} is a file; give the folder that holds the pictures.") from None
    except OSError as error:
        raise BadInput(f"The folder {root!r} cannot be read: {error.strerror}.") from None


def _split_folders(top: bytes, entries: list[os.DirEntry[bytes]]) -> dict[bytes, str]:
    """Say which folders below the root are splits.

    A class may be called `train` too (a vehicle), so that names count as splits only where all
    folders or at least two of them are, or where the only one has folders of its own.
    """
    folders = [entry.name for entry in entries if entry.is_dir() and entry.name[:1] != b"."]
    named = {name: _SPLITS[key] for name in folders if (key := _key(name)) in _SPLITS}
    if len(named) == len(folders) or len(set(named.values())) > 1:
        return named
    return named if named and all(_has_folders(_below(top, name)) for name in named) else {}


def _key(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _below(top: bytes, raw: bytes) -> bytes:
    return top.rstrip(b"/") + b"/" + raw


def _has_folders(folder: bytes) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.is_dir() for entry in entries)
    except OSError:
        return False


@dataclass(slots=True)
class _Walk:
    top: bytes
    real: bytes
    splits: dict[bytes, str]
    linked: set[tuple[int, int]] = field(default_factory=set)

    def run(self) -> Iterator[Found | Skipped]:
        """Walk without recursion: trees may be deeper than Python's stack."""
        open_folders = [self._entries(b"")]
        with Inside(os.fsdecode(self.top)) as root:
            while open_folders:
                entry = next(open_folders[-1], None)
                if entry is None:
                    open_folders.pop()
                elif isinstance(entry, Skipped):
                    yield entry
                elif entry.name[-1:] == b"/":
                    open_folders.append(self._entries(entry.name))
                else:
                    yield self._sorted_out(entry, root)

    def _entries(self, folder: bytes) -> "Iterator[_Entry | Skipped]":
        """List one folder; its name ends with a slash, as do those of folders in it."""
        try:
            with os.scandir(_below(self.top, folder)) as entries:
                seen = [self._seen(folder, entry) for entry in entries]
        except OSError as error:
            yield _unreadable_folder(folder, error)
            return
        yield from sorted(
            seen, key=lambda item: item.name if isinstance(item, _Entry) else item.raw
        )

    def _seen(self, folder: bytes, entry: os.DirEntry[bytes]) -> "_Entry | Skipped":
        raw = folder + entry.name
        if not entry.is_symlink():
            if entry.is_dir(follow_symlinks=False):
                return _Entry(raw + b"/", stat.S_IFDIR)
            if entry.is_file(follow_symlinks=False):
                return _Entry(raw, stat.S_IFREG)
            return _Entry(raw, stat.S_IFIFO)
        return self._link(raw, entry)

    def _link(self, raw: bytes, entry: os.DirEntry[bytes]) -> "_Entry | Skipped":
        target = os.path.realpath(entry.path)
        outside = not (target + b"/").startswith(self.real.rstrip(b"/") + b"/")
        try:
            found = entry.stat()
        except OSError:
            return _Entry(raw, 0, outside=outside)
        if not stat.S_ISDIR(found.st_mode):
            return _Entry(raw, stat.S_IFMT(found.st_mode), outside=outside)
        if outside:
            return Skipped(raw, OUTSIDE, _leads_out(raw))
        identity = (found.st_dev, found.st_ino)
        if identity in self.linked or self._above(raw, target):
            return Skipped(raw, AGAIN)
        self.linked.add(identity)
        return _Entry(raw + b"/", stat.S_IFDIR)

    def _above(self, raw: bytes, target: bytes) -> bool:
        """Whether the link leads back to a folder that it lies in."""
        folder = os.path.realpath(_below(self.top, raw.rpartition(b"/")[0]))
        return (folder + b"/").startswith(target + b"/")

    def _sorted_out(self, entry: "_Entry", root: Inside) -> Found | Skipped:
        raw = entry.name
        if raw.startswith(b".") or b"/." in raw:
            return Skipped(raw, HIDDEN)
        if raw.rpartition(b"/")[2].lower() in _LITTER:
            return Skipped(raw, LITTER)
        if SamplePath(raw).suffix in PICTURE_SUFFIXES:
            return self._found(raw)
        if entry.outside:
            return Skipped(raw, OUTSIDE)
        if not stat.S_ISREG(entry.mode):
            return Skipped(raw, SPECIAL if entry.mode else BROKEN)
        return self._by_content(raw, root)

    def _by_content(self, raw: bytes, root: Inside) -> Found | Skipped:
        try:
            with open(root.open(raw), "rb", buffering=0) as file:  # noqa: PTH123 (a descriptor)
                head = file.read(HEAD_BYTES)
        except (SickbayError, OSError):
            return Skipped(raw, UNREADABLE)
        return self._found(raw) if sniff(head) else Skipped(raw, NO_PICTURE)

    def _found(self, raw: bytes) -> Found:
        parts = raw.split(b"/")[:-1]
        split = self.splits.get(parts[0], "") if parts else ""
        below = parts[1:] if split else parts
        return Found(raw, split, _label(below[0]) if below else "")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A name below the root (a folder's with a slash behind), and what it is; 0 for nothing."""

    name: bytes
    mode: int
    outside: bool = False


def _label(name: bytes) -> str:
    r"""Write a class as records allow: control characters as ``\xNN``, at most 255 characters."""
    text = SamplePath(name).text
    shown = "".join(char if ord(char) >= 0x20 else f"\\x{ord(char):02x}" for char in text)  # noqa: PLR2004 (space)
    return shown[:MAX_NAME]


def _unreadable_folder(folder: bytes, error: OSError) -> Skipped:
    raw = folder.rstrip(b"/")
    message = f"The folder cannot be read: {error.strerror}."
    return Skipped(raw, UNREADABLE, Finding.of("file.unreadable", SamplePath(raw).text, message))


def _leads_out(raw: bytes) -> Finding:
    message = "The folder is a link that leads out of the data set."
    return Finding.of("file.unsafe-path", SamplePath(raw).text, message)
