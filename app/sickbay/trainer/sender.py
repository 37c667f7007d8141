"""The kit's second thread: from the spool to the server, for as long as that takes.

An answer that says no for good (no such token, no such run) ends the sending; the spool stays on
disk for ``sickbay sync``.
"""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sickbay.client.http import Pace
from sickbay.contract.errors import SickbayError
from sickbay.contract.event import MAX_EVENTS
from sickbay.trainer import complaints
from sickbay.trainer.line import MOST_BYTES, Delivered, Line
from sickbay.trainer.replay import forgotten, replay
from sickbay.trainer.spool import Spool
from sickbay.trainer.tray import Tray

if TYPE_CHECKING:
    from sickbay.contract.opening import Opened

TIMEOUT = 10.0
"""Seconds without a byte before a connection is given up."""
_AS_LONG_AS_IT_TAKES = 1e9
SPACING = 0.3
"""Seconds between requests while there is little to send: a request costs about a millisecond."""
_MANY = 200
_LOOK = 0.5
_WAIT, _WAIT_UNKNOWN, _WAIT_HURT = 12.0, 5.0, 1.0
"""Seconds without progress that leaving waits for: of a server that has answered, of one that has
not yet, and where the last request failed. The first is long because a DataLoader that is collected
as garbage, on whichever thread, waits 5 s for each worker that does not end."""
_GLANCE = 0.05
"""Seconds between two looks while leaving."""


class Stopped(Exception):
    """The process is leaving; what was not sent stays in the spool."""


class Sender:
    """Opens the run, then empties the spool, again and again."""

    def __init__(
        self, url: str, token: str | None, opening: Mapping[str, Any], spool: Spool, tray: Tray
    ) -> None:
        self.opened: Opened | None = None
        self._url = url
        self._opening = opening
        self._spool = spool
        self._tray = tray
        self._delivered = Delivered()
        self._wake = threading.Event()
        self._leave = threading.Event()
        self._hurt = False
        self._progress = 0.0
        self._deadline: float | None = None
        pace = Pace(timeout=TIMEOUT, patience=_AS_LONG_AS_IT_TAKES, sleep=self._pause)
        self._line = Line(url, token, pace)
        self._thread = threading.Thread(target=self._run, name="sickbay-sender", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    @property
    def going(self) -> bool:
        """Whether it still sends, and the last request did not fail."""
        return self._thread.is_alive() and not self._hurt

    def more(self) -> None:
        """There is something new in the spool."""
        self._wake.set()

    def stop(self, timeout: float) -> None:
        """Send what is left, for at most ``timeout`` seconds, and only while there is progress.

        What counts of the time without progress is what this process could use: one that was
        suspended, or waits for a processor that others have, is not given up for it.
        """
        end = time.monotonic() + timeout
        self._deadline, seen, waited = end, self._progress, 0.0
        self._leave.set()
        self._wake.set()
        while self._thread.is_alive():
            left = self._patience - waited
            self._deadline = min(end, time.monotonic() + left)
            if self._deadline <= time.monotonic():
                return
            self._thread.join(_GLANCE)
            waited = waited + _GLANCE if self._progress == seen else 0.0
            seen = self._progress

    @property
    def _patience(self) -> float:
        if self._hurt:
            return _WAIT_HURT
        return _WAIT_UNKNOWN if self.opened is None else _WAIT

    def _run(self) -> None:
        try:
            self.opened = self._line.open(self._opening)
            self._progressed()
            while self._sent():
                pass
            self._send_forgotten()
            leaving = False
            while self._sent() or not leaving:
                # Asked before the spool is looked at again: the last event is written first.
                leaving = self._leaving
        except Stopped:
            pass
        except SickbayError as error:
            complaints.once("refused", "nothing is sent any more: %s", error.sentence)
        except Exception as error:  # noqa: BLE001 (training goes on; the spool has it all)
            complaints.once("sender", "nothing is sent any more: %r", error)

    def _send_forgotten(self) -> None:
        """Send what a killed process of this host left here; one process of a host does it."""
        if self._opening["local_rank"] != 0:
            return
        for folder in forgotten(self._spool.folder.parent, self._url):
            if self._leaving:
                return
            with suppress(SickbayError):
                replay(folder, self._line)
            self._sent()

    def _sent(self) -> bool:
        """Send one piece; wait for more where there is none. Returns whether it sent any."""
        assert self.opened is not None  # noqa: S101 (opened before the first piece)
        piece = self._spool.piece(MAX_EVENTS, MOST_BYTES)
        if piece is None:
            if not self._leaving:
                self._wake.wait(_LOOK)
                self._wake.clear()
            return False
        self._line.deliver(self.opened, piece.events, self._delivered)
        self._progressed()
        self._count_rejected()
        self._spool.arrived(piece)
        if len(piece.events) < _MANY:
            self._leave.wait(SPACING)
        return True

    def _progressed(self) -> None:
        self._hurt = False
        self._progress = time.monotonic()

    def _count_rejected(self) -> None:
        if self._delivered.rejected:
            self._tray.drop("rejected", self._delivered.rejected)
            complaints.once("rejected", "the server rejects events: %s", self._delivered.reason)
            self._delivered = Delivered()

    @property
    def _leaving(self) -> bool:
        return self._deadline is not None

    def _pause(self, seconds: float) -> None:
        """Wait between two tries, and say once that the server does not answer."""
        if not self._hurt:
            complaints.once(
                "away", "the server does not answer; events wait in %s", self._spool.folder
            )
        self._hurt = True
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            if self._deadline is not None and now >= self._deadline:
                raise Stopped
            time.sleep(min(0.05, end - now))
        if self._deadline is not None and end >= self._deadline:
            raise Stopped
