"""Lays a released tree out in a folder: every file copied from the root, checked on the way.

The root is only ever read. Copies are reflinks where the file system can, and never hard links:
whoever edits a pulled file must not edit the original. What is right already stays as it is, so
that a pull that was cut off, or one of the next release, only does what is left.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sickbay.client import metadata
from sickbay.client.destination import STAGING, Destination, destination
from sickbay.client.release_source import ReleaseSource
from sickbay.client.verify import Fault, Listing, Problem, Step, unwatched
from sickbay.contract import digest
from sickbay.contract.errors import BadInput, NotFound, SickbayError, StorageFailed
from sickbay.contract.inside import Inside, Missing
from sickbay.contract.manifest import FILES, ManifestRow

_FICLONE = 0x40049409
"""The ioctl of Linux that shares a file's blocks until one side is written to."""


@dataclass(slots=True)
class Pulled:
    """What a pull did, in files."""

    kept: int = 0
    """Right already."""
    copied: int = 0
    cloned: int = 0
    """Copied without taking room."""
    replaced: int = 0
    """Laid out from a replacement."""
    problems: int = 0

    @property
    def files(self) -> int:
        """How many of the release's files are in place and right."""
        return self.kept + self.copied + self.cloned + self.replaced


@dataclass(slots=True)
class _Pull:
    source: ReleaseSource
    place: Destination
    inside: Inside
    done: Pulled = field(default_factory=Pulled)
    can_clone: bool = hasattr(fcntl, "ioctl")

    def lay(self, row: ManifestRow) -> Problem | None:
        """Put one file in its place unless it is there already."""
        raw = row.file_name.encode("utf-8")
        if self._is_right(raw, row):
            self.done.kept += 1
            return None
        problem = self._replacement(row) if row.source_sha256 else self._original(raw, row)
        if problem is None:
            self.place.accept_part(raw)
        return problem

    def clear_away(self, problem: Problem, *, delete: bool) -> Problem | None:
        """Delete a file that no row lists, or let it stay a problem."""
        if not delete:
            return problem
        self.place.remove(problem.raw_path)
        return None

    def _is_right(self, raw: bytes, row: ManifestRow) -> bool:
        handle = self.place.open_present(raw)
        if handle is None:
            return False
        try:
            return os.fstat(handle).st_size == row.size and _holds(handle, row)
        finally:
            os.close(handle)

    def _original(self, raw: bytes, row: ManifestRow) -> Problem | None:
        try:
            handle = self.inside.open(raw)
        except Missing:
            return Problem(Fault.MISSING, row.file_name, "not below the root")
        except SickbayError as error:
            return Problem(Fault.CHANGED, row.file_name, error.sentence)
        try:
            cloned = self._write_part(handle, row.size)
        finally:
            os.close(handle)
        if not self._part_holds(row):
            return Problem(Fault.CHANGED, row.file_name, "not the bytes that were released")
        self.done.cloned += cloned
        self.done.copied += not cloned
        return None

    def _replacement(self, row: ManifestRow) -> Problem | None:
        try:
            self.source.fetch_replacement(row.sha256, self.place.part)
        except NotFound as error:
            return Problem(Fault.MISSING, row.file_name, error.sentence)
        if not self._part_holds(row):
            return Problem(Fault.CHANGED, row.file_name, "its replacement is not what was released")
        self.done.replaced += 1
        return None

    def _write_part(self, source: int, size: int) -> bool:
        """Copy what is open; say whether it took no room. What was written is checked later."""
        try:
            part = os.open(self.place.part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            try:
                if self.can_clone and self._clone(source, part):
                    return True
                _copy(source, part, size)
            finally:
                os.close(part)
        except OSError as error:
            raise StorageFailed(
                f"{self.place.path} cannot be written: {error.strerror}. Make room; "
                "pulling again goes on from here."
            ) from error
        return False

    def _clone(self, source: int, part: int) -> bool:
        try:
            fcntl.ioctl(part, _FICLONE, source)
        except OSError:
            self.can_clone = False  # another file system, or one that cannot: do not ask again
            return False
        return True

    def _part_holds(self, row: ManifestRow) -> bool:
        with self.place.part.open("rb", buffering=0) as part:
            return _holds(part.fileno(), row)


def pull(
    source: ReleaseSource,
    *,
    data_set: str,
    to: Path,
    root: Path,
    delete_extra: bool = False,
    tell: Callable[[Problem], None],
    step: Step = unwatched,
) -> Pulled:
    """Lay a release out in a folder.

    Files there that the release does not list are named; they stay unless ``delete_extra``, as
    they may be somebody's, and they count as problems, as a loader would read them.

    Args:
        source: where the release comes from.
        data_set: the name it must be a release of.
        to: an empty or new folder, or one with an earlier pull of this data set.
        root: where the originals are; only read.
        delete_extra: delete what the release does not list.
        tell: is called with each problem as it is found.
        step: is called after each file with its size and that of all, in bytes.

    Raises:
        Refused: the folder holds something else; or the release's files are not as its id says.
        BadInput: root and folder lie in one another; the release is none or lists unsafe names.
        NotFound: the root is not there, or the release is gone.
        StorageFailed: the folder cannot be written to.
        Unreachable: the server does not answer.
    """
    if not root.is_dir():
        raise BadInput(f"There is no folder {str(root)!r}; check --root.")
    with destination(to, root, data_set) as place, Inside(root) as inside:
        for name in FILES:
            source.fetch(name, place.staging / name)
        version = metadata.check_metadata(place.staging, source.digest)
        if version.name != data_set:
            raise NotFound(f"That is a release of {version.name!r}, not of {data_set!r}.")
        place.begin()
        work = _Pull(source, place, inside)
        total = version.counts["bytes"]
        for problem in _work_off(work, total, delete_extra=delete_extra, step=step):
            work.done.problems += 1
            tell(problem)
        place.finish()
    return work.done


def _work_off(work: _Pull, total: int, *, delete_extra: bool, step: Step) -> Iterator[Problem]:
    listing = Listing(work.place.staging)
    for found in listing.beside(work.place.path, leaving_out=(*FILES, STAGING)):
        if isinstance(found, Problem):
            problem = work.clear_away(found, delete=delete_extra)
        else:
            problem = work.lay(found)
            step(found.size, total)
        if problem is not None:
            yield problem


def _copy(source: int, part: int, size: int) -> None:
    """Copy at most one byte more than expected: enough to see that a file grew."""
    left = size + 1
    while left and (block := os.read(source, min(digest.BLOCK, left))):
        left -= len(block)
        while block:
            block = block[os.write(part, block) :]


def _holds(handle: int, row: ManifestRow) -> bool:
    return digest.of_handle(handle, row.size) == row.sha256
