"""A data set in a folder of this machine."""

import os
from collections.abc import Iterator
from typing import BinaryIO

from sickbay.contract.errors import BadInput
from sickbay.contract.inside import Inside
from sickbay.scanner.trees import Entry, Key, Skipped
from sickbay.scanner.trees.walk import Walk, below, key_of, written
from sickbay.scanner.where import Below


class LocalTree:
    """A folder, followed into links that stay inside it.

    Raises:
        BadInput: the root is missing, no folder, or cannot be read.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.where = os.fspath(root)
        self._top = os.fsencode(self.where)
        self._latest: Entry | None = None
        self._refuse_bad_root()

    @property
    def real(self) -> str:
        """The root without links."""
        return os.path.realpath(self.where)

    @property
    def files(self) -> Below:
        """The folder, which children open themselves."""
        return Below(os.path.abspath(self.where))  # noqa: PTH100 (links are kept as they are)

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield everything below the root in ascending order of raw path."""
        for item in Walk(self._top, os.path.realpath(self._top)).run():
            if isinstance(item, Entry):
                self._latest = item
            yield item

    def listing(self, folder: bytes = b"") -> Iterator[tuple[bytes, bool]]:
        """Yield the names in one folder, and whether each is a folder."""
        try:
            with os.scandir(below(self._top, folder)) as entries:
                for entry in entries:
                    if not entry.name.startswith(b"."):
                        yield entry.name, _is_folder(entry)
        except OSError:
            return

    def open(self, raw: bytes) -> BinaryIO:
        """Open a regular file below the root for reading."""
        with Inside(self.where) as folder:
            return open(folder.open(raw), "rb")  # noqa: PTH123 (a descriptor; the caller's)

    def key(self, raw: bytes) -> Key | None:
        """Return the key of a file's content; of the entry that came last it is known already."""
        latest = self._latest
        if latest is not None and latest.raw == raw:
            return latest.key
        try:
            return key_of(os.stat(below(self._top, raw)))  # noqa: PTH116 (bytes)
        except (OSError, ValueError):
            return None

    def settled(self, key: Key, since: int) -> bool:
        """Whether the file was last written to before ``since``, in ns."""
        *_, mtime, ctime = key
        return written(int(mtime), int(ctime)) < since

    def digest(self, since: int) -> bytes | None:
        """Digest all names and keys below the root."""
        digest, newest = Walk(self._top, os.path.realpath(self._top)).digest()
        return digest if newest < since else None

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


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    """Whether it is a folder; a link to itself is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False
