"""Where calls of ``log`` leave their points until the kit's thread fetches them.

``deque.append`` and ``popleft`` are atomic in CPython, so putting takes no lock, and a call from
a signal handler or from another thread cannot get stuck. Only a drop takes a lock, a re-entrant
one. The tray is bounded: what does not fit is counted, and gone.
"""

import threading
from collections import deque
from typing import Any, TypeAlias

from sickbay.contract.event import Body

MOST_POINTS = 100_000
"""About 15 MB; two hundred points a step for 500 steps of an unlucky thread."""
MOST_BODIES = 1000

Waiting: TypeAlias = tuple[str, Any, int, float]
"""Series, value (a number or something that becomes one), step, time."""


class Tray:
    """Points and other bodies of events that wait for the kit's thread."""

    def __init__(self) -> None:
        self.points: deque[Waiting] = deque()
        self._bodies: deque[tuple[float, Body]] = deque()
        self._lock = threading.RLock()
        self._dropped: dict[str, int] = {}

    def put(self, body: Body, time: float) -> None:
        """Leave anything but points."""
        if len(self._bodies) >= MOST_BODIES:
            self.drop("queue", 1)
        else:
            self._bodies.append((time, body))

    def drop(self, cause: str, count: int) -> None:
        """Count points that are lost."""
        with self._lock:
            self._dropped[cause] = self._dropped.get(cause, 0) + count

    @property
    def dropped(self) -> dict[str, int]:
        """Points lost so far, by cause."""
        with self._lock:
            return dict(self._dropped)

    def take_points(self, most: int) -> list[Waiting]:
        """Fetch the oldest points, at most ``most`` of them."""
        take = self.points.popleft
        return [take() for _ in range(min(len(self.points), most))]

    def take_bodies(self) -> list[tuple[float, Body]]:
        """Fetch everything else, each with its time."""
        take = self._bodies.popleft
        return [take() for _ in range(len(self._bodies))]
