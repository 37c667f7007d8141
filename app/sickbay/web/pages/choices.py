"""Facets, chips, orders and sizes: every way to change a queue's filter, as links."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sickbay.quarantine.queue.facets import Count, Facets
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Status
from sickbay.web.language import _
from sickbay.web.pages.address import SIZES, Address, any_status

_OPEN_MOST = 12
"""A facet with more values is folded at first."""
VALUES_MOST = 20
"""Values of a facet at first, those with most samples; a list of thousands weighs megabytes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A link that changes the filter or the way it is shown."""

    key: str
    value: str
    name: str
    href: str
    count: int = 0
    current: bool = False


@dataclass(frozen=True, slots=True)
class FacetView:
    """One facet with its values; zero counts are left out by the queue."""

    key: str
    title: str
    open: bool
    values: tuple[Choice, ...]
    more: int
    """How many values are left out."""
    href: str
    """Where every value is shown."""


def status_name(status: Status) -> str:
    """Return a status as people read it."""
    return {
        Status.CLEAN: _("Clean"),
        Status.HELD: _("Held"),
        Status.APPROVED: _("Approved"),
        Status.REPAIRED: _("Repaired"),
        Status.EXCLUDED: _("Excluded"),
    }[status]


def facets(here: Address, counted: Facets) -> tuple[FacetView, ...]:
    """Return the facets that offer a choice, the active value as the link that removes it."""
    made = (
        _facet(here, "status", _("Status"), counted.status),
        _facet(here, "code", _("Code"), counted.code),
        _facet(here, "split", _("Split"), counted.split),
        _facet(here, "label", _("Label"), counted.label),
    )
    return tuple(facet for facet in made if _offers(facet))


def _offers(facet: FacetView) -> bool:
    return any(value.value for value in facet.values)


def _facet(here: Address, key: str, title: str, counts: Sequence[Count]) -> FacetView:
    chosen = _chosen(here.chosen, key)
    whole = here.facet == key
    shown = [
        count
        for rank, count in enumerate(counts)
        if whole or rank < VALUES_MOST or str(count.value) in chosen
    ]
    values = tuple(_value(here, key, count) for count in shown)
    folded = len(counts) > _OPEN_MOST and not whole and not any(one.current for one in values)
    more = len(counts) - len(values)
    return FacetView(key, title, not folded, values, more, here.whole_facet(key))


def _value(here: Address, key: str, count: Count) -> Choice:
    value = str(count.value)
    current = value in _chosen(here.chosen, key)
    target = here.narrowed(**(_without(key) if current else _only(key, value)))
    return Choice(key, value, _name(key, value), target.grid, count.samples, current=current)


def _chosen(chosen: Filter, key: str) -> tuple[str, ...]:
    if key == "status":
        return () if any_status(chosen) else tuple(str(status) for status in chosen.status)
    value = getattr(chosen, key)
    return () if value is None else (value,)


def _only(key: str, value: str) -> dict[str, Any]:
    return {key: (Status(value),) if key == "status" else value}


def _without(key: str) -> dict[str, Any]:
    return {key: {"status": tuple(Status), "path": ""}.get(key)}


def _name(key: str, value: str) -> str:
    if key == "status":
        return status_name(Status(value))
    return value or {"split": _("no split"), "label": _("no label")}.get(key, value)


def chips(here: Address) -> tuple[Choice, ...]:
    """Return what narrows the queue, each a link that removes it."""
    return tuple(_chips(here))


def _chips(here: Address) -> Iterator[Choice]:
    chosen = here.chosen
    if not any_status(chosen):
        names = ", ".join(status_name(status) for status in chosen.status)
        first = str(chosen.status[0]) if len(chosen.status) == 1 else ""
        yield Choice("status", first, names, here.narrowed(**_without("status")).grid)
    for key in ("code", "split", "label"):
        value = getattr(chosen, key)
        if value is not None:
            yield Choice(key, value, _name(key, value), here.narrowed(**_without(key)).grid)
    if chosen.path:
        name = _("path with “%s”") % chosen.path
        yield Choice("path", chosen.path, name, here.narrowed(**_without("path")).grid)


def dropped(here: Address) -> Iterator[tuple[Choice, Filter]]:
    """Yield each chip with the filter that is left without it."""
    for chip in chips(here):
        yield chip, here.narrowed(**_without(chip.key)).chosen


def sorts(here: Address) -> tuple[Choice, ...]:
    """Return the orders."""
    orders = (
        ("failures", _("Failed in training first")),
        ("path", _("Path")),
        ("newest", _("Newest")),
    )
    return tuple(
        Choice("sort", value, name, here.narrowed(sort=value).grid, 0, here.chosen.sort == value)
        for value, name in orders
    )


def sizes(here: Address) -> tuple[Choice, ...]:
    """Return the tile sizes; the place in the queue stays."""
    names = {"s": _("Small tiles"), "m": _("Medium tiles"), "l": _("Large tiles")}
    return tuple(
        Choice("tile", size, names[size], replace(here, size=size).grid, 0, here.size == size)
        for size in SIZES
    )
