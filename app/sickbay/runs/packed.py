"""Events made ready to be stored: all that needs no database, done before the writer's turn."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sickbay.contract.event import Event, Failure, Points
from sickbay.runs.curves import journal
from sickbay.runs.curves.main_series import preference
from sickbay.runs.failures.ready import ReadyFailure, ready
from sickbay.runs.moments import moment

DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Packed:
    """One event, with what its kind needs."""

    event: Event
    digest: bytes
    segment: bytes = b""
    points: int = 0
    failure: ReadyFailure | None = None


def packed(events: Iterable[Event]) -> Mapping[int, Sequence[Packed]]:
    """Return events made ready, by rank, in ascending order of seq."""
    ranks: defaultdict[int, list[Packed]] = defaultdict(list)
    for event in events:
        ranks[event.rank].append(_packed(event))
    for items in ranks.values():
        items.sort(key=lambda item: item.event.seq)
    return ranks


def _packed(event: Event) -> Packed:
    digest = event.digest()[:DIGEST_BYTES]
    if isinstance(event.body, Points):
        return Packed(event, digest, journal.segment(event.body), len(event.body))
    if isinstance(event.body, Failure):
        return Packed(event, digest, failure=ready(event, event.body))
    return Packed(event, digest)


@dataclass(frozen=True, slots=True)
class Extent:
    """What the points of several events span, and the last value of the series for lists."""

    series: tuple[str, ...]
    first_step: int
    last_step: int
    main: str
    main_step: int
    main_value: float


def extent(items: Iterable[Packed]) -> Extent | None:
    """Return what the points among the events span, or nothing where there are none."""
    bodies = [item.event.body for item in items if isinstance(item.event.body, Points)]
    if not bodies:
        return None
    names = sorted({body.series for body in bodies})
    main = min(names, key=preference)
    step, _, value = max(
        (body.steps[at], body.times[at], body.values[at])
        for body in bodies
        if body.series == main
        for at in [max(range(len(body)), key=body.steps.__getitem__)]
    )
    return Extent(
        tuple(names),
        min(min(body.steps) for body in bodies),
        max(max(body.steps) for body in bodies),
        main,
        step,
        value,
    )


def newest_time(items: Sequence[Packed]) -> datetime:
    """Return the latest time that the trainer's clock gave."""
    return moment(max(item.event.time for item in items))
