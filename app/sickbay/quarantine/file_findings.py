"""Findings of files that are no samples: annotation files, lists, what was skipped.

They hold nothing, as nobody trains on such a file; they stand beside the queue until a scan
makes them no more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, func, or_, select
from sqlalchemy.orm import Session

from sickbay.contract.defects import DEFECTS, Severity
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord
from sickbay.contract.paths import SamplePath
from sickbay.quarantine.bulk import insert_rows
from sickbay.quarantine.tables import FileFinding, Scan

MAX_PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class FileFindingView:
    """A finding of a file, with the catalogue's words for its code."""

    id: int
    path: str
    path_bytes: str | None
    code: str
    severity: Severity
    item: str | None
    message: str
    detail: Mapping[str, Any]
    found_at: datetime
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class FileFindingPage:
    """Some findings out of many. ``first`` and ``last`` count from 1; both are 0 on none."""

    rows: tuple[FileFindingView, ...]
    next_after: int | None
    first: int
    last: int
    total: int


def store(session: Session, scan: Scan, files: Sequence[FileRecord], at: datetime) -> None:
    """Put what a scan reports of these files in place of what is on record.

    A finding that persists keeps its time.
    """
    if not files:
        return
    of_files = (
        FileFinding.data_set_id == scan.data_set_id,
        FileFinding.raw_path.in_([one.path.raw for one in files]),
    )
    known = session.execute(
        select(
            FileFinding.raw_path, FileFinding.code, FileFinding.item, FileFinding.found_at
        ).where(*of_files)
    )
    since = {(raw, code, item): found_at for raw, code, item, found_at in known}
    session.execute(
        delete(FileFinding).where(*of_files).execution_options(synchronize_session=False)
    )
    insert_rows(session, FileFinding, [row for one in files for row in _rows(scan, one, since, at)])


def _rows(
    scan: Scan,
    file: FileRecord,
    since: Mapping[tuple[bytes, str, str | None], datetime],
    at: datetime,
) -> list[dict[str, Any]]:
    return [
        {
            "data_set_id": scan.data_set_id,
            "scan_id": scan.id,
            "raw_path": file.path.raw,
            "code": one.code,
            "severity": one.severity,
            "item": one.item,
            "message": one.message,
            "detail": one.detail,
            "found_at": since.get((file.path.raw, one.code, one.item), at),
        }
        for one in file.findings
    ]


def drop_others(session: Session, scan: Scan) -> None:
    """Drop what earlier scans of the data set found and this one did not."""
    session.execute(
        delete(FileFinding)
        .where(FileFinding.data_set_id == scan.data_set_id, FileFinding.scan_id != scan.id)
        .execution_options(synchronize_session=False)
    )


def total(session: Session, data_set_id: int, code: str | None = None) -> int:
    """Return how many there are."""
    query = select(func.count()).select_from(FileFinding)
    return session.scalar(query.where(*_of(data_set_id, code))) or 0


def page(
    session: Session,
    data_set_id: int,
    after: int | None = None,
    size: int = 60,
    code: str | None = None,
) -> FileFindingPage:
    """Return findings by file, those of one file as the scan told them, in at most four queries.

    Args:
        session: a reading one.
        data_set_id: whose files.
        after: a page's ``next_after``; nothing for the first page.
        size: findings on the page, 1 to 200.
        code: of this code only.

    Raises:
        BadInput: ``after`` or ``size`` is out of range.
    """
    if not 1 <= size <= MAX_PAGE_SIZE:
        raise BadInput(f"A page has 1 to {MAX_PAGE_SIZE} findings.")
    which = _of(data_set_id, code)
    place = None if after is None else _place(session, data_set_id, after)
    beyond = [] if place is None else [_beyond(*place)]
    found = session.scalars(
        select(FileFinding)
        .where(*which, *beyond)
        .order_by(FileFinding.raw_path, FileFinding.id)
        .limit(size + 1)
    ).all()
    shown = found[:size]
    number = total(session, data_set_id, code)
    rest = 0 if place is None else _count(session, [*which, *beyond])
    before = 0 if place is None else number - rest
    return FileFindingPage(
        rows=tuple(map(_view, shown)),
        next_after=shown[-1].id if len(found) > size else None,
        first=before + 1 if shown else 0,
        last=before + len(shown) if shown else 0,
        total=number,
    )


def _of(data_set_id: int, code: str | None) -> list[Any]:
    which = [FileFinding.data_set_id == data_set_id]
    return which if code is None else [*which, FileFinding.code == code]


def _place(session: Session, data_set_id: int, after: int) -> tuple[bytes, int]:
    raw_path = session.scalar(
        select(FileFinding.raw_path).where(
            FileFinding.data_set_id == data_set_id, FileFinding.id == after
        )
    )
    if raw_path is None:
        raise BadInput("The page to go on from is unknown; start at the first.")
    return raw_path, after


def _beyond(raw_path: bytes, key: int) -> Any:
    return or_(
        FileFinding.raw_path > raw_path,
        and_(FileFinding.raw_path == raw_path, FileFinding.id > key),
    )


def _count(session: Session, which: Sequence[Any]) -> int:
    return session.scalar(select(func.count()).select_from(FileFinding).where(*which)) or 0


def _view(row: FileFinding) -> FileFindingView:
    path, entry = SamplePath(row.raw_path), DEFECTS.get(row.code)
    return FileFindingView(
        id=row.id,
        path=path.text,
        path_bytes=path.base64,
        code=row.code,
        severity=row.severity,
        item=row.item,
        message=row.message,
        detail=row.detail,
        found_at=row.found_at,
        meaning="" if entry is None else entry.meaning,
        advice="" if entry is None else entry.advice,
    )
