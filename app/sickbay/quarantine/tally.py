"""The counts of samples by status and facet, kept so that pages need not count rows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sqlalchemy import Select, delete, func, insert, literal, select, update
from sqlalchemy.orm import Session

from sickbay.quarantine.tables import Finding, Sample, Status, Tally

ALL, CODE, SPLIT, LABEL = "", "code", "split", "label"
"""The facets; under ``ALL`` the only value is an empty text."""

Shift: TypeAlias = Counter[tuple[Status, str, str]]
"""How many samples (status, facet, value) gains or loses."""


def facets_of(split: str, label: str, codes: Iterable[str]) -> list[tuple[str, str]]:
    """Return every (facet, value) under which one sample is counted."""
    return [(ALL, ""), (SPLIT, split), (LABEL, label), *((CODE, code) for code in codes)]


def shift(session: Session, data_set_id: int, changes: Shift) -> None:
    """Add the changes to the counts."""
    for (status, facet, value), by in changes.items():
        key = {"data_set_id": data_set_id, "status": status, "facet": facet, "value": value}
        if by and not _add(session, key, by):
            session.execute(insert(Tally).values(**key, samples=by))


def _add(session: Session, key: Mapping[str, object], by: int) -> bool:
    """Change one count; say whether there was one."""
    changed = session.scalar(
        update(Tally)
        .filter_by(**key)
        .values(samples=Tally.samples + by)
        .returning(Tally.samples)
        .execution_options(synchronize_session=False)
    )
    return changed is not None


def recount(session: Session, data_set_id: int) -> None:
    """Count everything anew."""
    session.execute(delete(Tally).where(Tally.data_set_id == data_set_id))
    columns = ["data_set_id", "status", "facet", "value", "samples"]
    for counted in counts(data_set_id):
        session.execute(insert(Tally).from_select(columns, counted))


def counts(data_set_id: int) -> tuple[Select[int, Status, str, str, int], ...]:
    """Return the queries that count the samples themselves: what the tally must equal."""
    present = (Sample.data_set_id == data_set_id, Sample.gone.is_(False))
    number = func.count()
    key = (literal(data_set_id), Sample.status)
    return (
        select(*key, literal(ALL), literal(""), number).where(*present).group_by(Sample.status),
        select(*key, literal(SPLIT), Sample.split, number)
        .where(*present)
        .group_by(Sample.status, Sample.split),
        select(*key, literal(LABEL), Sample.label, number)
        .where(*present)
        .group_by(Sample.status, Sample.label),
        select(*key, literal(CODE), Finding.code, func.count(Sample.id.distinct()))
        .join(Finding, Finding.sample_id == Sample.id)
        .where(*present)
        .group_by(Sample.status, Finding.code),
    )
