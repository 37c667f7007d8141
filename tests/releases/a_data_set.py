"""A small data set on disk and in the database: scanned, decided on and released for real."""

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from sickbay.blobs import Blobs
from sickbay.contract.finding import Finding, SampleRecord, ScanRecord, SummaryRecord, to_line
from sickbay.contract.paths import SamplePath
from sickbay.database import Database
from sickbay.quarantine import data_sets, intake
from sickbay.quarantine.decisions.decide import Pick, decide
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.decisions.undo import undo
from sickbay.quarantine.tables import Action, Sample
from sickbay.releases.make import Made, make


@dataclass
class ADataSet:
    """What tests need of one data set: add samples, scan, decide, release."""

    database: Database
    state: Path
    root: Path
    name: str = "animals"
    classes: tuple[str, ...] = ("dog", "cat")
    rooted: bool = True
    layout: str = "imagefolder"
    records: dict[bytes, tuple[SampleRecord, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.blobs = Blobs(self.state / "blobs")
        self.releases = self.state / "releases"

    def add(
        self,
        path: str | bytes,
        *codes: str,
        content: bytes | None = None,
        split: str = "train",
        label: str = "cat",
    ) -> None:
        """Write a file and remember its record, with a finding for each code."""
        raw = os.fsencode(path)
        content = b"content of " + raw if content is None else content
        place = self.root / os.fsdecode(raw)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        found = place.stat()
        where = SamplePath(raw)
        record = SampleRecord(
            path=where,
            split=split,
            label=label,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
            sha256=hashlib.sha256(content).hexdigest(),
            width=4,
            height=3,
            format="JPEG",
            mode="RGB",
            findings=tuple(Finding.of(code, where.text, f"It shows {code}.") for code in codes),
        )
        self.records[raw] = record, f"{found.st_dev}:{found.st_ino}:{found.st_ctime_ns}"

    def scan(self) -> None:
        """Hand all records in, as one scan."""
        records = [self.records[raw][0] for raw in sorted(self.records)]
        stats = {raw.hex(): {"stat": stat} for raw, (_, stat) in self.records.items()}
        held = sum(record.held for record in records)
        clean = len(records) - held
        summary = SummaryRecord(found=len(records), clean=clean, held=held, skipped=0)
        header = ScanRecord(self.name, self.layout, self.classes)
        root = str(self.root) if self.rooted else None

        def act(session: Session) -> None:
            key = intake.begin(session, header, "anna", root).key
            if records:
                batch = intake.check([to_line(record) for record in records], stats, "0" * 64)
                intake.receive(session, key, 0, batch)
            intake.finish(session, key, summary)

        self.database.writing(act)

    def decide(self, path: str, action: Action, reason: str = "", by: str = "anna") -> str:
        """Decide on one sample; return the batch."""

        def act(session: Session) -> str:
            sample = self._sample(session, path)
            pick = Pick(sample.id, sample.version)
            act = decide(session, sample.data_set_id, [pick], action, reason=reason, reviewer=by)
            return act.batch

        return self.database.writing(act)

    def repair(self, path: str, data: bytes, by: str = "anna") -> str:
        """Put a replacement in a sample's place; return the batch."""
        digest = self.blobs.put(data)
        facts = Facts(digest, len(data), 4, 3, "PNG", "RGB", None)

        def act(session: Session) -> str:
            sample = self._sample(session, path)
            pick = Pick(sample.id, sample.version)
            return repair(session, sample.data_set_id, pick, facts, reviewer=by).batch

        return self.database.writing(act)

    def undo(self, batch: str, by: str = "anna") -> str:
        """Take an act back; return the undo's own batch."""

        def act(session: Session) -> str:
            data_set_id = data_sets.find(session, self.name).id
            return undo(session, data_set_id, batch, reviewer=by).batch

        return self.database.writing(act)

    def falsify(self, path: str, **facts: object) -> None:
        """Set recorded facts of a sample, behind everybody's back."""

        def act(session: Session) -> None:
            sample_id = self._sample(session, path).id
            session.execute(update(Sample).where(Sample.id == sample_id).values(**facts))

        self.database.writing(act)

    def make(
        self, *, by: str = "anna", require_decided: bool = False, root: Path | None = None
    ) -> Made:
        """Make a release."""
        return make(
            self.database,
            releases=self.releases,
            blobs=self.blobs,
            data_set=self.name,
            by=by,
            require_decided=require_decided,
            root=root,
        )

    def folder(self, made: Made) -> Path:
        """Return where a release's files are."""
        return self.releases / made.digest

    def left_over(self) -> list[str]:
        """Return what lies among the releases, finished or not."""
        return sorted(path.name for path in self.releases.iterdir() if path.name != ".lock")

    def _sample(self, session: Session, path: str) -> Sample:
        data_set_id = data_sets.find(session, self.name).id
        query = select(Sample).where(Sample.data_set_id == data_set_id, Sample.path == path)
        return session.scalars(query).one()


def with_every_decision(data_set: ADataSet) -> None:
    """Fill a data set with one sample of each status, in two classes."""
    data_set.add("train/cat/1.jpg")
    data_set.add("train/cat/2.jpg", "image.truncated")
    data_set.add("train/dog/3.jpg", "image.damaged", label="dog")
    data_set.add("train/dog/4.jpg", "image.truncated", "image.exif-rotated", label="dog")
    data_set.add("train/dog/5.jpg", "image.truncated", label="dog")
    data_set.scan()
    data_set.decide("train/cat/2.jpg", Action.EXCLUDE, "damaged")
    data_set.repair("train/dog/3.jpg", b"better")
    data_set.decide("train/dog/4.jpg", Action.APPROVE)


def tree_digest(root: Path) -> str:
    """Return one digest of every name, kind, mode, size, time and byte below a folder."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        found = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        facts = (os.fsencode(path), found.st_mode, found.st_size, found.st_mtime_ns, content)
        digest.update(repr(facts).encode())
    return digest.hexdigest()
