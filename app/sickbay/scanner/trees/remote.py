"""A data set that lies somewhere else: a bucket, a web server's folders, whatever fsspec reads.

Each folder is listed once and sorted, so that memory is bounded by the largest folder. Nothing
is ever written. Keys are what the store says of a file's content (an etag, or size and time of
writing); where it says neither, the file is read in every scan.
"""

import errno
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.inside import Missing, Unreadable
from sickbay.contract.paths import MAX_PATH_BYTES
from sickbay.scanner.trees import Entry, Key, Skipped, What
from sickbay.scanner.trees.fetching import Remote
from sickbay.scanner.trees.store import Store, said
from sickbay.scanner.trees.walk import depth_first, unreadable_folder, unwanted

TOO_LONG = "path too long"
_TAGS = ("ETag", "etag", "md5Hash", "checksum")
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "modified", "created")
_SECOND = 1_000_000_000


class RemoteTree:
    """A folder behind a URL.

    Raises:
        BadInput: nothing can be read at that URL.
    """

    def __init__(self, url: str) -> None:
        self.where = url
        self._store = Store(url)
        self._latest: Entry | None = None
        try:
            next(self._store.listed(b""), None)
        except FileNotFoundError:
            raise BadInput(f"There is no folder {url!r}; check the URL.") from None
        except Exception as error:  # noqa: BLE001 (each kind of store has its own)
            raise BadInput(f"The folder {url!r} cannot be read: {said(error)}.") from None

    @property
    def real(self) -> str:
        """The URL, without a slash at its end."""
        return self._store.url

    @property
    def files(self) -> Remote:
        """Behind the same URL."""
        return Remote(self._store.url)

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield everything below the root in ascending order of raw path."""
        for item in depth_first(self._entries):
            self._latest = item if isinstance(item, Entry) else self._latest
            yield item

    def _entries(self, folder: bytes) -> Iterator[Entry | Skipped]:
        try:
            found = sorted(
                {folder + name: info for name, info in self._store.listed(folder)}.items()
            )
        except Exception as error:  # noqa: BLE001 (each kind of store has its own)
            yield unreadable_folder(folder, said(error))
            return
        for raw, info in found:
            name = raw[len(folder) :]
            if len(raw) > MAX_PATH_BYTES:
                yield Skipped(raw.rstrip(b"/"), TOO_LONG)
            elif name[-1:] == b"/":
                yield Entry(raw)
            elif (reason := unwanted(folder, name)) is not None:
                yield Skipped(raw, reason)
            else:
                yield Entry(raw, What.FILE, _key(info))

    def listing(self, folder: bytes = b"") -> Iterator[tuple[bytes, bool]]:
        """Yield the names in one folder, and whether each is a folder."""
        try:
            names = [name for name, _ in self._store.listed(folder)]
        except Exception:  # noqa: BLE001 (each kind of store has its own)
            return
        for name in names:
            if not name.startswith(b"."):
                yield name.rstrip(b"/"), name.endswith(b"/")

    def open(self, raw: bytes) -> BinaryIO:
        """Open a file below the root for reading."""
        try:
            return io.BufferedReader(_Opened(self._store.system.open(self._store.name(raw), "rb")))
        except Exception as error:  # noqa: BLE001 (each kind of store has its own)
            raise refused(raw, error) from None

    def key(self, raw: bytes) -> Key | None:
        """Return the key of a file's content; of the entry that came last it is known already."""
        latest = self._latest
        if latest is not None and latest.raw == raw:
            return latest.key
        try:
            return _key(self._store.system.info(self._store.name(raw)))
        except Exception:  # noqa: BLE001 (each kind of store has its own)
            return None

    def settled(self, key: Key, since: int) -> bool:
        """Whether it is an etag, which names a content, or was written before ``since``."""
        word, when, _ = key
        return word == "tag" or int(when) < since

    def digest(self, _since: int) -> bytes | None:
        """Nothing: a store is asked anew for each folder in any case."""
        return None


def _key(info: dict[str, Any]) -> Key | None:
    size = info.get("size", info.get("Size"))
    for name in _TAGS:
        if info.get(name):
            return "tag", str(info[name]), str(size)
    for name in _TIMES:
        when = info.get(name)
        if isinstance(when, datetime):
            when = when.timestamp()
        if isinstance(when, int | float):
            return "time", int(when * _SECOND), str(size)
    return None


def refused(raw: bytes, error: Exception) -> SickbayError:
    """Translate what a store answered for one file."""
    if isinstance(error, FileNotFoundError):
        return Missing(f"There is no file {raw!r}.")
    return Unreadable(f"{raw!r} cannot be read: {said(error)}.")


class _Opened(io.RawIOBase):
    """A file of a store, whose troubles are those of a file."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._asked("read", len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, place: int, whence: int = 0) -> int:
        return int(self._asked("seek", place, whence))

    def tell(self) -> int:
        return int(self._asked("tell"))

    def _asked(self, name: str, *given: Any) -> Any:
        try:
            return getattr(self._inner, name)(*given)
        except Exception as error:  # noqa: BLE001 (each kind of store has its own)
            raise OSError(errno.EIO, said(error)) from None

    def close(self) -> None:
        self._inner.close()
        super().close()
