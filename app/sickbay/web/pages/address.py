"""Addresses of queue and samples: the query holds the whole filter, the place, the tile size."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from sickbay.contract.errors import BadInput
from sickbay.quarantine.queue import filters
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Status

SIZES = ("s", "m", "l")
MAX_QUERY = 4000
"""Characters of a query that travels in a form, so that a decision leads back to the queue."""
_NOT_FILTER = ("after", "tile", "ask", "facet")
FACETS = ("status", "code", "split", "label")


@dataclass(frozen=True, slots=True)
class Address:
    """A queue as its URL names it."""

    data_set: str
    chosen: Filter
    after: str | None = None
    size: str = "m"
    asking: bool = False
    facet: str = ""
    """The facet that is shown with all its values; links do not carry it on."""

    @property
    def base(self) -> str:
        """The address of the data set."""
        return f"/datasets/{self.data_set}"

    @property
    def query(self) -> str:
        """The query that brings back this filter, this page and this tile size."""
        pairs = filters.to_pairs(self.chosen)
        if self.after is not None:
            pairs.append(("after", self.after))
        if self.size != SIZES[1]:
            pairs.append(("tile", self.size))
        return urlencode(pairs)

    @property
    def grid(self) -> str:
        """The address of the grid."""
        return _with(f"{self.base}/review", self.query)

    @property
    def ask(self) -> str:
        """The grid again, with the question whether all that match are meant."""
        return _with(f"{self.base}/review", f"{self.query}&ask=all" if self.query else "ask=all")

    def whole_facet(self, key: str) -> str:
        """Return the address of the grid with every value of one facet."""
        pairs = f"{self.query}&facet={key}" if self.query else f"facet={key}"
        return _with(f"{self.base}/review", f"{pairs}#facet-{key}")

    def sample(self, sample_id: int) -> str:
        """Return the address of a sample, looked at in this queue."""
        return _with(f"{self.base}/samples/{sample_id}", self.query)

    def narrowed(self, **changes: Any) -> "Address":
        """Return the first page of the queue with another filter."""
        return replace(
            self, chosen=replace(self.chosen, **changes), after=None, asking=False, facet=""
        )

    def listing(self, ending: str) -> str:
        """Return the address of the list as a file; without a status it would be the whole list."""
        status = [("status", str(status)) for status in self.chosen.status]
        others = [pair for pair in filters.to_pairs(self.chosen) if pair[0] != "status"]
        return f"{self.base}/review.{ending}?{urlencode(status + others)}"


def of_pairs(data_set: str, pairs: Iterable[tuple[str, str]]) -> Address:
    """Read an address from a query's pairs.

    Raises:
        BadInput: a key or value is unknown, too long, or given twice.
    """
    found = list(pairs)
    other = {key: value for key, value in found if key in _NOT_FILTER}
    size = other.get("tile", SIZES[1])
    if size not in SIZES:
        raise BadInput(f"The tile size is one of {', '.join(SIZES)}.")
    facet = other.get("facet", "")
    if facet and facet not in FACETS:
        raise BadInput(f"A facet is one of {', '.join(FACETS)}.")
    return Address(
        data_set=data_set,
        chosen=filters.from_pairs(pair for pair in found if pair[0] not in _NOT_FILTER),
        after=other.get("after"),
        size=size,
        asking="ask" in other,
        facet=facet,
    )


def of_query(data_set: str, query: str) -> Address:
    """Read an address from a query that a form carried.

    Raises:
        BadInput: it is too long, or holds what no queue's query holds.
    """
    if len(query) > MAX_QUERY:
        raise BadInput("The form's place in the queue is too long; open the queue again.")
    return of_pairs(data_set, parse_qsl(query, keep_blank_values=True))


def any_status(chosen: Filter) -> bool:
    """Whether the filter lets every status through."""
    return len(chosen.status) == len(Status)


def _with(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
