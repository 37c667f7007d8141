"""Does a folder hold what a release lists, byte for byte, and nothing else?

``sha256sum -c SHA256SUMS`` answers half of that: it says nothing about files that are not
listed, and a sample that was left out and lies there all the same would be trained on by
everything that reads folders.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from sickbay.client import metadata, tree
from sickbay.contract import digest
from sickbay.contract.errors import NotFound, SickbayError
from sickbay.contract.inside import Inside, Missing
from sickbay.contract.manifest import (
    FILES,
    IN_ID,
    METADATA_SUMS,
    VERSION,
    ManifestRow,
    QuarantineRow,
    row_id,
)
from sickbay.contract.paths import SamplePath


class Fault(StrEnum):
    """What may be wrong with one file."""

    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True)
class Problem:
    """One file that is not as the release says."""

    fault: Fault
    file_name: str
    why: str = ""
    raw_path: bytes = b""
    """Its name's bytes, of a file that is extra."""


Step: TypeAlias = Callable[[int, int], None]
"""Is told of each file that was dealt with: its size and that of all files, in bytes."""


def unwatched(size: int, total: int) -> None:
    """Take no notice."""
    del size, total


def verify(release: Path, folder: Path, step: Step = unwatched) -> Iterator[Problem]:
    """Yield what is wrong in ``folder``, in constant memory; nothing if all is right.

    Args:
        release: a folder with a release's files, checked by ``check_metadata`` before.
        folder: where the samples are; may hold the release's files as well.
        step: is called after each listed file.

    Raises:
        NotFound: there is no such folder.
        StorageFailed: a folder in it cannot be read.
    """
    if not folder.is_dir():
        raise NotFound(f"There is no folder {str(folder)!r}.")
    total = metadata.version(release).counts["bytes"]
    with Inside(folder) as inside:
        for found in Listing(release).beside(folder):
            if isinstance(found, Problem):
                yield found
                continue
            problem = check_sample(inside, found)
            step(found.size, total)
            if problem is not None:
                yield problem
    if not folder.samefile(release):
        yield from _copies(release, folder)


def check_sample(inside: Inside, row: ManifestRow) -> Problem | None:
    """Say what is wrong with one listed file, if anything."""
    try:
        handle = inside.open(row.file_name.encode("utf-8"))
    except Missing:
        return Problem(Fault.MISSING, row.file_name)
    except SickbayError as error:
        return Problem(Fault.CHANGED, row.file_name, error.sentence)
    try:
        size = os.fstat(handle).st_size
        if size != row.size:
            return Problem(Fault.CHANGED, row.file_name, f"{size:,} bytes instead of {row.size:,}")
        if digest.of_handle(handle, size) != row.sha256:
            return Problem(Fault.CHANGED, row.file_name, "same size, other content")
    except OSError as error:
        return Problem(Fault.CHANGED, row.file_name, f"cannot be read: {error.strerror}")
    finally:
        os.close(handle)
    return None


class Listing:
    """What a release lists and what it left out, beside what lies in a folder."""

    def __init__(self, release: Path) -> None:
        self._release = release
        self._left_out: dict[str, QuarantineRow] | None = None

    def beside(
        self, folder: Path, leaving_out: tuple[str, ...] = FILES
    ) -> Iterator[ManifestRow | Problem]:
        """Yield every row, and a problem for every file that no row lists, in order of names."""
        present = tree.names(folder, {os.fsencode(name) for name in leaving_out})
        for found in tree.beside(present, metadata.manifest(self._release)):
            yield self._extra(found) if isinstance(found, bytes) else found

    def _extra(self, raw: bytes) -> Problem:
        if self._left_out is None:  # read where it is needed: most trees hold nothing extra
            self._left_out = {row.id: row for row in metadata.quarantine(self._release)}
        return Problem(
            Fault.EXTRA, SamplePath(raw).text, _why(self._left_out.get(row_id(raw))), raw
        )


def _why(row: QuarantineRow | None) -> str:
    if row is None:
        return "the release does not list it"
    codes = ", ".join(row.codes) or "by a person"
    if row.decision == "pending":
        return f"held and undecided when the release was made: {codes}"
    return f"left out of the release: {row.reason or codes}"


def _copies(release: Path, folder: Path) -> Iterator[Problem]:
    """Check the release's files that lie beside the samples: a trainer reads those.

    ``release.json`` lies outside the id and differs where two servers made the same release;
    it has to be the one that the sums beside it name.
    """
    wanted = {name: metadata.entry_of(release / name).sha256 for name in (*IN_ID, VERSION)}
    if os.path.lexists(folder / METADATA_SUMS):
        wanted = metadata.sums(folder) | wanted
    for name, sha256 in wanted.items():
        if os.path.lexists(folder / name) and _sha256(folder / name) != sha256:
            yield Problem(Fault.CHANGED, name, "not the release's file")


def _sha256(path: Path) -> str:
    try:
        return metadata.entry_of(path).sha256
    except NotFound:
        return ""
