"""One run in one process: tray, writer, spool and sender, put together and taken apart.

The kit installs no signal handler. Python runs one only when the main thread gets back to its
own code, so a process that hangs in a collective would no longer die of SIGTERM; what is lost
to a signal is what was logged since the writer's last turn.
"""

import dataclasses
import os
import secrets
import threading
import time
import weakref
from contextlib import suppress

from sickbay.contract.errors import BadInput
from sickbay.contract.event import Body, Ending
from sickbay.contract.opening import Opened, Opening
from sickbay.trainer import complaints
from sickbay.trainer.launch import launch_id
from sickbay.trainer.sender import Sender
from sickbay.trainer.spool import Spool
from sickbay.trainer.surroundings import Mode, Surroundings
from sickbay.trainer.tray import Tray
from sickbay.trainer.writer import Writer

MOST_TO_FINISH = 30.0
"""Seconds that leaving may take while the server answers and there is much to send."""
MOST_TO_FINISH_ALONE = 1.0
"""Seconds that leaving waits for what is not ready yet."""
MOST_TO_SETTLE = 5.0
"""Seconds that a rank which stops the training waits for what it told to arrive."""
MOST_TO_WRITE = 5.0
"""Seconds that leaving waits for a disk that does not answer."""
_LOOK = 0.02
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_living: "weakref.WeakSet[Reporter]" = weakref.WeakSet()


class Reporter:
    """The kit's side of one run in this process."""

    def __init__(self, place: Surroundings, opening: Opening, nth: int) -> None:
        self.tray = Tray()
        self.place = place
        self._draft = opening
        self._nth = nth
        self._spool: Spool | None = None
        self._sender: Sender | None = None
        self._writer: Writer | None = None
        self.environment: threading.Thread | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sickbay-writer", daemon=True)
        _living.add(self)
        self._thread.start()

    @property
    def name(self) -> str:
        """The run's name."""
        return self._draft.name

    @property
    def opened(self) -> Opened | None:
        """What the server said of the run, once it has."""
        return self._sender.opened if self._sender else None

    def put(self, body: Body) -> None:
        """Hand over anything but points; it is on its way at once."""
        self.tray.put(body, time.time())
        self.hurry()

    def hurry(self) -> None:
        """Have what waits written at once."""
        if self._writer is not None:
            self._writer.hurry()

    def settle(self, timeout: float) -> None:
        """Wait until what was handed over has arrived, while the server answers, at most so long.

        Where nothing is sent, until it is written.
        """
        end = time.monotonic() + timeout
        self._ready.wait(timeout)
        writer, spool, sender = self._writer, self._spool, self._sender
        if writer is None or spool is None:
            return
        turns = writer.turns
        while time.monotonic() < end:
            writer.hurry()
            # A turn that was going on may have begun before the last was handed over.
            written = writer.turns > turns + 1
            if written and (sender is None or spool.empty or not sender.going):
                return
            time.sleep(_LOOK)

    def finish(self, ending: Ending, timeout: float) -> None:
        """Write and send what is left, within bounds; say where it is kept if that is not all."""
        _living.discard(self)
        end = time.monotonic() + timeout
        if self.environment is not None:
            self.environment.join(MOST_TO_FINISH_ALONE)
        self._ready.wait(min(timeout, MOST_TO_WRITE))  # a machine under load begins slowly
        if self._writer is None or self._spool is None:
            complaints.once("never", "the run was never begun; nothing of it is kept.")
            return
        self._writer.stop(ending)
        self._thread.join(min(timeout, MOST_TO_WRITE))
        if self._sender is not None:
            left = max(end - time.monotonic(), MOST_TO_FINISH_ALONE)
            self._sender.stop(left)
        if not self._thread.is_alive() and not self._spool.close():
            complaints.log.warning(
                "not everything was sent; it is kept: sickbay sync %s", self._spool.folder
            )

    def forked(self) -> None:
        """Let go of everything in a forked child: it is the parent's."""
        if self._spool is not None:
            self._spool.abandon()

    def _run(self) -> None:
        try:
            self._begin()
        except Exception as error:  # noqa: BLE001 (the training goes on without us)
            complaints.once("begin", "the run cannot be begun: %r", error)
        finally:
            self._ready.set()
        if self._writer is not None:
            self._writer.run()

    def _begin(self) -> None:
        launch = launch_id(self._draft.world_size, self._nth)
        opening = dataclasses.replace(self._draft, launch=launch)
        place = self.place
        header = {**opening.to_json(), "url": place.url, "mode": place.mode.value}
        spool = Spool(place.spool / _folder_name(opening), header)
        if place.mode is Mode.ONLINE:
            self._sender = self._sending(opening, spool)
        more = self._sender.more if self._sender else _nobody
        self._spool = spool
        self._writer = Writer(self.tray, spool, opening.rank, more)

    def _sending(self, opening: Opening, spool: Spool) -> Sender | None:
        """Begin to send; where the URL cannot be one, everything is kept instead."""
        place = self.place
        try:
            sender = Sender(place.url, place.token, opening.to_json(), spool, self.tray)
        except BadInput as error:
            complaints.once("url", "SICKBAY_URL cannot be used: %s", error.sentence)
            return None
        sender.start()
        return sender


def _nobody() -> None:
    """Tell nobody."""


def process_id() -> str:
    """Draw what tells this process from every other."""
    return secrets.token_hex(8)


def _folder_name(opening: Opening) -> str:
    name = "".join(char if char in _SAFE else "_" for char in opening.name)[:60].lstrip(".")
    return f"{name or 'run'}.rank{opening.rank}.{opening.process}"


def _after_fork() -> None:
    for reporter in list(_living):
        with suppress(Exception):
            reporter.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
