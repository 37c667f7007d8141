"""One sample's place in a filter: n of m, and its neighbours."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.matching import total
from sickbay.quarantine.queue.order import count, following, place_of, preceding, walk


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where a sample stands, or would stand if it still matched the filter."""

    number: int
    """Counts from 1."""
    total: int
    previous: int | None
    next: int | None


def place(session: Session, data_set_id: int, chosen: Filter, sample_id: int) -> Neighbours:
    """Return the place of a sample among those that match.

    Raises:
        NotFound: the sample is not in the data set.
    """
    here = place_of(session, data_set_id, sample_id)
    if here is None:
        raise NotFound("There is no such sample in this data set.")
    before, after = preceding(chosen.sort, here), following(chosen.sort, here)
    previous = walk(session, data_set_id, chosen, before, limit=1, back=True)
    following_on = walk(session, data_set_id, chosen, after, limit=1)
    return Neighbours(
        number=count(session, data_set_id, chosen, before) + 1,
        total=total(session, data_set_id, chosen),
        previous=previous[0] if previous else None,
        next=following_on[0] if following_on else None,
    )
