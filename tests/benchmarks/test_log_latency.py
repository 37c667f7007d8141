"""What ``log`` costs the training's thread, whatever state the server and the disk are in.

Run on a quiet core with ``pytest tests/benchmarks/test_log_latency.py -m soak -s``. The bar: mean
at most 15 µs, p99 at most 100 µs, longest under 5 ms, no exception, ``init`` within 1 s, a step
of 50 ms less than 1 % longer.
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.trainer.ward import Ward

PRE: list[str] = []
CALLS = 20_000
"""Calls measured; a pause of a tenth of a millisecond behind each, as between quick steps."""

_TRAINING = """
import json, sys, time
import sickbay.trainer as sickbay
calls, step_ms = int(sys.argv[1]), float(sys.argv[2])
clock = time.perf_counter_ns
begun = clock()
run = sickbay.init("latency")
opened = clock() - begun
took, steps = [], []
for step in range(calls):
    started = clock()
    end = started + int(step_ms * 1e6)
    while clock() < end:
        pass
    before = clock()
    run.log({"train/loss": 1.0 / (step + 1), "lr": 0.1, "train/accuracy": 0.5}, step=step)
    after = clock()
    took.append(after - before)
    steps.append(after - started)
print(json.dumps([opened, took, steps]))
run.finish(timeout=2)
"""


def _measured(
    environment: dict[str, str], calls: int, step_ms: float
) -> tuple[float, list[int], list[int]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SICKBAY_")}
    done = subprocess.run(
        [*PRE, sys.executable, "-c", _TRAINING, str(calls), str(step_ms)],
        env={**kept, **environment},
        capture_output=True,
        check=True,
        timeout=300,
    )
    opened, took, steps = json.loads(done.stdout)
    assert b"Traceback" not in done.stderr
    return opened / 1e9, took, steps
