"""What ``log`` costs the training's thread, whatever state the server and the disk are in.

    python -m pytest -m soak -s tests/benchmarks/test_log_latency.py

Each case is a process of its own that logs three numbers a call: 20,000 calls a tenth of a
millisecond apart for the cost of a call, a flood without any pause, and 200 steps of 50 ms of
work for what the kit's threads take of a step. The process asks for real-time priority, so that
a busy machine passes for one with a quiet core; where that is refused, the core must be quiet.
The bar: mean at most 15 µs, 99 of 100 within 100 µs, none over 5 ms, ``init`` within 1 s, a step
less than 1 % longer, no exception.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.trainer.ward import Ward, serving

_TRAINING = """
import contextlib, json, os, resource, sys, time
with contextlib.suppress(OSError, AttributeError):
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
if "full" in sys.argv:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
import sickbay.trainer as sickbay

clock = time.perf_counter_ns
def logged(run, calls, gap_ns):
    took = []
    for step in range(calls):
        end = clock() + gap_ns
        while clock() < end:
            pass
        before = clock()
        run.log({"train/loss": 1.0 / (step + 1), "lr": 0.1, "train/accuracy": 0.5}, step=step)
        took.append(clock() - before)
    return took

begun = clock()
run = sickbay.init("latency")
opened = (clock() - begun) / 1e9
apart = logged(run, 20_000, 100_000)
time.sleep(2)  # what was logged just now is written and sent
all_threads, this_one = time.process_time(), time.thread_time()
steps = logged(run, 200, 50_000_000)
others = time.process_time() - all_threads - (time.thread_time() - this_one)
share = (others + sum(steps) / 1e9) / (200 * 0.05)
flood = logged(run, 200_000, 0)
print(json.dumps([opened, apart, flood, share]))
run.finish(timeout=2)
"""


@dataclass(frozen=True)
class Cost:
    """What one case cost: seconds, microseconds, and a share of the step."""

    init: float
    mean: float
    p99: float
    longest: float
    flood: float
    share: float

    def __str__(self) -> str:
        return (
            f"init {self.init * 1e3:5.1f} ms; log mean {self.mean:4.1f}, p99 {self.p99:5.1f}, "
            f"longest {self.longest:6.0f} µs, flood {self.flood:4.1f} µs; step +{self.share:.3%}"
        )


def _cost(environment: dict[str, str], *words: str) -> Cost:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SICKBAY_")}
    done = subprocess.run(
        [sys.executable, "-c", _TRAINING, *words],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    init, apart, flood, share = json.loads(done.stdout)
    in_order = sorted(apart)
    return Cost(
        init,
        statistics.fmean(apart) / 1e3,
        in_order[len(in_order) * 99 // 100] / 1e3,
        in_order[-1] / 1e3,
        statistics.fmean(flood) / 1e3,
        share,
    )


CASES = ("disabled", "offline", "absent", "well", "hanging", "500", "garbage", "full", "full well")


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A state of server and disk, by name, and the environment that means it."""
    name: str = request.param
    environment = {"SICKBAY_SPOOL": str(tmp_path / "spool")}
    mood = name.removeprefix("full ")
    with ExitStack() as stack:
        if mood in ("well", "hanging", "500", "garbage"):
            environment["SICKBAY_URL"] = stack.enter_context(serving(Ward(mood=mood))).url
        elif mood == "absent":
            environment["SICKBAY_URL"] = "http://127.0.0.1:9"
        elif mood == "disabled":
            environment["SICKBAY_MODE"] = "disabled"
        yield name, environment


@pytest.mark.soak
def test_log_costs_microseconds_whatever_happens(case: tuple[str, dict[str, str]]) -> None:
    name, environment = case
    cost = _cost(environment, *name.split())
    print(f"\n{name:10} {cost}")  # noqa: T201 (figures are what a soak run is for)
    assert cost.init < 1.0
    assert cost.mean <= 15
    assert cost.p99 <= 100
    assert cost.longest < 5000
    assert cost.share < 0.01
