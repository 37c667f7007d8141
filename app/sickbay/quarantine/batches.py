"""Batches of records on their way in: checked, packed, and read back."""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.batch import content_digest
from sickbay.contract.defects import Severity
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import FileRecord, Finding, Record, SampleRecord
from sickbay.contract.paths import SamplePath
from sickbay.contract.read_record import from_line
from sickbay.quarantine.tables import ScanBatch

_EXTRAS = frozenset({"thumbnail", "stat"})
_LEVEL = 1
"""zlib's fastest: records shrink sixfold even so."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that may be stored: parsed, in order, packed."""

    sha256: str
    packed: bytes
    extras: Mapping[str, Mapping[str, str]]
    content: str
    samples: int
    held: int
    not_decoded: int
    first_path: bytes
    last_path: bytes


@dataclass(frozen=True, slots=True)
class Arrived:
    """A sample record with what travelled beside it."""

    record: SampleRecord
    thumbnail: str | None
    stat: str | None


def check(
    lines: Sequence[bytes], extras: Mapping[str, Mapping[str, str]], body_sha256: str
) -> Batch:
    """Parse and pack a batch of sample and file records, trusting nothing in it.

    This is the slow part of receiving; it needs no database, so call it before the write.

    Raises:
        BadInput: a line is no such record, they are not in ascending order of raw path, or one
            is a folder of another.
    """
    records = [from_line(line) for line in lines]
    paths = [_path(record) for record in records]
    if not paths:
        raise BadInput("A batch holds no records.")
    if any(left >= right for left, right in pairwise(paths)):
        raise BadInput("A batch's records are not in ascending order of their raw paths.")
    ancestry = Ancestry()
    for path in paths:
        ancestry.follow(path)
    samples = [record for record in records if isinstance(record, SampleRecord)]
    return Batch(
        sha256=body_sha256,
        packed=zlib.compress(b"\n".join(line.rstrip(b"\n") for line in lines), _LEVEL),
        extras=_known(extras, {path.hex() for path in paths}),
        content=content_digest(lines, stats_of(extras)),
        samples=len(samples),
        held=sum(record.held for record in samples),
        not_decoded=sum(not record.decoded for record in samples),
        first_path=paths[0],
        last_path=paths[-1],
    )


def stats_of(extras: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """Return what of the extras belongs to a batch's content."""
    return {of: beside["stat"] for of, beside in extras.items() if "stat" in beside}


class Ancestry:
    """Follows ascending raw paths, to find a file that others have as their folder.

    Between ``x`` and ``x/y`` there may be any number of paths that begin with ``x`` too; those
    that begin with ``x`` are all together, so only the present path's beginnings are kept.
    """

    def __init__(self) -> None:
        self._beginnings: list[bytes] = []

    def follow(self, path: bytes) -> None:
        """Take the next path.

        Raises:
            BadInput: an earlier one is its folder; no disk can hold both.
        """
        while self._beginnings and not path.startswith(self._beginnings[-1]):
            self._beginnings.pop()
        if any(path[len(one) : len(one) + 1] == b"/" for one in self._beginnings):
            raise BadInput("The scan has a file that is a folder of another; scan again.")
        self._beginnings.append(path)


def _path(record: Record) -> bytes:
    if not isinstance(record, SampleRecord | FileRecord):
        raise BadInput("A batch holds a record that is neither a sample nor a file.")
    return record.path.raw


def _known(
    extras: Mapping[str, Mapping[str, str]], paths: set[str]
) -> Mapping[str, Mapping[str, str]]:
    if not extras.keys() <= paths or any(not one.keys() <= _EXTRAS for one in extras.values()):
        raise BadInput("A batch brings something for a path that it has no record of.")
    return extras


def records_of(
    session: Session, scan_id: int, number: int, ancestry: Ancestry
) -> Iterator[Arrived | FileRecord]:
    """Yield the samples and files of one batch, in order of raw path.

    Raises:
        BadInput: a sample is a folder of another, which no batch by itself shows.
    """
    packed, extras = session.execute(
        select(ScanBatch.records, ScanBatch.extras).where(
            ScanBatch.scan_id == scan_id, ScanBatch.number == number
        )
    ).one()
    for line in zlib.decompress(packed).split(b"\n"):
        one = _unpacked(json.loads(line), extras)
        path = one.path if isinstance(one, FileRecord) else one.record.path
        ancestry.follow(path.raw)
        yield one


def _unpacked(
    fields: Mapping[str, Any], extras: Mapping[str, Mapping[str, str]]
) -> Arrived | FileRecord:
    """Read a record that :func:`check` accepted before it was stored; it is not checked again."""
    encoded = fields.get("path_bytes")
    path = SamplePath(
        fields["path"].encode("utf-8") if encoded is None else base64.b64decode(encoded)
    )
    findings = tuple(
        Finding(**{**one, "severity": Severity(one["severity"])}) for one in fields["findings"]
    )
    if fields["kind"] == "file":
        return FileRecord(path, findings)
    facts = {name: fields[name] for name in _FACTS}
    beside = extras.get(path.raw.hex(), _NOTHING) if extras else _NOTHING
    record = SampleRecord(path=path, findings=findings, **facts)
    return Arrived(record, beside.get("thumbnail"), beside.get("stat"))


_NOTHING: Mapping[str, str] = {}


_FACTS = (
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
)
