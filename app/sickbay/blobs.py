"""Content-addressed files: thumbnails and replacements, named by their SHA-256.

A blob is written to a temporary file, synced, and only then renamed into place, so that a name
always stands for whole bytes; whatever refers to it is written afterwards.
"""

import hashlib
import os
import re
import tempfile
from pathlib import Path

from sickbay.contract.errors import NotFound, StorageFailed

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of blobs, ``ab/abcd…``, readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Store bytes durably; return their SHA-256 in hex. Storing them again is free.

        Raises:
            StorageFailed: the disk is full or read-only; nothing was stored.
        """
        digest = hashlib.sha256(data).hexdigest()
        target = self._place(digest)
        if not target.exists():
            try:
                _write_whole(target, data)
            except OSError as error:
                raise StorageFailed(
                    f"A file could not be stored: {error.strerror}. Make room, then try again."
                ) from error
        return digest

    def path(self, digest: str) -> Path:
        """Return where the blob lies.

        Raises:
            NotFound: there is no such blob.
        """
        if not _DIGEST.fullmatch(digest) or not (place := self._place(digest)).is_file():
            raise NotFound("There is no stored file with that SHA-256.")
        return place

    def get(self, digest: str) -> bytes:
        """Return the blob's bytes.

        Raises:
            NotFound: there is no such blob.
        """
        return self.path(digest).read_bytes()

    def _place(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest


def _write_whole(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).rename(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
