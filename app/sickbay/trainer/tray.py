"""Where calls of ``log`` leave their points until the kit's thread fetches them.

``deque.append`` and ``popleft`` are atomic in CPython, so putting takes no lock, and a call from
a signal handler or from another thread cannot get stuck. Only a new series and a drop take one, a
re-entrant one. A point waits as 28 packed bytes, not as a tuple, of which thousands would set off
Python's garbage collector in the middle of a step. The tray is bounded: what does not fit is
counted, and gone.
"""

import re
import struct
import threading
from collections import deque
from typing import Any, TypeAlias

from sickbay.contract.event import MAX_SERIES, Body
from sickbay.trainer.readings import OnItsWay, reading
from sickbay.trainer.used import Waiting

MOST_POINTS = 200_000
"""About 13 MB; two hundred points a step for 1,000 steps of an unlucky thread."""
MOST_LATER, MOST_BODIES, MOST_SERIES = 20_000, 1000, 20_000
POINT = struct.Struct("<Iqdd")
"""The series' number, the step, the value, and the time in seconds since 1970."""
Later: TypeAlias = tuple[str, OnItsWay, int, float]
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_pack = POINT.pack


class Tray:
    """Points and other bodies of events that wait for the kit's thread."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.used = Waiting()
        self._numbers: dict[str, int] = {}
        self._points: deque[bytes] = deque()
        self._later: deque[Later] = deque()
        self._bodies: deque[tuple[float, Body]] = deque()
        self._lock = threading.RLock()
        self._dropped: dict[str, int] = {}

    def put_point(self, series: str, value: Any, step: int, time: float) -> None:
        """Leave one point.

        Raises:
            Exception: it is none; a foreign object may raise anything.
        """
        if len(self._points) >= MOST_POINTS:
            self.drop("queue", 1)
            return
        kind = type(value)
        if kind is not float and kind is not int:
            value = reading(value)
            if isinstance(value, OnItsWay):
                self._put_later((series, value, step, time))
                return
        self._points.append(self.packed(series, value, step, time))

    def packed(self, series: str, value: float, step: int, time: float) -> bytes:
        """Return a point as bytes.

        Raises:
            ValueError, struct.error, OverflowError: the series has no name, or is one too many,
                or a number has more than 64 bits.
        """
        number = self._numbers.get(series)
        if number is None:
            number = self._numbered(series)
        return _pack(number, step, value, time)

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

    def take_points(self, most: int) -> list[bytes]:
        """Fetch the oldest points, at most ``most`` of them."""
        take = self._points.popleft
        return [take() for _ in range(min(len(self._points), most))]

    def take_later(self) -> list[Later]:
        """Fetch the points whose value was on a device."""
        take = self._later.popleft
        return [take() for _ in range(len(self._later))]

    def take_bodies(self) -> list[tuple[float, Body]]:
        """Fetch everything else, each with its time."""
        take = self._bodies.popleft
        return [take() for _ in range(len(self._bodies))]

    def _put_later(self, point: Later) -> None:
        if len(self._later) >= MOST_LATER:
            self.drop("queue", 1)
        else:
            self._later.append(point)

    def _numbered(self, series: Any) -> int:
        """Number a series that is new; the name is made one that the server takes."""
        name = _CONTROL.sub(" ", str(series).encode("utf-8", "replace").decode("utf-8"))
        if not name or len(self.names) >= MOST_SERIES:
            raise ValueError("a series needs a name, and there can be 20,000 of them")
        half = MAX_SERIES // 2
        with self._lock:
            number = self._numbers.setdefault(series, len(self.names))
            if number == len(self.names):
                short = len(name) <= MAX_SERIES
                self.names.append(name if short else f"{name[:half]}…{name[-half:]}")
            return number
