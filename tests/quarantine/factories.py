"""Records, scans and samples with defaults, so that a test shows only what matters."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.finding import Finding, SampleRecord, ScanRecord, SummaryRecord, to_line
from sickbay.contract.paths import SamplePath
from sickbay.database import Database
from sickbay.quarantine import data_sets, intake
from sickbay.quarantine.decisions.decide import Act, Pick, decide
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Action, DataSet, Sample, Status

NAME = "road-signs"
EVERY = Filter(status=tuple(Status))


def a_hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def a_record(
    path: str | bytes,
    *codes: str,
    content: str | None = "as it is",
    split: str = "train",
    label: str = "stop",
    detail: Mapping[str, Any] | None = None,
) -> SampleRecord:
    """A sample record with a finding for each code; ``content`` stands for the file's bytes."""
    where = SamplePath(path.encode() if isinstance(path, str) else path)
    return SampleRecord(
        path=where,
        split=split,
        label=label,
        size=None if content is None else len(content),
        mtime_ns=1,
        sha256=None if content is None else a_hash(content),
        width=None,
        height=None,
        format=None,
        mode=None,
        findings=tuple(
            Finding.of(code, where.text, f"It shows {code}.", **(detail or {})) for code in codes
        ),
    )


def a_summary(records: Sequence[SampleRecord]) -> SummaryRecord:
    held = sum(record.held for record in records)
    return SummaryRecord(found=len(records), clean=len(records) - held, held=held, skipped=0)


def sent(
    session: Session,
    records: Sequence[SampleRecord],
    *,
    name: str = NAME,
    size: int = 3,
    extras: Mapping[str, Mapping[str, str]] | None = None,
    root: str | None = None,
) -> str:
    """Send all batches of a scan, without finishing it; return its key."""
    ordered = sorted(records, key=lambda record: record.path)
    key = intake.begin(session, ScanRecord(name, "imagefolder", ("stop", "yield")), "me", root).key
    for number, start in enumerate(range(0, len(ordered), size)):
        lines = [to_line(record) for record in ordered[start : start + size]]
        paths = {record.path.raw.hex() for record in ordered[start : start + size]}
        beside = {path: extra for path, extra in (extras or {}).items() if path in paths}
        digest = hashlib.sha256(b"".join(lines)).hexdigest()
        intake.receive(session, key, number, intake.check(lines, beside, digest))
    return key


def scanned(
    database: Database, records: Iterable[SampleRecord], *, size: int = 1000, **more: Any
) -> Mapping[str, Any]:
    """Send and finish a scan; return what it says it changed."""
    every = list(records)

    def act(session: Session) -> Mapping[str, Any]:
        key = sent(session, every, size=size, **more)
        return intake.finish(session, key, a_summary(every))

    return database.writing(act)


def the_data_set(database: Database, name: str = NAME) -> DataSet:
    with database.reading() as session:
        return data_sets.find(session, name)


def the_sample(database: Database, path: str | bytes) -> Sample:
    raw = path.encode() if isinstance(path, str) else path
    with database.reading() as session:
        return session.scalars(select(Sample).where(Sample.raw_path == raw)).one()


def status_of(database: Database, path: str | bytes) -> Status:
    return the_sample(database, path).status


def decided(
    database: Database, paths: Iterable[str], action: Action, *, reviewer: str = "anna", **more: Any
) -> Act:
    """Decide on samples as they are now."""
    samples = [the_sample(database, path) for path in paths]
    picks = [Pick(sample.id, sample.version) for sample in samples]
    data_set_id = samples[0].data_set_id
    return database.writing(
        lambda session: decide(session, data_set_id, picks, action, reviewer=reviewer, **more)
    )
