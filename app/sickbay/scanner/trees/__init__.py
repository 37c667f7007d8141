"""Where a data set's files lie: a tree of names, walked in order and read from, never written."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO, Protocol, TypeAlias

from sickbay.contract.finding import Finding
from sickbay.scanner.where import Place

Key: TypeAlias = tuple[int | str, ...]
"""What a tree knows a content by: the same as long as nobody wrote to it.

Of a local file its device, inode, size in bytes, mtime and ctime in ns.
"""

HIDDEN = "hidden file"
LITTER = "file manager's litter"
SPECIAL = "not a regular file"
BROKEN = "link to nothing"
OUTSIDE = "link out of the data set"
AGAIN = "link to a folder already scanned"
UNREADABLE = "cannot be read"


class What(Enum):
    """What lies behind a name that is no folder."""

    FILE = "file"
    SPECIAL = SPECIAL
    BROKEN = BROKEN
    OUTSIDE = OUTSIDE


@dataclass(frozen=True, slots=True)
class Entry:
    """A name below the root, what lies there, and the key of its content where it is a file."""

    raw: bytes
    what: What = What.FILE
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is no sample, why, and a finding where it is worth one."""

    raw: bytes
    reason: str
    finding: Finding | None = None


class Tree(Protocol):
    """A folder of files. Paths are raw bytes below it, their parts joined by ``/``."""

    where: str
    """The root as a person wrote it."""

    @property
    def real(self) -> str:
        """The root as it is known whatever way a person came to it."""
        ...

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield everything below the root in ascending order of raw path.

        Hidden files, litter, unreadable folders and links that lead out or round come as
        skipped.

        Raises:
            BadInput: the root is missing, no folder, or cannot be read.
        """
        ...

    def listing(self, folder: bytes = b"") -> Iterator[tuple[bytes, bool]]:
        """Yield the names in one folder, in no order, and whether each is a folder.

        Hidden names are left out; a folder that cannot be read has none.
        """
        ...

    @property
    def files(self) -> Place:
        """Where those who check find the files."""
        ...

    def open(self, raw: bytes) -> BinaryIO:
        """Open a regular file below the root for reading.

        Raises:
            SickbayError: one of those of :mod:`sickbay.contract.inside`.
        """
        ...

    def key(self, raw: bytes) -> Key | None:
        """Return the key of a file's content, nothing where it has none."""
        ...

    def settled(self, key: Key, since: int) -> bool:
        """Whether the same key will mean the same content: nothing was written since then, in ns.

        Two writes within one tick of a file system's clock leave one key.
        """
        ...

    def digest(self, since: int) -> bytes | None:
        """Digest all names and keys below the root; nothing where not all of it is settled."""
        ...
