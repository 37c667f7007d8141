"""Tables of the quarantine: data sets, scans, samples, findings, policies, decisions.

A sample's ``status`` and the ``decision`` that made it change together, in one transaction.
``tally`` counts samples by status and facet, so that pages need not count a hundred thousand
rows; it is kept by the function that moves samples, and counted anew after each scan.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Depth
from sickbay.database.tables import Base, BigId


class Status(StrEnum):
    """Where a sample stands."""

    CLEAN = "clean"
    HELD = "held"
    APPROVED = "approved"
    REPAIRED = "repaired"
    EXCLUDED = "excluded"


class Action(StrEnum):
    """What was done to a sample. ``clear`` is the scan's word for "found in order again"."""

    HOLD = "hold"
    APPROVE = "approve"
    REPAIR = "repair"
    EXCLUDE = "exclude"
    REOPEN = "reopen"
    UNDO = "undo"
    CLEAR = "clear"


class Source(StrEnum):
    """Who made a finding."""

    SCAN = "scan"
    TRAINING = "training"


class ScanState(StrEnum):
    """How far a scan came."""

    RECEIVING = "receiving"
    FINISHED = "finished"
    ABANDONED = "abandoned"


class DataSet(Base):
    """A named collection of samples under one root."""

    __tablename__ = "data_set"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    root: Mapped[str | None]
    """Set by the local command line only; nothing where this machine does not see the files."""
    layout: Mapped[str] = mapped_column(String(32))
    classes: Mapped[list[str]]
    scan_id: Mapped[int | None]
    """The scan in force."""
    created_at: Mapped[datetime]


class Scan(Base):
    """One pass over a data set."""

    __tablename__ = "scan"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    key: Mapped[str] = mapped_column(String(32), unique=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"), index=True)
    number: Mapped[int]
    """Counts the scans of its data set from 1."""
    state: Mapped[ScanState]
    layout: Mapped[str] = mapped_column(String(32))
    classes: Mapped[list[str]]
    root: Mapped[str | None]
    """Where the files lie on this machine; becomes the data set's root when the scan is done."""
    policy: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)
    """What it was told to find, all of it; nothing where it is older than policies."""
    depth: Mapped[Depth | None]
    labels: Mapped[dict[str, Any] | None] = mapped_column(deferred=True)
    """Samples by split and label."""
    findings: Mapped[list[dict[str, Any]] | None] = mapped_column(JSON, deferred=True)
    """Of the data set as a whole, as in the summary's record."""
    summary: Mapped[dict[str, Any] | None]
    started_by: Mapped[str] = mapped_column(String(80))
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class ScanBatch(Base):
    """Records received for a scan that is not in force yet; deleted when it is."""

    __tablename__ = "scan_batch"
    __table_args__ = (UniqueConstraint("scan_id", "number"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    scan_id: Mapped[int] = mapped_column(ForeignKey("scan.id"))
    number: Mapped[int]
    """Counts from 0; batches come in order of raw path."""
    sha256: Mapped[str] = mapped_column(String(64))
    records: Mapped[bytes] = mapped_column(LargeBinary)
    """NDJSON of sample and file records, zlib-compressed."""
    extras: Mapped[dict[str, Any]]
    """By raw path in hex: ``thumbnail`` (SHA-256) and ``stat`` (device:inode:ctime_ns)."""
    samples: Mapped[int]
    """How many sample records it holds."""
    held: Mapped[int]
    """How many of them are held."""
    not_decoded: Mapped[int | None]
    """How many of them no decoder looked into."""
    first_path: Mapped[bytes | None] = mapped_column(LargeBinary)
    last_path: Mapped[bytes] = mapped_column(LargeBinary)
    """Raw path of the last record; the next batch goes on after it."""
    content: Mapped[str | None] = mapped_column(String(64))
    """Digest of all that it says: see ``contract.batch``."""
    repeats: Mapped[bool | None]
    """It says what a part of the scan in force said, and brings no records."""


class Sample(Base):
    """One training item, as the scan in force and the decisions left it."""

    __tablename__ = "sample"
    __table_args__ = (
        UniqueConstraint("data_set_id", "raw_path"),
        Index("ix_sample_status_path", "data_set_id", "gone", "status", "raw_path"),
        Index("ix_sample_status_held", "data_set_id", "gone", "status", "held_at", "id"),
        Index("ix_sample_status_failures", "data_set_id", "gone", "status", "failures", "raw_path"),
        Index("ix_sample_sha256", "data_set_id", "sha256"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"))
    raw_path: Mapped[bytes] = mapped_column(LargeBinary)
    path: Mapped[str]
    split: Mapped[str]
    label: Mapped[str]
    size: Mapped[int | None]
    mtime_ns: Mapped[int | None]
    sha256: Mapped[str | None] = mapped_column(String(64))
    width: Mapped[int | None]
    height: Mapped[int | None]
    format: Mapped[str | None] = mapped_column(String(32))
    mode: Mapped[str | None] = mapped_column(String(32))
    decoded: Mapped[bool | None]
    """Whether a decoder or parser went through it; nothing where an older scan did not say."""
    stat: Mapped[str | None]
    """``device:inode:ctime_ns`` where the scan ran on this machine."""
    status: Mapped[Status]
    version: Mapped[int]
    """Goes up by one with each change of status or content; decisions compare and set it."""
    worst_code: Mapped[str | None] = mapped_column(String(64))
    worst_severity: Mapped[Severity | None]
    findings: Mapped[int]
    """How many findings it has."""
    failures: Mapped[int] = mapped_column(server_default="0")
    """In how many failures of training runs it was in the batch."""
    approved_codes: Mapped[list[str] | None]
    """The blocking codes its approval covers, on the content of ``decided_sha256``."""
    decided_sha256: Mapped[str | None] = mapped_column(String(64))
    """The content that the approval, repair or exclusion in force was decided on."""
    replacement: Mapped[str | None] = mapped_column(String(64))
    thumbnail: Mapped[str | None] = mapped_column(String(64))
    held_at: Mapped[datetime | None]
    scan_id: Mapped[int]
    """The last scan that found it."""
    gone: Mapped[bool]
    """The scan in force did not find it: no part of the data set, its history is kept."""


class Finding(Base):
    """One thing wrong with one sample."""

    __tablename__ = "finding"
    __table_args__ = (
        Index("ix_finding_sample_code", "sample_id", "code"),
        Index("ix_finding_code_sample", "data_set_id", "code", "sample_id"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"))
    sample_id: Mapped[int] = mapped_column(ForeignKey("sample.id"))
    code: Mapped[str] = mapped_column(String(64))
    severity: Mapped[Severity]
    file: Mapped[str]
    item: Mapped[str | None]
    message: Mapped[str]
    detail: Mapped[dict[str, Any]]
    source: Mapped[Source]
    found_at: Mapped[datetime]


class FileFinding(Base):
    """One thing wrong with a file that is no sample, found by the scan in force."""

    __tablename__ = "file_finding"
    __table_args__ = (Index("ix_file_finding_place", "data_set_id", "raw_path", "id"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"))
    scan_id: Mapped[int]
    """The last scan that made it."""
    raw_path: Mapped[bytes] = mapped_column(LargeBinary)
    code: Mapped[str] = mapped_column(String(64))
    severity: Mapped[Severity]
    item: Mapped[str | None]
    message: Mapped[str]
    detail: Mapped[dict[str, Any]]
    found_at: Mapped[datetime]


class PolicyChange(Base):
    """A data set's policy as somebody set it; the newest is in force, none is ever changed."""

    __tablename__ = "policy_change"
    __table_args__ = (UniqueConstraint("data_set_id", "version"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"))
    version: Mapped[int]
    """Counts the changes of its data set from 1."""
    policy: Mapped[dict[str, Any]]
    """What differs from the defaults."""
    changed_by: Mapped[str] = mapped_column(String(80))
    changed_at: Mapped[datetime]


class Replacement(Base):
    """Facts of a stored replacement file; its bytes are a blob."""

    __tablename__ = "replacement"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int]
    width: Mapped[int | None]
    height: Mapped[int | None]
    format: Mapped[str | None] = mapped_column(String(32))
    mode: Mapped[str | None] = mapped_column(String(32))
    thumbnail: Mapped[str | None] = mapped_column(String(64))


class Decision(Base):
    """What was done to a sample, by whom and why; never changed, never deleted."""

    __tablename__ = "decision"
    __table_args__ = (
        Index("ix_decision_sample", "sample_id", "id"),
        Index("ix_decision_reviewer", "data_set_id", "reviewer", "id"),
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"))
    sample_id: Mapped[int] = mapped_column(ForeignKey("sample.id"))
    batch: Mapped[str] = mapped_column(String(32), index=True)
    """Shared by the decisions of one act; undo takes back a whole batch."""
    action: Mapped[Action]
    was: Mapped[Status]
    became: Mapped[Status]
    reason: Mapped[str] = mapped_column(String(32))
    note: Mapped[str]
    reviewer: Mapped[str] = mapped_column(String(80))
    at: Mapped[datetime]
    sha256: Mapped[str | None] = mapped_column(String(64))
    """The content it was taken on."""
    before: Mapped[dict[str, Any]]
    """What undo restores besides the status: see ``decisions.standing``."""
    undoes: Mapped[str | None] = mapped_column(String(32), index=True)
    """The batch that this undo takes back."""


class Tally(Base):
    """How many samples of a data set have a status and a facet's value.

    Facets: ``""`` (all), ``code``, ``split``, ``label``.
    """

    __tablename__ = "tally"

    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"), primary_key=True)
    status: Mapped[Status] = mapped_column(primary_key=True)
    facet: Mapped[str] = mapped_column(String(16), primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)
    samples: Mapped[int]
