"""Alerts at work inside the server: one thread looks, others send; no request waits for them."""

import logging
import random
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

from sqlalchemy import func, select

from sickbay.alerts import deliveries
from sickbay.alerts.addresses import address
from sickbay.alerts.decide import decide, is_due
from sickbay.alerts.deliveries import Parcel
from sickbay.alerts.post import Outcome, Post
from sickbay.alerts.sightings.failures import SETTLES
from sickbay.alerts.sightings.sighting import Moment
from sickbay.contract.errors import BadInput, Busy, SickbayError, StorageFailed
from sickbay.database import Database
from sickbay.database.tables import now
from sickbay.runs.tables import Change, ChangeKind

_log = logging.getLogger("sickbay.alerts")

LOOKS_EVERY = timedelta(seconds=10)
"""Without anything new in the outbox: silence and counts leave no line there."""
TICK_S = 1.0
SENDERS = 4
"""Channels that are sent to at once; one that hangs keeps none but itself waiting."""


class Alerts:
    """The rules of one database, looked after until closed."""

    def __init__(
        self,
        database: Database,
        base_url: str,
        *,
        post: Post | None = None,
        clock: Callable[[], datetime] = now,
        jitter: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._database = database
        self._base_url = base_url
        self._post = post or Post()
        self._clock = clock
        self._jitter = jitter
        self._listening_since = clock()
        self._wake = _Wake()
        self._busy: set[int] = set()
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(SENDERS, "sickbay-alerts-send")
        self._taken_up = False
        self._threads = [
            threading.Thread(target=self._repeat, args=(act,), name=name, daemon=True)
            for act, name in (
                (self._look_tick, "sickbay-alerts"),
                (self._send_tick, "sickbay-post"),
            )
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop; what is being sent just now is cut off, and sent again at the next start."""
        self._stop.set()
        self._post.close()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        self._pool.shutdown()

    def take_up_again(self) -> None:
        """Let what a crash cut off be sent again."""
        cut_off = self._database.writing(
            lambda session: deliveries.take_up_again(session, self._clock())
        )
        if cut_off:
            _log.warning("%d messages were cut off and are sent again", cut_off)

    def look(self) -> int:
        """Let every rule look once; return the number of messages that came of it."""
        moment = Moment(self._clock(), self._listening_since)
        with self._database.reading() as session:
            due = is_due(session, moment)
        if not due:
            return 0
        return self._database.writing(lambda session: decide(session, moment, self._base_url))

    def send_due(self) -> "list[Future[None]]":
        """Begin to send what is due, at most one message a channel at a time."""
        at, free = self._clock(), SENDERS - len(self._busy)
        busy = tuple(self._busy)
        with self._database.reading() as session:
            if free <= 0 or not deliveries.is_due(session, at, busy):
                return []
        parcels = self._database.writing(lambda session: deliveries.take(session, at, busy, free))
        self._busy.update(parcel.channel_id for parcel in parcels)
        return [self._pool.submit(self._send, parcel) for parcel in parcels]

    def _send(self, parcel: Parcel) -> None:
        try:
            outcome = self._try(parcel)
            # What was cut off by stopping stays as it is: the next start sends it again.
            if outcome.accepted or not self._stop.is_set():
                self._settle(parcel, outcome)
        except Exception:  # noqa: BLE001 (a thread of the pool must not fail unheard)
            _log.exception("delivery %d failed", parcel.delivery_id)
        finally:
            self._busy.discard(parcel.channel_id)

    def _settle(self, parcel: Parcel, outcome: Outcome) -> None:
        """Write down how it went; while the disk is full or busy, again and again."""
        at = self._clock()
        while True:
            try:
                self._database.writing(
                    lambda session: deliveries.settle(session, parcel, outcome, at, self._jitter)
                )
                _log.info("delivery %d: %s", parcel.delivery_id, outcome.words)
            except (Busy, StorageFailed) as error:
                _log.warning("delivery %d: %s", parcel.delivery_id, error.sentence)
                if self._stop.wait(TICK_S):
                    return
            else:
                return

    def _try(self, parcel: Parcel) -> Outcome:
        try:
            url = address(parcel.kind, parcel.values)
        except BadInput as error:
            return Outcome(accepted=False, words=error.sentence)
        return self._post.send(url, parcel.letter)

    def _send_tick(self) -> None:
        if not self._taken_up:
            self.take_up_again()
            self._taken_up = True
        self.send_due()

    def _look_tick(self) -> None:
        with self._database.reading() as session:
            newest = session.scalar(
                select(func.max(Change.id)).where(
                    Change.id > self._wake.newest, Change.kind != ChangeKind.POINTS
                )
            )
        if self._wake.is_due(newest, self._clock()):
            self.look()

    def _repeat(self, act: Callable[[], object]) -> None:
        """Do something again and again; whatever fails, it is tried again."""
        while not self._stop.wait(TICK_S):
            try:
                act()
            except SickbayError as error:
                _log.warning("alerts: %s", error.sentence)
            except Exception:  # noqa: BLE001 (alerts must outlive any failure)
                _log.exception("alerts failed; they go on")


class _Wake:
    """When to look: for some seconds after something new came, and from time to time anyhow."""

    def __init__(self) -> None:
        self.newest = 0
        self._until: datetime | None = None
        self._looked_at: datetime | None = None

    def is_due(self, newest: int | None, at: datetime) -> bool:
        """Whether it is time to look, given the newest line of the outbox where there is one."""
        if newest is not None:
            self.newest, self._until = newest, at + SETTLES + timedelta(seconds=2 * TICK_S)
        fresh = self._until is not None and at <= self._until
        late = self._looked_at is None or at - self._looked_at >= LOOKS_EVERY
        if fresh or late:
            self._looked_at = at
        return fresh or late
