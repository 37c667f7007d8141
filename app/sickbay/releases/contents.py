"""The samples of a data set as a release needs them, streamed in order of raw path.

Whatever order decisions were taken in, on whatever database, equal states give equal rows:
nothing here depends on row ids, times or reviewers.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from sickbay.contract.errors import Refused
from sickbay.contract.manifest import UNKNOWN, ManifestRow, QuarantineRow, row_id
from sickbay.quarantine.tables import Decision, Finding, Replacement, Sample, Source, Status

CHUNK = 1000
"""Samples held in memory at once."""

_MIME = {
    "AVIF": "image/avif",
    "BMP": "image/bmp",
    "CUR": "image/x-icon",
    "DIB": "image/bmp",
    "GIF": "image/gif",
    "HEIF": "image/heif",
    "ICO": "image/x-icon",
    "JPEG": "image/jpeg",
    "JPEG2000": "image/jp2",
    "JXL": "image/jxl",
    "MD": "text/markdown",
    "MPO": "image/jpeg",
    "PNG": "image/png",
    "PPM": "image/x-portable-anymap",
    "TGA": "image/x-tga",
    "TIFF": "image/tiff",
    "TXT": "text/plain",
    "WEBP": "image/webp",
}
_DECISION = {
    Status.HELD: "pending",
    Status.APPROVED: "approve",
    Status.REPAIRED: "repair",
    Status.EXCLUDED: "exclude",
}


@dataclass(frozen=True, slots=True)
class Story:
    """Why a sample is or was in quarantine."""

    codes: tuple[str, ...] = ()
    first_seen: str = ""
    reason: str = ""


@dataclass(slots=True)
class Item:
    """One sample of the data set; not frozen, as a million of them are made quickly."""

    id: int
    raw_path: bytes
    path: str
    split: str
    label: str
    size: int | None
    mtime_ns: int | None
    sha256: str | None
    format: str | None
    stat: str | None
    status: Status
    replacement: str | None
    replacement_size: int | None
    replacement_format: str | None
    story: Story = Story()

    def to_manifest(self, labels: dict[str, int]) -> ManifestRow:
        """Return its row in the manifest.

        Raises:
            Refused: what was recorded of it does not suffice to train on it.
        """
        repaired = self.status is Status.REPAIRED
        sha256, size, kind = (
            (self.replacement, self.replacement_size, self.replacement_format)
            if repaired
            else (self.sha256, self.size, self.format)
        )
        if sha256 is None or size is None or (repaired and not self.sha256):
            raise Refused(
                f"{self.path!r} is to be trained on, but its content is not known: "
                "scan the data set again, or leave it out."
            )
        return ManifestRow(
            encoding_format=_MIME.get((kind or "").upper(), "application/octet-stream"),
            file_name=self.path,
            id=row_id(self.raw_path),
            label=labels.get(self.label, UNKNOWN),
            label_name=self.label,
            sha256=sha256,
            size=size,
            source_sha256=(self.sha256 or "") if repaired else "",
            split=self.split,
            status=self.status.value,
        )

    def to_quarantine(self, labels: dict[str, int]) -> QuarantineRow:
        """Return its row in the list of what was in quarantine."""
        repaired = self.status is Status.REPAIRED
        return QuarantineRow(
            codes=list(self.story.codes),
            decision=_DECISION[self.status],
            file_name=self.path,
            first_seen=self.story.first_seen,
            id=row_id(self.raw_path),
            label=labels.get(self.label, UNKNOWN),
            label_name=self.label,
            reason="" if self.status is Status.HELD else self.story.reason,
            replacement_file_name=self.path if repaired else "",
            replacement_sha256=(self.replacement or "") if repaired else "",
            sha256=self.sha256 or "",
            size=UNKNOWN if self.size is None else self.size,
            split=self.split,
        )


def items(session: Session, data_set_id: int) -> Iterator[Item]:
    """Yield every sample of the data set in order of raw path, in constant memory."""
    found = session.execute(_query(data_set_id), execution_options={"yield_per": CHUNK})
    for rows in found.partitions():
        chunk = [Item(*row) for row in rows]
        quarantined = [item for item in chunk if item.status is not Status.CLEAN]
        if quarantined:
            _tell_stories(session, quarantined)
        yield from chunk


def _query(data_set_id: int) -> Select[*tuple[Any, ...]]:
    return (
        select(
            Sample.id,
            Sample.raw_path,
            Sample.path,
            Sample.split,
            Sample.label,
            Sample.size,
            Sample.mtime_ns,
            Sample.sha256,
            Sample.format,
            Sample.stat,
            Sample.status,
            Sample.replacement,
            Replacement.size,
            Replacement.format,
        )
        .outerjoin(Replacement, Replacement.sha256 == Sample.replacement)
        .where(Sample.data_set_id == data_set_id, Sample.gone.is_(False))
        .order_by(Sample.raw_path)
    )


def _tell_stories(session: Session, chunk: Sequence[Item]) -> None:
    ids = [item.id for item in chunk]
    sources: dict[int, dict[str, set[Source]]] = defaultdict(lambda: defaultdict(set))
    findings = select(Finding.sample_id, Finding.code, Finding.source)
    for sample_id, code, source in session.execute(findings.where(Finding.sample_id.in_(ids))):
        sources[sample_id][code].add(source)
    reasons = _reasons(session, ids)
    for item in chunk:
        codes = sources.get(item.id, {})
        item.story = Story(
            codes=tuple(sorted(codes)),
            first_seen=_first_seen(codes.values()),
            reason=reasons.get(item.id, ""),
        )


def _first_seen(sources: Iterable[set[Source]]) -> str:
    """Training's only where no scan saw anything: times would differ between databases."""
    seen = set[Source]().union(*sources)
    if not seen:
        return ""
    return (Source.SCAN if Source.SCAN in seen else Source.TRAINING).value


def _reasons(session: Session, ids: Sequence[int]) -> dict[int, str]:
    """Return the reason of the decision in force of each sample."""
    taken: dict[int, list[tuple[str, str, str | None]]] = defaultdict(list)
    query = (
        select(Decision.sample_id, Decision.batch, Decision.reason, Decision.undoes)
        .where(Decision.sample_id.in_(ids))
        .order_by(Decision.sample_id, Decision.id)
    )
    for sample_id, batch, reason, undoes in session.execute(query):
        taken[sample_id].append((batch, reason, undoes))
    return {sample_id: standing_reason(decisions) for sample_id, decisions in taken.items()}


def standing_reason(decisions: Iterable[tuple[str, str, str | None]]) -> str:
    """Return the reason in force after a sample's decisions, oldest first.

    Each is its batch, its reason, and the batch it undoes. An undo brings back the reason that
    stood before the batch, so that what was done and undone leaves no trace in a release.
    """
    before: dict[str, str] = {}
    standing = ""
    for batch, reason, undoes in decisions:
        before[batch] = standing
        standing = reason if undoes is None else before.get(undoes, "")
    return standing
