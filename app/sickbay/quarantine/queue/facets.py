"""Counts beside the grid: how many samples each further choice would show."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Select, String, cast, func, literal, select, union_all
from sqlalchemy.orm import Session

from sickbay.quarantine import tally
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.matching import conditions, tallied, total
from sickbay.quarantine.tables import Finding, Sample, Status, Tally

__all__ = ["Count", "Facets", "facets", "total"]

STATUS = "status"
_NAMES = (STATUS, tally.CODE, tally.SPLIT, tally.LABEL)


@dataclass(frozen=True, slots=True)
class Count:
    """How many samples a value of a facet would show."""

    value: str
    samples: int


@dataclass(frozen=True, slots=True)
class Facets:
    """The counts of each facet under the filter's other fields; most first, no zeros.

    Statuses are in their own order.
    """

    status: tuple[Count, ...]
    code: tuple[Count, ...]
    split: tuple[Count, ...]
    label: tuple[Count, ...]


def facets(session: Session, data_set_id: int, chosen: Filter) -> Facets:
    """Return exact counts in one query: from the tally where that knows, else counted."""
    parts = [_part(data_set_id, name, chosen) for name in _NAMES]
    found: defaultdict[str, list[Count]] = defaultdict(list)
    for name, value, samples in session.execute(union_all(*parts)):
        if samples:
            found[name].append(Count(value, samples))
    return Facets(
        status=tuple(sorted(found[STATUS], key=lambda one: _RANK[one.value])),
        **{
            name: tuple(sorted(found[name], key=lambda one: (-one.samples, one.value)))
            for name in _NAMES
            if name != STATUS
        },
    )


_RANK = {str(status): rank for rank, status in enumerate(Status)}


def _part(data_set_id: int, name: str, chosen: Filter) -> Select[str, str, int]:
    """Return the query for one facet, under the filter without that facet's own field."""
    fields: dict[str, Any] = {} if name == STATUS else {name: None}
    others = replace(chosen, **fields)
    known = tallied(others)
    if known is not None and (name == STATUS or known[0] == tally.ALL):
        return _from_tally(data_set_id, name, others, known)
    return _counted(data_set_id, name, others)


def _from_tally(
    data_set_id: int, name: str, others: Filter, known: tuple[str, str]
) -> Select[str, str, int]:
    value = Tally.status if name == STATUS else Tally.value
    query = (
        select(literal(name), cast(value, String), func.sum(Tally.samples))
        .where(Tally.data_set_id == data_set_id)
        .group_by(value)
    )
    if name == STATUS:
        return query.where(Tally.facet == known[0], Tally.value == known[1])
    return query.where(Tally.facet == name, Tally.status.in_(others.status))


def _counted(data_set_id: int, name: str, others: Filter) -> Select[str, str, int]:
    without = (STATUS,) if name == STATUS else ()
    where = conditions(data_set_id, others, without=without)
    if name == tally.CODE:
        return (
            select(literal(name), Finding.code, func.count(Sample.id.distinct()))
            .join(Finding, Finding.sample_id == Sample.id)
            .where(*where)
            .group_by(Finding.code)
        )
    value = getattr(Sample, name)
    return select(literal(name), cast(value, String), func.count()).where(*where).group_by(value)
