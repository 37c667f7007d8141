"""A folder of a file system of fsspec: a bucket, a web server's folder, a memory of tests."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

from sickbay.contract.errors import BadInput

_QUOTED = ("http://", "https://")


class Store:
    """A folder of a file system of fsspec, and the names in it.

    Raises:
        BadInput: the URL's kind is unknown, or what reads it is not installed.
    """

    def __init__(self, url: str) -> None:
        import fsspec  # noqa: PLC0415 (only where a root is remote)

        self.url = url.rstrip("/")
        self._quoted = url.startswith(_QUOTED)
        try:
            self.system, top = fsspec.core.url_to_fs(self.url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise BadInput(f"{url!r} cannot be read: {error}.") from None
        self._top = str(top).rstrip("/")

    def name(self, raw: bytes) -> str:
        """Return a path below the folder as the file system calls it."""
        text = quote(raw) if self._quoted else raw.decode("utf-8", "surrogateescape")
        return f"{self._top}/{text}" if text else self._top

    def size(self, raw: bytes) -> int | None:
        """Return a file's size in bytes, where the store says it."""
        try:
            size = self.system.info(self.name(raw)).get("size")
        except Exception:  # noqa: BLE001 (each kind of store has its own; reading says more)
            return None
        return size if isinstance(size, int) else None

    def read(self, raw: bytes, most: int | None) -> bytes:
        """Read a file, or its first bytes; may raise anything."""
        name = self.name(raw)
        if most is not None:
            try:
                with self.system.open(name, "rb") as file:
                    return bytes(file.read(most))
            except FileNotFoundError:
                pass  # over HTTP that may be any other trouble
        return bytes(self.system.cat_file(name))

    def listed(self, folder: bytes) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yield the names in a folder, those of folders with a slash; may raise anything."""
        name = self.name(folder.rstrip(b"/"))
        above = f"{name}/"
        for info in self.system.ls(above if self._quoted else name, detail=True):
            path = str(info["name"])
            below = path.removeprefix(above).split("?")[0] if self._quoted else path[len(above) :]
            part = below.rstrip("/")
            if path.startswith(above) and part and "/" not in part and part not in {".", ".."}:
                is_folder = info.get("type") == "directory"
                yield self._raw(part) + (b"/" if is_folder else b""), info

    def _raw(self, part: str) -> bytes:
        return (unquote(part) if self._quoted else part).encode("utf-8", "surrogateescape")


def said(error: Exception) -> str:
    """Say in a clause what a store answered."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200].rstrip(".")
