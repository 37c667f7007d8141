"""First chart data of a long series, and what is in it, folded as it came.

    python -m pytest -m soak -s tests/benchmarks/test_chart.py
    python tests/benchmarks/test_chart.py [POINTS]

200 one-step spikes, five NaN and two infinities lie in noise; each must be in the chart of the
whole series and of every part of it that is looked at. Times are the server's: from the question
to the answer's bytes.
"""

import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from array import array
from pathlib import Path
from typing import Any

import pytest

from sickbay.contract.event import Event, Points
from sickbay.contract.event_batch import Batch
from sickbay.contract.opening import Opening
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.runs.charts import chart
from sickbay.runs.ingest import receive
from sickbay.runs.opening import open_run

POINTS = int(os.environ.get("SICKBAY_BENCHMARK_POINTS", "1000000"))
SPIKES, ODD = 200, (math.nan, math.inf, math.nan, -math.inf, math.nan, math.nan, math.nan)


def values(number: int) -> tuple[list[float], dict[int, float]]:
    """Return noise with spikes and non-finite values in it, and these alone by step."""
    noise = random.Random(3)  # noqa: S311 (no secret)
    made = [noise.gauss(1, 0.1) for _ in range(number)]
    marked = {number // SPIKES * at + 7: 100.0 + at for at in range(SPIKES)}
    marked |= {number // 10 * at + 11: value for at, value in enumerate(ODD, start=1)}
    for step, value in marked.items():
        made[step] = value
    return made, marked


def fill(database: Database, series: list[float]) -> str:
    """Send a series in batches of a thousand points; return the run's key."""
    opened = database.writing(lambda session: open_run(session, Opening("long", "l", "p")))
    for at in range(0, len(series), 1000):
        steps = range(at, at + 1000)
        columns = array("q", steps), array("d", series[at : at + 1000])
        times = array("d", [1.8e9 + step * 0.01 for step in steps])
        event = Event(at // 1000 + 1, 0, times[-1], Points("loss", *columns, times))
        receive(database, opened.run, Batch(opened.attempt, (event,)))
    return opened.run


def look(database: Database, run: str, since: int, until: int) -> tuple[float, dict[str, Any]]:
    """Return how many milliseconds a chart takes, and the curve in it."""
    began = time.perf_counter()
    with database.reading() as session:
        found = chart(session, run, "loss", since=since, until=until)
    answer = json.dumps(found.to_json())
    taken = 1000 * (time.perf_counter() - began)
    curve: dict[str, Any] = json.loads(answer)["curves"][0]
    return taken, curve


def lost(curve: dict[str, Any], marked: dict[int, float], since: int, until: int) -> int:
    """Return how many of the marked values in a range are not in its chart."""
    inside = [value for step, value in marked.items() if since <= step <= until]
    shown = set(curve["high"])
    spikes = [value for value in inside if math.isfinite(value)]
    odd = sum(sum(curve[name]) for name in ("nan", "pos_inf", "neg_inf"))
    # At the edges a chart shows whole buckets, so there may be more than asked for, never less.
    return sum(spike not in shown for spike in spikes) + max(0, len(inside) - len(spikes) - odd)


def measure(number: int = POINTS) -> None:
    """Print times at several zooms."""
    series, marked = values(number)
    with tempfile.TemporaryDirectory(prefix="sickbay-chart-") as folder:
        database = open_database(Path(folder) / "sickbay.db")
        run = fill(database, series)
        for share in (1, 2, 5, 10, 50, 100, 1000, 10_000):
            since = 0 if share == 1 else number // 3
            until = min(since + number // share, number) - 1
            taken, curve = look(database, run, since, until)
            times = [look(database, run, since, until)[0] for _ in range(20)]
            missing = lost(curve, marked, since, until)
            print(  # noqa: T201 (a benchmark prints)
                f"{until - since + 1:>9,} steps: first {taken:.1f} ms, median "
                f"{statistics.median(times):.1f} ms, {len(curve['n'])} buckets, lost {missing}"
            )
            assert not missing
        database.close()


@pytest.mark.soak
def test_the_first_chart_of_a_long_series() -> None:
    measure()


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else POINTS)
