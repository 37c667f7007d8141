"""MLflow's own ingest on this machine: ``log_batch(1000)`` over HTTP from four processes.

    python -m venv PEER && PEER/bin/pip install mlflow
    PEER/bin/python tests/benchmarks/peers/mlflow_ingest.py [POINTS]

Run it right after ``python -m tests.benchmarks.test_ingest`` and compare the points a second.
It needs MLflow and nothing of ours.
"""

import multiprocessing
import subprocess
import sys
import tempfile
import time
import urllib.request
from typing import Any

BATCH, SENDERS, PORT = 1000, 4, 8912
_LOCAL = f"http://127.0.0.1:{PORT}"


def main() -> None:
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 40_000
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mlflow", "server", "--port", str(PORT), "--workers", "1"]
        store = ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
        server = subprocess.Popen(
            [*command, *store, "--artifacts-destination", folder],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _await()
            seconds = _load(points // SENDERS // BATCH)
        finally:
            server.terminate()
            server.wait()
    print(f"MLflow log_batch({BATCH}): {points / seconds:,.0f} points/s")  # noqa: T201 (its output)


def _await() -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{_LOCAL}/health", timeout=5):  # noqa: S310 (our own server)
                return
        except OSError:
            time.sleep(0.2)
    sys.exit("MLflow did not start.")


def _load(each: int) -> float:
    """Return the seconds from when all senders are ready until the last is done."""
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(SENDERS + 1)
    senders = [context.Process(target=_send, args=(each, gate)) for _ in range(SENDERS)]
    for one in senders:
        one.start()
    gate.wait()
    began = time.perf_counter()
    for one in senders:
        one.join()
    return time.perf_counter() - began


def _send(batches: int, gate: Any) -> None:
    from mlflow import MlflowClient  # noqa: PLC0415 (only in the peer's environment)
    from mlflow.entities import Metric  # noqa: PLC0415 (as above)

    client = MlflowClient(tracking_uri=_LOCAL)
    run = client.create_run("0").info.run_id
    made = [
        [Metric("train/loss", 1 / (step + 1), int(step), step) for step in range(at, at + BATCH)]
        for at in range(0, batches * BATCH, BATCH)
    ]
    gate.wait()
    for batch in made:
        client.log_batch(run, metrics=batch)


if __name__ == "__main__":
    main()
