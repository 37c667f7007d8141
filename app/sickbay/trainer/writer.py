"""The kit's first thread: from the tray into the spool, four times a second.

What a killed process can lose is what it logged since the last turn. A turn is cut into slices
of about a millisecond with a pause behind each, because Python lets one thread run at a time
and the training's should not notice this one.
"""

import threading
import time
from collections.abc import Callable

from sickbay.contract.event import Body, Ending, Event, Finish, Heartbeat, Points
from sickbay.trainer import complaints
from sickbay.trainer.columns import Columns
from sickbay.trainer.spool import Spool
from sickbay.trainer.tray import Later, Tray

INTERVAL = 0.2
"""Seconds between turns: what SIGKILL costs at most."""
HEARTBEAT = 15.0
"""Seconds between signs of life."""
_MOST_AT_ONCE = 20_000
_SLICE = 500
_BREATH = 0.0005


class Writer:
    """Numbers events and writes them; all but ``hurry`` and ``stop`` is for its own thread.

    Attributes:
        turns: how many are done.
    """

    def __init__(self, tray: Tray, spool: Spool, rank: int, written: Callable[[], None]) -> None:
        self._tray = tray
        self._spool = spool
        self._rank = rank
        self._written = written
        self._seq = self._told = 0
        self.turns = 0
        self._points = 0
        self._lost = 0
        self._later: list[Later] = []
        self._beat_at = time.monotonic() + HEARTBEAT
        self._wake = threading.Event()
        self._ending: Ending | None = None

    def hurry(self) -> None:
        """Take the next turn at once."""
        self._wake.set()

    def stop(self, ending: Ending) -> None:
        """Write what is there and the end, then return from ``run``."""
        self._ending = ending
        self._wake.set()

    def run(self) -> None:
        """Write until told to stop."""
        while self._ending is None:
            self._wake.wait(INTERVAL)
            self._wake.clear()
            self._guarded(self.turn)
        self._guarded(self._last_turn)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 (one bad turn must not end the thread)
            complaints.once("writer", "a turn of the writer failed: %r", error)

    def turn(self) -> None:
        """Write everything that waits."""
        busy = True
        while busy:
            points = self._tray.take_points(_MOST_AT_ONCE)
            busy = len(points) == _MOST_AT_ONCE
            self._write_points([*points, *self._arrived()])
            for used in self._tray.used.take():
                self._write(used, time.time())
            for at, body in self._tray.take_bodies():
                self._write(body, at)
        if time.monotonic() >= self._beat_at:
            self._write(Heartbeat(self._points, self._dropped()), time.time())
        if self._seq > self._told:
            self._told = self._seq
            self._written()
        self.turns += 1

    def _last_turn(self) -> None:
        self.turn()
        self._tray.drop("queue", len(self._later)) if self._later else None
        ending = self._ending or Ending.FINISHED
        self._write(Finish(ending, self._points, self._dropped()), time.time())

    def _write_points(self, points: list[bytes]) -> None:
        columns = Columns()
        for start in range(0, len(points), _SLICE):
            if start:
                time.sleep(_BREATH)
            columns.add(points[start : start + _SLICE])
        since = 0
        for body in columns.bodies(self._tray.names):
            self._points += len(body)
            self._write(body, body.times[-1])
            since += len(body)
            if since >= _SLICE:
                time.sleep(_BREATH)
                since = 0

    def _arrived(self) -> list[bytes]:
        """Return the points that were on a device and can be read without waiting for it."""
        waiting, self._later = [*self._later, *self._tray.take_later()], []
        there = []
        for point in waiting:
            series, value, step, at = point
            try:
                if value.ready():
                    there.append(self._tray.packed(series, float(value), step, at))
                else:
                    self._later.append(point)
            except Exception as error:  # noqa: BLE001 (a device may fail in any way)
                self._tray.drop("refused", 1)
                complaints.once("refused", "what was logged is no point: %r", error)
        return there

    def _write(self, body: Body, at: float) -> None:
        self._seq += 1
        event = Event(self._seq, self._rank, round(at, 3), body)
        points = len(body) if isinstance(body, Points) else 0
        self._spool.append(event.to_line()[:-1], points)
        self._beat_at = time.monotonic() + HEARTBEAT

    def _dropped(self) -> dict[str, int]:
        lost, self._lost = self._spool.lost - self._lost, self._spool.lost
        if lost:
            self._tray.drop("spool", lost)
        return self._tray.dropped
