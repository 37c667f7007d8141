"""A small real HTTP server in the place of Sickbay's, which can misbehave in every way."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.event import Event, Points
from sickbay.contract.event_batch import Receipt, read_batch
from sickbay.contract.opening import Opened, Opening, opening_from_json
from sickbay.trainer.run import Run

Key = tuple[str, int, int, int]


@dataclass
class Ward:
    """What a server would keep, and how it is told to behave.

    ``mood`` is ``well``, ``slow``, ``hanging``, ``garbage`` or a status such as ``500``.
    """

    mood: str = "well"
    retry_after: str | None = None
    openings: list[Opening] = field(default_factory=list)
    events: dict[Key, Event] = field(default_factory=dict)
    largest: int = 1 << 20
    requests: int = 0
    refused_alone: int = 0
    duplicates: int = 0
    rejected: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""

    def open(self, body: bytes) -> dict[str, Any]:
        opening = opening_from_json(json.loads(body))
        with self.lock:
            self.openings.append(opening)
            launches = list(
                dict.fromkeys(had.launch for had in self.openings if had.name == opening.name)
            )
        attempt = launches.index(opening.launch) + 1
        return Opened(opening.name, attempt, f"{self.url}/runs/{opening.name}").to_json()

    def take(self, run: str, body: bytes) -> dict[str, Any]:
        batch = read_batch(body)
        with self.lock:
            before, same = len(self.events), 0
            for event in batch.events:
                key = (run, batch.attempt, event.rank, event.seq)
                same += key in self.events
                had = self.events.setdefault(key, event)
                if had.digest() != event.digest():
                    self.rejected.append(f"conflict at {key}")
            self.duplicates += same
            self.rejected += [rejection.error for rejection in batch.rejected]
            return Receipt(len(self.events) - before, same, batch.rejected).to_json()

    def of(self, *bodies: type[Any]) -> list[Any]:
        with self.lock:
            events = sorted(self.events.items(), key=lambda item: item[0])
        return [event.body for _, event in events if isinstance(event.body, bodies)]

    def points(self, series: str, rank: int = 0) -> list[tuple[int, float]]:
        with self.lock:
            events = sorted(self.events.items(), key=lambda item: item[0])
        found = [
            event.body
            for _, event in events
            if isinstance(event.body, Points) and event.rank == rank
        ]
        return [
            pair
            for body in found
            if body.series == series
            for pair in zip(body.steps, body.values, strict=True)
        ]


class _Handler(BaseHTTPRequestHandler):
    ward: Ward

    def do_POST(self) -> None:
        with self.ward.lock:
            self.ward.requests += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        moods = {
            "hanging": self._hang,
            "garbage": self._garbage,
            "nested": self._nested,
            "portal": self._portal,
            "proxy": self._proxy,
        }
        if self.ward.mood in moods:
            moods[self.ward.mood]()
        elif self.ward.mood == "slow":
            self._slow(body)
        elif self.ward.mood.isdecimal():
            self._answer(int(self.ward.mood), b'{"error": "as told"}')
        else:
            self._well(body)

    def _hang(self) -> None:
        while self.ward.mood == "hanging":
            time.sleep(0.02)
        self.close_connection = True

    def _slow(self, body: bytes) -> None:
        while self.ward.mood == "slow":
            time.sleep(0.02)
        self._well(body)

    def _garbage(self) -> None:
        self.wfile.write(b"\x00\xff no HTTP at all \r\n\r\n" * 100)
        self.close_connection = True

    def _nested(self) -> None:
        self._answer(200, b"[" * 100_000)

    def _proxy(self) -> None:
        self._answer(400, b"<html>Bad request, says the proxy</html>")

    def _portal(self) -> None:
        self._answer(200, b"<html>Welcome to the hotel</html>")

    def _well(self, body: bytes) -> None:
        parts = self.path.split("/")
        if len(parts) > 4 and len(body) > self.ward.largest:
            with self.ward.lock:
                self.ward.refused_alone += len(read_batch(body).events) == 1
            self._answer(413, b'{"error": "too large"}')
            return
        try:
            made = self.ward.open(body) if len(parts) == 4 else self.ward.take(parts[4], body)
        except BadInput as error:
            self._answer(400, json.dumps({"error": error.sentence}).encode())
        else:
            self._answer(200, json.dumps(made).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if self.ward.retry_after is not None:
            self.send_header("Retry-After", self.ward.retry_after)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its own name)
        pass


@contextmanager
def serving(kept: Ward) -> Iterator[Ward]:
    """Run a server that keeps what it is sent in ``kept``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"ward": kept}))
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield kept
    kept.mood = "well"
    server.shutdown()
    thread.join()
    server.server_close()


def answered(run: Run) -> None:
    """Wait until the server has answered a run: leaving it then waits for what is not sent yet."""
    until = time.monotonic() + 60
    while run.attempt is None and time.monotonic() < until:
        time.sleep(0.01)
