"""A release's own files: complete, as the id says, and in agreement with one another.

What is checked here holds whoever handed the files over: a mirror, a proxy, a USB stick. Only
the id has to come from somewhere that is trusted.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sickbay.contract.digest import BLOCK
from sickbay.contract.errors import NotFound, Refused
from sickbay.contract.manifest import (
    FILES,
    MANIFEST,
    MAX_LINE_BYTES,
    METADATA_SUMS,
    QUARANTINE,
    SUMS,
    VERSION,
    ManifestRow,
    QuarantineRow,
    read_manifest,
    read_sums,
    sums_line,
)
from sickbay.contract.version import FileEntry, Version

_MAX_SMALL = 1 << 20
"""Bytes of version.json or METADATA-SHA256SUMS; either has a few hundred."""


def check_metadata(folder: Path, wanted: str | None = None) -> Version:
    """Check every file of a release against its id, and return what version.json says.

    Args:
        folder: where the files are.
        wanted: the release's id or the beginning of it; without it, the id is only computed.

    Raises:
        NotFound: a file is missing.
        Refused: a file is not the one that the release was made with.
        BadInput: a file is none that Sickbay writes, or lists unsafe names.
    """
    data = _small(folder / VERSION)
    digest = hashlib.sha256(data).hexdigest()
    if wanted is not None and not digest.startswith(wanted):
        raise Refused(f"{folder / VERSION} is that of release {digest}, not of {wanted}.")
    made = Version.from_bytes(data)
    listed = sums(folder)
    stated = {entry.name: entry for entry in made.files}
    for name in FILES:
        if name != METADATA_SUMS:
            _check_file(folder, name, listed.get(name), stated.get(name))
    _check_listing(folder, made)
    return made


def version(folder: Path) -> Version:
    """Return what a release's version.json says.

    Raises:
        NotFound: it is not there.
        BadInput: it is none that Sickbay can read.
    """
    return Version.from_bytes(_small(folder / VERSION))


def manifest(folder: Path) -> Iterator[ManifestRow]:
    """Yield the rows of a release's manifest."""
    with _open_lines(folder / MANIFEST) as lines:
        yield from read_manifest(lines)


def quarantine(folder: Path) -> Iterator[QuarantineRow]:
    """Yield the rows of a release's list of what was in quarantine."""
    with _open_lines(folder / QUARANTINE) as lines:
        yield from map(QuarantineRow.from_line, lines)


def sums(folder: Path) -> dict[str, str]:
    """Return what METADATA-SHA256SUMS says: SHA-256 by name.

    Raises:
        NotFound: it is not there.
        BadInput: it is none that Sickbay writes.
    """
    return read_sums(_small(folder / METADATA_SUMS))


def entry_of(path: Path) -> FileEntry:
    """Return a file's name, SHA-256 and size.

    Raises:
        NotFound: it is not there or cannot be read.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(BLOCK):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.") from None
    return FileEntry(path.name, digest.hexdigest(), size)


def _check_file(folder: Path, name: str, listed: str | None, stated: FileEntry | None) -> None:
    found = entry_of(folder / name)
    if found.sha256 != listed or (stated is not None and found != stated):
        raise Refused(f"{folder / name} is not the file that the release was made with.")


def _check_listing(folder: Path, made: Version) -> None:
    """Check that manifest, SHA256SUMS and the counts say the same."""
    kept = size = 0
    with _open_lines(folder / SUMS) as listed:
        for row in manifest(folder):
            kept, size = kept + 1, size + row.size
            if next(listed, b"") != sums_line(row.sha256, row.file_name):
                raise Refused(f"{SUMS} and {MANIFEST} in {folder} contradict one another.")
        if next(listed, None) is not None:
            raise Refused(f"{SUMS} in {folder} lists more than {MANIFEST}.")
    if (kept, size) != (made.counts["kept"], made.counts["bytes"]):
        raise Refused(f"{VERSION} and {MANIFEST} in {folder} contradict one another.")


def _small(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SMALL)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}. Is that a release?") from None


@contextmanager
def _open_lines(path: Path) -> Iterator[Iterator[bytes]]:
    """Give a file's lines; one that is too long comes cut, and is refused as no row."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.") from None
    with file:
        yield iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
