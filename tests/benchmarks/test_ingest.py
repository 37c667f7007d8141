"""Ingest beside a bare FastAPI endpoint that bulk-inserts, in one run, both at FULL sync.

    python -m pytest -m soak -s tests/benchmarks/test_ingest.py
    python -m tests.benchmarks.test_ingest [POINTS]

Four client processes send batches of a thousand points over kept connections; then eight send
one failure a request. Both servers get the same bodies.
"""

import http.client
import json
import math
import multiprocessing
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.serving import serving

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.contract.opening import Opening
from sickbay.database.schema import open_database
from sickbay.runs import series
from sickbay.runs.opening import open_run

BATCH = 1000
SENDERS, FAILERS = 4, 8
POINTS = int(os.environ.get("SICKBAY_BENCHMARK_POINTS", "1000000"))
FAILURES = 2000

BARE = """
import json, sqlite3, sys, threading
import uvicorn
from fastapi import FastAPI, Request

db = sqlite3.connect(sys.argv[1], check_same_thread=False, isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("PRAGMA synchronous=FULL")
db.execute("CREATE TABLE point (rank INTEGER, seq INTEGER, series TEXT, step INTEGER,"
           " time REAL, value REAL)")
db.execute("CREATE TABLE failure (rank INTEGER, seq INTEGER, body TEXT)")
lock = threading.Lock()
app = FastAPI()

async def body(request: Request) -> bytes:
    return await request.body()

from fastapi import Depends

@app.post("/events")
def events(data: bytes = Depends(body)) -> dict:
    batch = json.loads(data)
    points, failures = [], []
    for event in batch["events"]:
        if event["kind"] == "points":
            rank, seq, name = event["rank"], event["seq"], event["series"]
            points += [
                (rank, seq, name, step, at, value) for step, at, value in
                zip(event["steps"], event["times"], event["values"])
            ]
        else:
            failures.append((event["rank"], event["seq"], json.dumps(event)))
    with lock:
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO point VALUES (?, ?, ?, ?, ?, ?)", points)
        db.executemany("INSERT INTO failure VALUES (?, ?, ?)", failures)
        db.execute("COMMIT")
    return {"accepted": len(batch["events"])}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


@dataclass(frozen=True)
class Target:
    """Where clients send: a port, a path and headers."""

    port: int
    path: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Figures:
    """What a load came to."""

    seconds: float
    requests: int
    latencies: list[float]

    def percentile(self, share: float) -> float:
        """Return a latency in milliseconds."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def point_bodies(rank: int, batches: int) -> Iterator[bytes]:
    """Yield batches of one series, noise around a falling curve."""
    noise = random.Random(rank)  # noqa: S311 (no secret)
    for number in range(batches):
        steps = list(range(number * BATCH, (number + 1) * BATCH))
        event = {
            "seq": number + 1,
            "rank": rank,
            "kind": "points",
            "time": 1.8e9 + steps[-1] * 0.01,
            "series": "train/loss",
            "steps": steps,
            "values": [2 / (1 + step / 1e5) + noise.gauss(0, 0.1) for step in steps],
            "times": [1.8e9 + step * 0.01 + noise.random() * 1e-3 for step in steps],
        }
        yield json.dumps({"attempt": 1, "events": [event]}).encode()


def failure_bodies(rank: int, number: int) -> Iterator[bytes]:
    """Yield single failures of one kind."""
    stack = 'Traceback (most recent call last):\n  File "/job/train.py", line 41, in step\n'
    for seq in range(1_000_000, 1_000_000 + number):
        event = {
            "seq": seq,
            "rank": rank,
            "kind": "failure",
            "time": 1.8e9 + seq,
            "what": "loader-error",
            "exception_type": "OSError",
            "message": f"image file cam{rank}/{seq:06d}.jpg is truncated ({seq} bytes)",
            "traceback": stack + "OSError: image file is truncated",
            "step": seq,
            "samples": [{"path": f"cam{rank}/{seq:06d}.jpg", "index": seq}],
        }
        yield json.dumps({"attempt": 1, "events": [event]}).encode()


def load(
    target: Target, clients: int, bodies: Callable[[int, int], Iterator[bytes]], each: int
) -> Figures:
    """Send from several processes at once; the clock starts when all are ready."""
    context = multiprocessing.get_context("fork")
    gate, results = context.Barrier(clients + 1), context.Queue()
    workers = [
        context.Process(target=_client, args=(target, list(bodies(rank, each)), gate, results))
        for rank in range(clients)
    ]
    for worker in workers:
        worker.start()
    gate.wait()
    began = time.perf_counter()
    latencies = [latency for _ in workers for latency in results.get()]
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    return Figures(seconds, clients * each, latencies)


def _client(target: Target, bodies: Sequence[bytes], gate: Any, results: Any) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", target.port, timeout=60)
    connection.connect()
    gate.wait()
    latencies = []
    for body in bodies:
        began = time.perf_counter()
        connection.request("POST", target.path, body, target.headers)
        answer = connection.getresponse()
        said = answer.read()
        latencies.append(time.perf_counter() - began)
        assert answer.status == 200, said
        assert json.loads(said)["accepted"] == 1, said
    results.put(latencies)


@contextmanager
def bare(folder: Path, port: int) -> Iterator[Target]:
    """The endpoint to compare with."""
    script = folder / "bare.py"
    script.write_text(BARE)
    server = subprocess.Popen([sys.executable, str(script), str(folder / "bare.db"), str(port)])
    try:
        _await(port)
        yield Target(port, "/events", {"Content-Type": "application/json"})
    finally:
        server.kill()
        server.wait()


def _await(port: int) -> None:
    for _ in range(200):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the bare endpoint did not start")


@contextmanager
def ours(state: Path) -> Iterator[Target]:
    """A real server on a state with an open run."""
    state.mkdir()
    database = open_database(state / "sickbay.db")
    opened = database.writing(lambda session: open_run(session, Opening("speed", "l", "p")))
    token = database.writing(lambda session: tokens.create(session, "speed", [Scope.EVENTS]))
    database.close()
    with serving(state) as server:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        yield Target(server.port, f"/api/v1/runs/{opened.run}/events", headers)


def stored(state: Path) -> tuple[int, float]:
    """Return how many points a state holds, and bytes of its database a point."""
    path = state / "sickbay.db"
    database = open_database(path)
    with database.reading() as session:
        key = session.connection().exec_driver_sql("SELECT key FROM run").scalar_one()
        number = series.count_points(session, key)
    database.close()
    with sqlite3.connect(path) as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return number, path.stat().st_size / number


def measure(points: int = POINTS) -> None:
    """Print both servers' figures."""
    folder = Path(tempfile.mkdtemp(prefix="sickbay-ingest-"))
    each = points // SENDERS // BATCH
    with bare(folder, 8911) as target:
        plain = load(target, SENDERS, point_bodies, each)
        plain_failures = load(target, FAILERS, failure_bodies, FAILURES // FAILERS)
    state = folder / "state"
    with ours(state) as target:
        own = load(target, SENDERS, point_bodies, each)
        number, size = stored(state)
        own_failures = load(target, FAILERS, failure_bodies, FAILURES // FAILERS)
    shutil.rmtree(folder)
    rates = [one.requests * BATCH / one.seconds for one in (plain, own)]
    lines = [
        f"points/s: bare {rates[0]:,.0f}, ours {rates[1]:,.0f} ({rates[1] / rates[0]:.0%})",
        f"bytes a point on disk: {size:.1f} ({number:,} points)",
    ]
    for name, one in (("bare", plain_failures), ("ours", own_failures)):
        lines.append(
            f"single failures, {name}: {one.requests / one.seconds:,.0f}/s, median "
            f"{one.percentile(0.5):.1f} ms, p99 {one.percentile(0.99):.1f} ms"
        )
    share = plain_failures.seconds / own_failures.seconds
    lines.append(f"single failures: {share:.0%} of bare")
    print("\n".join(lines))  # noqa: T201 (a benchmark prints)


@pytest.mark.soak
def test_ingest_beside_a_bare_endpoint() -> None:
    measure()


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else POINTS)
