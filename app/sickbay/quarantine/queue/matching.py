"""Filters as conditions of a query, and the counts that follow from them."""

from collections.abc import Container

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from sickbay.quarantine import tally
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Finding, Sample, Tally


def conditions(
    data_set_id: int, chosen: Filter, *, without: Container[str] = ()
) -> list[ColumnElement[bool]]:
    """Return what a sample must meet; ``without`` names fields of the filter to leave out."""
    made = [Sample.data_set_id == data_set_id, Sample.gone.is_(False)]
    if "status" not in without:
        made.append(Sample.status.in_(chosen.status))
    return made + narrowing(chosen, without=without)


def narrowing(chosen: Filter, *, without: Container[str] = ()) -> list[ColumnElement[bool]]:
    """Return the conditions besides data set and status."""
    made: list[ColumnElement[bool]] = []
    if chosen.code is not None and "code" not in without:
        made.append(exists().where(Finding.sample_id == Sample.id, Finding.code == chosen.code))
    if chosen.split is not None and "split" not in without:
        made.append(Sample.split == chosen.split)
    if chosen.label is not None and "label" not in without:
        made.append(Sample.label == chosen.label)
    if chosen.path:
        made.append(Sample.path.icontains(chosen.path, autoescape=True))
    return made


def matching_ids(session: Session, data_set_id: int, chosen: Filter) -> list[int]:
    """Return the keys of all samples that the filter matches."""
    query = select(Sample.id).where(*conditions(data_set_id, chosen)).order_by(Sample.id)
    return list(session.scalars(query))


def total(session: Session, data_set_id: int, chosen: Filter) -> int:
    """Return how many samples the filter matches; from the tally where that knows."""
    facet = tallied(chosen)
    if facet is None:
        counted = select(func.count()).select_from(Sample).where(*conditions(data_set_id, chosen))
        return session.scalar(counted) or 0
    name, value = facet
    return (
        session.scalar(
            select(func.sum(Tally.samples)).where(
                Tally.data_set_id == data_set_id,
                Tally.status.in_(chosen.status),
                Tally.facet == name,
                Tally.value == value,
            )
        )
        or 0
    )


def tallied(chosen: Filter) -> tuple[str, str] | None:
    """Return the facet and value of the tally that count this filter, or nothing."""
    if chosen.path or chosen.narrow > 1:
        return None
    for name in (tally.CODE, tally.SPLIT, tally.LABEL):
        value: str | None = getattr(chosen, name)
        if value is not None:
            return name, value
    return tally.ALL, ""
