"""Writes the files of a release into a draft folder, in one pass over the samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sickbay.blobs import Blobs
from sickbay.contract import canonical
from sickbay.contract.errors import BadInput, NotFound, Refused
from sickbay.contract.manifest import (
    IN_ID,
    MANIFEST,
    METADATA_SUMS,
    QUARANTINE,
    RELEASE,
    STATS,
    SUMS,
    VERSION,
    check_name,
    sums_line,
)
from sickbay.contract.version import COUNTS, FileEntry, Version
from sickbay.quarantine.tables import DataSet, Sample, Status
from sickbay.releases.check import DiskCheck
from sickbay.releases.contents import Item, items
from sickbay.releases.counts import Counts
from sickbay.releases.draft import HashedFile
from sickbay.releases.stats import Statistics


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file as it was written."""

    entry: FileEntry
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The files that the id covers, and version.json, whose SHA-256 is the id."""

    digest: str
    counts: Counts
    files: tuple[WrittenFile, ...]


def write_contents(
    session: Session, data_set: DataSet, folder: Path, *, blobs: Blobs, check: DiskCheck | None
) -> Written:
    """Write everything that the id covers.

    Raises:
        Refused: files changed on disk, a sample cannot be listed, or the numbers do not add up.
    """
    labels = {name: index for index, name in enumerate(sorted(data_set.classes))}
    with (
        HashedFile(folder, MANIFEST) as manifest,
        HashedFile(folder, SUMS) as sums,
        HashedFile(folder, QUARANTINE) as quarantine,
    ):
        listing = _Listing(manifest, sums, quarantine, blobs, labels, Statistics())
        for item in items(session, data_set.id):
            if check is not None and item.status not in (Status.HELD, Status.EXCLUDED):
                check.look(item)
            listing.add(item)
    if check is not None:
        check.refuse_changes()
    counts = listing.statistics.counts()
    _check_numbers(session, data_set, counts, listing)
    stats = write_document(folder, STATS, listing.statistics.document(labels))
    listed = {
        file.name: WrittenFile(file.entry, file.rows) for file in (manifest, sums, quarantine)
    }
    files = tuple((listed | {STATS: stats})[name] for name in IN_ID)
    return _write_version(folder, data_set.name, counts, files)


def write_document(folder: Path, name: str, value: Any) -> WrittenFile:
    """Write one canonical JSON document."""
    with HashedFile(folder, name) as file:
        file.write(canonical.document(value))
    return WrittenFile(file.entry)


def write_release(
    folder: Path, written: Written, facts: Mapping[str, Any]
) -> tuple[WrittenFile, ...]:
    """Write what lies outside the id: release.json, and the sums of all files."""
    release = write_document(folder, RELEASE, {"id": written.digest, **facts})
    files = (*written.files, release)
    with HashedFile(folder, METADATA_SUMS) as sums:
        for file in sorted(files, key=lambda file: file.entry.name):
            sums.write(sums_line(file.entry.sha256, file.entry.name))
    return (*files, WrittenFile(sums.entry))


@dataclass(slots=True)
class _Listing:
    manifest: HashedFile
    sums: HashedFile
    quarantine: HashedFile
    blobs: Blobs
    labels: dict[str, int]
    statistics: Statistics

    def add(self, item: Item) -> None:
        """Put a sample where its status says."""
        size = 0
        if item.status is not Status.CLEAN:
            self.quarantine.write(item.to_quarantine(self.labels).line())
        if item.status not in (Status.HELD, Status.EXCLUDED):
            size = self._keep(item)
        self.statistics.add(item.split, item.label, item.status, item.size or 0, size)

    def _keep(self, item: Item) -> int:
        row = item.to_manifest(self.labels)
        try:
            check_name(row.file_name)
        except BadInput as error:
            raise Refused(
                f"{error.sentence} Rename {row.file_name!r} and scan again, or leave it out."
            ) from None
        if item.status is Status.REPAIRED:
            self._find_replacement(item)
        self.manifest.write(row.line())
        self.sums.write(sums_line(row.sha256, row.file_name))
        return row.size

    def _find_replacement(self, item: Item) -> None:
        try:
            whole = self.blobs.path(item.replacement or "").stat().st_size == item.replacement_size
        except (NotFound, OSError):
            whole = False
        if not whole:
            raise Refused(
                f"The replacement for {item.path!r} is not in the state's blobs (any more). "
                "Restore a backup, or decide on that sample again."
            )


def _check_numbers(session: Session, data_set: DataSet, counts: Counts, listing: _Listing) -> None:
    """Check kept + excluded + pending = samples, against the database and the files' rows."""
    query = select(func.count()).select_from(Sample)
    recorded = session.scalar(
        query.where(Sample.data_set_id == data_set.id, Sample.gone.is_(False))
    )
    decided = counts.approved + counts.repaired + counts.excluded
    if (
        counts.kept + counts.excluded + counts.pending != recorded
        or listing.manifest.rows != counts.kept
        or listing.quarantine.rows != decided + counts.pending
    ):
        raise Refused(
            f"The numbers do not add up: {counts.kept:,} kept, {counts.excluded:,} left out, "
            f"{counts.pending:,} undecided of {recorded:,} samples. No release was made."
        )


def _write_version(
    folder: Path, name: str, counts: Counts, files: tuple[WrittenFile, ...]
) -> Written:
    numbers = counts.as_dict()
    version = Version(
        name=name,
        counts={key: numbers[key] for key in COUNTS},
        files=tuple(file.entry for file in files),
    )
    with HashedFile(folder, VERSION) as file:
        file.write(version.to_bytes())
    return Written(file.entry.sha256, counts, (*files, WrittenFile(file.entry)))
