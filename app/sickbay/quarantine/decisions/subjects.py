"""Samples as a move needs them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import select
from sqlalchemy.orm import Session

from sickbay.contract.defects import Severity
from sickbay.contract.paths import SamplePath, unsafe_reason
from sickbay.quarantine.decisions.standing import Standing
from sickbay.quarantine.tables import Finding, Sample

CHUNK = 500
"""Samples read and written at once."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A sample as a move needs it."""

    id: int
    version: int
    raw_path: bytes
    split: str
    label: str
    sha256: str | None
    standing: Standing
    codes: frozenset[str]
    blocking: frozenset[str]

    @property
    def unsafe(self) -> str | None:
        """Why its name cannot stand in a manifest, or nothing."""
        return unsafe_reason(SamplePath(self.raw_path))


def subjects(session: Session, data_set_id: int, ids: Sequence[int]) -> dict[int, Subject]:
    """Return those of the samples that are in the data set now, by key, locked for a move."""
    found: dict[int, Subject] = {}
    for some in chunks(ids):
        severities = _severities(session, some)
        rows = session.execute(
            select(
                Sample.id,
                Sample.version,
                Sample.raw_path,
                Sample.split,
                Sample.label,
                Sample.sha256,
                Sample.status,
                Sample.held_at,
                Sample.replacement,
                Sample.approved_codes,
                Sample.decided_sha256,
            )
            .where(Sample.data_set_id == data_set_id, Sample.gone.is_(False), Sample.id.in_(some))
            .with_for_update()
        )
        for key, version, raw, split, label, sha256, status, held_at, *rest in rows:
            replacement, approved, decided = rest
            standing = Standing(status, held_at, replacement, frozenset(approved or ()), decided)
            codes = severities.get(key, {})
            blocking = frozenset(code for code, worst in codes.items() if worst is Severity.BLOCK)
            found[key] = Subject(
                key, version, raw, split, label, sha256, standing, frozenset(codes), blocking
            )
    return found


def _severities(session: Session, ids: Sequence[int]) -> dict[int, dict[str, Severity]]:
    """Return each sample's codes with the worst severity each was found with."""
    found: dict[int, dict[str, Severity]] = {}
    rows = session.execute(
        select(Finding.sample_id, Finding.code, Finding.severity)
        .where(Finding.sample_id.in_(ids))
        .distinct()
    )
    for sample_id, code, severity in rows:
        codes = found.setdefault(sample_id, {})
        codes[code] = min(severity, codes.get(code, severity), key=lambda one: one.rank)
    return found


def chunks(ids: Sequence[int]) -> Iterator[list[int]]:
    """Cut keys into lists that fit into one statement."""
    walking = iter(ids)
    while some := list(islice(walking, CHUNK)):
        yield some
