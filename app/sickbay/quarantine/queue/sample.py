"""One sample with everything known of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.defects import DEFECTS, Severity
from sickbay.contract.errors import NotFound
from sickbay.contract.paths import SamplePath, unsafe_reason
from sickbay.contract.rows import Row
from sickbay.quarantine.data_sets import by_id
from sickbay.quarantine.decisions.history import Entry, history
from sickbay.quarantine.decisions.moves import LEGAL
from sickbay.quarantine.found import Known, known_of
from sickbay.quarantine.queue.kinds import (
    ArrayFacts,
    SampleKind,
    array_of,
    excerpt_of,
    row_and_kind,
)
from sickbay.quarantine.queue.page import head_of
from sickbay.quarantine.tables import Action, Replacement, Sample, Source, Status

_OFFERED = frozenset({Action.HOLD, Action.APPROVE, Action.REPAIR, Action.EXCLUDE, Action.REOPEN})


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, with the catalogue's words for its code."""

    code: str
    severity: Severity
    file: str
    item: str | None
    message: str
    detail: Mapping[str, Any]
    source: Source
    found_at: datetime
    meaning: str
    advice: str
    head: str | None
    excerpt: str | None
    array: ArrayFacts | None


@dataclass(frozen=True, slots=True)
class ReplacementView:
    """The file that stands for a repaired sample."""

    sha256: str
    size: int
    width: int | None
    height: int | None
    format: str | None
    mode: str | None
    thumbnail: str | None


@dataclass(frozen=True, slots=True)
class SampleView:
    """Facts, findings (worst first) and history (newest first) of one sample."""

    id: int
    version: int
    path: str
    path_bytes: str | None
    raw_path: bytes
    status: Status
    split: str
    label: str
    size: int | None
    mtime_ns: int | None
    sha256: str | None
    width: int | None
    height: int | None
    format: str | None
    mode: str | None
    decoded: bool | None
    """Whether a decoder or parser went through it; nothing where the scan did not say."""
    stat: str | None
    thumbnail: str | None
    held_at: datetime | None
    replacement: ReplacementView | None
    kind: SampleKind
    row: Row | None
    """Which row of which file it is, where it is one."""
    unsafe: str | None
    """Why its name cannot stand in a manifest, or nothing."""
    findings: tuple[FindingView, ...]
    history: tuple[Entry, ...]
    allowed: frozenset[Action]
    """What a person may do to it now."""

    @property
    def head(self) -> str | None:
        """The first bytes in hex, where a finding has them."""
        return next((one.head for one in self.findings if one.head), None)

    @property
    def excerpt(self) -> str | None:
        """The place in the text that a finding means, where one brings it."""
        return next((one.excerpt for one in self.findings if one.excerpt), None)

    @property
    def array(self) -> ArrayFacts | None:
        """Of the array that a finding means, where one brings it."""
        return next((one.array for one in self.findings if one.array), None)


def view(session: Session, data_set_id: int, sample_id: int) -> SampleView:
    """Return one sample.

    Raises:
        NotFound: it is not in the data set.
    """
    row = session.execute(
        select(*Sample.__table__.c).where(
            Sample.id == sample_id, Sample.data_set_id == data_set_id, Sample.gone.is_(False)
        )
    ).first()
    if row is None:
        raise NotFound("There is no such sample in this data set.")
    facts: dict[str, Any] = {name: getattr(row, name) for name in _FACTS}
    known = known_of(session, [sample_id]).get(sample_id, [])
    path = SamplePath(row.raw_path)
    of_file, kind = row_and_kind(by_id(session, data_set_id).layout, row.raw_path)
    return SampleView(
        **facts,
        path_bytes=path.base64,
        replacement=_replacement(session, row.replacement),
        kind=kind,
        row=of_file,
        unsafe=unsafe_reason(path),
        findings=tuple(_finding(one) for one in sorted(known, key=lambda one: one.severity.rank)),
        history=tuple(history(session, sample_id)),
        allowed=_allowed(
            row.status,
            row.sha256,
            unsafe=unsafe_reason(path) is not None,
            is_row=of_file is not None,
        ),
    )


_FACTS = (
    "id",
    "version",
    "path",
    "raw_path",
    "status",
    "split",
    "label",
    "size",
    "mtime_ns",
    "sha256",
    "width",
    "height",
    "format",
    "mode",
    "decoded",
    "stat",
    "thumbnail",
    "held_at",
)


def _allowed(
    status: Status, sha256: str | None, *, unsafe: bool, is_row: bool
) -> frozenset[Action]:
    unfit = {Action.APPROVE, Action.REPAIR} if unsafe else set()
    if is_row:
        unfit.add(Action.REPAIR)
    if sha256 is None:
        unfit.add(Action.APPROVE)
    return frozenset(
        action for action in _OFFERED if status in LEGAL[action][0] and action not in unfit
    ) - (set() if status is Status.CLEAN else {Action.HOLD})


def _finding(known: Known) -> FindingView:
    entry = DEFECTS.get(known.code)
    return FindingView(
        code=known.code,
        severity=known.severity,
        file=known.file,
        item=known.item,
        message=known.message,
        detail=known.detail,
        source=known.source,
        found_at=known.found_at,
        meaning="" if entry is None else entry.meaning,
        advice="" if entry is None else entry.advice,
        head=head_of(known.detail),
        excerpt=excerpt_of(known.detail),
        array=array_of(known.detail),
    )


def _replacement(session: Session, sha256: str | None) -> ReplacementView | None:
    found = None if sha256 is None else session.get(Replacement, sha256)
    if found is None:
        return None
    return ReplacementView(
        sha256=found.sha256,
        size=found.size,
        width=found.width,
        height=found.height,
        format=found.format,
        mode=found.mode,
        thumbnail=found.thumbnail,
    )
