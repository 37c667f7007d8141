"""The way to one server: opens runs and sends events, as often as it takes.

What may pass later (no connection, time-out, 408, 429, 5xx) is tried again by ``client/http``
with full jitter or after ``Retry-After``; here the same is done with an answer that is none of
Sickbay's, such as the login page of a hotel's network.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sickbay.client.http import FIRST_PAUSE, LONGEST_PAUSE, Pace, Server
from sickbay.contract.errors import BadInput, Refused, Unreachable
from sickbay.contract.event_batch import Receipt, receipt_from_json
from sickbay.contract.opening import Opened, opened_from_json

MOST_BYTES = 900_000
"""Bytes of events in one request; with what is around them it stays below the server's limit."""
Back = TypeVar("Back")


@dataclass(slots=True)
class Delivered:
    """What became of events: taken, known already, or rejected for good, and the first reason."""

    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0
    reason: str = ""

    def add(self, receipt: Receipt) -> None:
        """Count one answer."""
        self.accepted += receipt.accepted
        self.duplicate += receipt.duplicate
        for rejection in receipt.rejected:
            self.reject(1, rejection.error)

    def reject(self, count: int, reason: str) -> None:
        """Count events that the server will never take."""
        self.rejected += count
        self.reason = self.reason or reason


class Line:
    """One server, with a pace that says how long to go on trying.

    Every method raises the errors of ``Server`` when the server says no for good or the pace
    runs out of patience.
    """

    def __init__(self, url: str, token: str | None, pace: Pace) -> None:
        self._server = Server(url, token, pace)
        self._pace = pace

    def open(self, opening: Mapping[str, Any]) -> Opened:
        """Open a run."""
        return self._understood("api/v1/runs", json.dumps(opening).encode(), opened_from_json)

    def deliver(self, opened: Opened, events: list[bytes], so_far: Delivered) -> None:
        """Send events, each JSON; where a whole batch is refused, its halves, down to one event.

        A server rejects a bad event alone, so that a refused batch is rare: a proxy's smaller
        limit, or a server older than this kit.
        """
        body = b'{"attempt":%d,"events":[%b]}' % (opened.attempt, b",".join(events))
        path = f"api/v1/runs/{opened.run}/events"
        try:
            so_far.add(self._understood(path, body, receipt_from_json))
        except (BadInput, Refused) as refused:
            if len(events) == 1:
                so_far.reject(1, refused.sentence)
                return
            half = len(events) // 2
            self.deliver(opened, events[:half], so_far)
            self.deliver(opened, events[half:], so_far)

    def _understood(self, path: str, body: bytes, read: Callable[[Any], Back]) -> Back:
        end = self._pace.clock() + self._pace.patience
        most = FIRST_PAUSE
        while True:
            try:
                return self._asked(path, body, read)
            except Unreachable:
                pause = random.uniform(0, most)  # noqa: S311 (no secret)
                if self._pace.clock() + pause > end:
                    raise
                self._pace.sleep(pause)
                most = min(most * 2, LONGEST_PAUSE)

    def _asked(self, path: str, body: bytes, read: Callable[[Any], Back]) -> Back:
        answer = self._server.send("POST", path, body, "application/json").json()
        try:
            return read(answer)
        except BadInput:
            raise Unreachable(
                "The server's answer is none of Sickbay's; check that the URL is right."
            ) from None
