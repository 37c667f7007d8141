"""Making a release: from a data set's present state to files that never change again.

The order is what makes a crash harmless: write into a draft folder, sync it, rename it to its
digest, and only then write the row that makes it a release. Making what was made before finds
the files it would write, and gives back the release that is there.
"""

import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from sickbay.blobs import Blobs
from sickbay.contract.errors import Refused, SickbayError
from sickbay.database import Database
from sickbay.database.tables import now
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import DataSet
from sickbay.releases import draft, record
from sickbay.releases.check import disk_check
from sickbay.releases.counts import Counts, count
from sickbay.releases.rows import refuse_rows
from sickbay.releases.warnings import warnings
from sickbay.releases.write import Written, write_contents, write_release


@dataclass(frozen=True, slots=True)
class Made:
    """What a making came to."""

    digest: str
    counts: Counts
    checked_on_disk: bool
    """Whether the files were compared with what the scan recorded."""
    already_there: bool
    """Whether the same samples and decisions had been released before."""
    warnings: tuple[str, ...]


def make(
    database: Database,
    *,
    releases: Path,
    blobs: Blobs,
    data_set: str,
    by: str,
    require_decided: bool = False,
    root: Path | None = None,
) -> Made:
    """Make a release of a data set as it stands.

    Args:
        database: the state's.
        releases: the state's folder of releases.
        blobs: the state's stored files; replacements must be there.
        data_set: its name.
        by: who makes it; recorded outside the id.
        require_decided: refuse while samples are held and undecided.
        root: where the files are, if not where the scan found them.

    Raises:
        NotFound: no such data set.
        Refused: never scanned; undecided samples; files that changed since the scan (named);
            samples that are rows of a file.
        Busy: another release is being made.
        StorageFailed: disk full, read-only or broken. Nothing was made.
    """
    with draft.alone(releases), draft.new_folder(releases) as folder:
        with database.reading() as session:
            found = data_sets.find(session, data_set)
            refuse_rows(session, found)
            _refuse_undecided(session, found, require_decided=require_decided)
            with disk_check(found.root, root) as check, draft.storage_errors():
                written = write_contents(session, found, folder, blobs=blobs, check=check)
            told = warnings(session, found.id)
            parent = record.latest_digest(session, found.id)
        facts = _facts(written, parent, told, by, checked=check is not None)
        already_there = _publish(database, found.id, folder, written, facts)
    return Made(written.digest, written.counts, check is not None, already_there, told)


def _refuse_undecided(session: Session, data_set: DataSet, *, require_decided: bool) -> None:
    counts = count(session, data_set.id)
    if not counts.samples and data_set.scan_id is None:
        raise Refused(f"{data_set.name} has not been scanned yet; scan it first.")
    if require_decided and counts.pending:
        raise Refused(
            f"Held samples of {data_set.name} without a decision: {counts.pending:,}. "
            "Decide on them, or make the release without requiring that."
        )


def _facts(
    written: Written, parent: str | None, told: tuple[str, ...], by: str, *, checked: bool
) -> dict[str, Any]:
    """Return what release.json says besides the id."""
    return {
        "checked_on_disk": checked,
        "counts": written.counts.as_dict(),
        "created_at": now().isoformat(),
        "created_by": by,
        "parent": "" if parent in (None, written.digest) else parent,
        "tool": f"sickbay {version('sickbay')}",
        "warnings": list(told),
    }


def _publish(
    database: Database, data_set_id: int, folder: Path, written: Written, facts: dict[str, Any]
) -> bool:
    """Rename the draft and record it; say whether the release was there before."""
    target = folder.with_name(written.digest)
    known = database.writing(
        lambda session: record.made_again(session, data_set_id, written.digest)
    )
    if known and target.is_dir():
        return True
    with draft.storage_errors():
        shutil.rmtree(target, ignore_errors=True)  # what a crash left before it was recorded
        files = write_release(folder, written, facts)
        draft.put_in_place(folder, target)
    try:
        database.writing(lambda session: record.add(session, data_set_id, written, files, facts))
    except SickbayError:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return False
