"""Events made ready to be stored: all that needs no database, done before the writer's turn."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sickbay.contract.event import Event, Failure, Points, digest_of
from sickbay.runs.curves import journal
from sickbay.runs.curves.main_series import preference
from sickbay.runs.failures.ready import ReadyFailure, ready

DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Extent:
    """What points span, and the last of the series that lists show."""

    points: int
    series: frozenset[str]
    first_step: int
    last_step: int
    main: str
    main_step: int
    main_value: float

    def __or__(self, other: "Extent") -> "Extent":
        """Return what both span together."""
        shown = min(self, other, key=lambda one: (preference(one.main), -one.main_step))
        return Extent(
            self.points + other.points,
            self.series | other.series,
            min(self.first_step, other.first_step),
            max(self.last_step, other.last_step),
            shown.main,
            shown.main_step,
            shown.main_value,
        )


@dataclass(frozen=True, slots=True)
class Packed:
    """One event, with what its kind needs."""

    event: Event
    digest: bytes
    segment: bytes = b""
    extent: Extent | None = None
    failure: ReadyFailure | None = None


def packed(events: Iterable[Event], at: datetime) -> Mapping[int, Sequence[Packed]]:
    """Return events received at a moment made ready, by rank, in ascending order of seq."""
    ranks: defaultdict[int, list[Packed]] = defaultdict(list)
    for event in events:
        ranks[event.rank].append(_packed(event, at))
    for items in ranks.values():
        items.sort(key=lambda item: item.event.seq)
    return ranks


def _packed(event: Event, at: datetime) -> Packed:
    body = event.body
    if isinstance(body, Points):
        digest = event.digest()[:DIGEST_BYTES]
        return Packed(event, digest, journal.segment(body), extent=_extent(body))
    line = event.to_line()
    digest = digest_of(line)[:DIGEST_BYTES]
    failure = ready(event, body, line, at) if isinstance(body, Failure) else None
    return Packed(event, digest, failure=failure)


def _extent(points: Points) -> Extent:
    steps = np.frombuffer(points.steps, np.int64)
    last = len(steps) - 1 - int(steps[::-1].argmax())
    return Extent(
        len(steps),
        frozenset((points.series,)),
        int(steps.min()),
        int(steps[last]),
        points.series,
        int(steps[last]),
        points.values[last],
    )
