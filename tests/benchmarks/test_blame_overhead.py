"""What Blame and Checkpoints take of a training step on the CPU, with many normalisation layers.

    python -m pytest -m soak -s tests/benchmarks/test_blame_overhead.py

Both look at a model before each forward pass: random states, and buffers, of which 53 BatchNorm
layers (as many as a ResNet-50 has) hold 159. The look is timed by itself, between the steps of a
training, as processor time, for other people's work on the machine is not in that; the median
counts. The bar: less than 1 % of a step of 50 ms.
"""

import statistics
import time
from pathlib import Path
from typing import Any

import pytest

import sickbay.trainer as sickbay
from sickbay.trainer.checkpoints.before import calls_of

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")
_LAYERS, _STEPS, _STEP = 53, 200, 50.0


def _network() -> Any:
    nn = torch.nn
    layers = [(nn.Conv2d(64, 64, 1, bias=False), nn.BatchNorm2d(64)) for _ in range(_LAYERS)]
    return nn.Sequential(*[one for pair in layers for one in pair], nn.Flatten(), nn.Linear(256, 4))


def _milliseconds(act: Any, *args: Any) -> float:
    begun = time.thread_time_ns()
    act(*args)
    return (time.thread_time_ns() - begun) / 1e6


@pytest.mark.soak
def test_a_look_before_each_pass_takes_less_than_a_hundredth_of_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICKBAY_MODE", "disabled")
    torch.set_num_threads(1)
    model, criterion = _network(), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    watch = sickbay.Watch()
    kept = sickbay.Checkpoints(tmp_path, model=model, watch=watch)
    blame = sickbay.Blame(model, criterion, watch=watch, checkpoints=kept)
    calls = calls_of(model)
    looks, steps = [], []
    for step in range(_STEPS):
        x, y = torch.randn(16, 64, 2, 2), torch.randint(0, 4, (16,))
        with watch.step(step, samples=[f"{step}/{at}.png" for at in range(16)]):
            begun = time.perf_counter_ns()
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.append((time.perf_counter_ns() - begun) / 1e6)
        looks.append(_milliseconds(calls.came, model, (x,), {}))
    took, usual = statistics.median(looks), statistics.median(steps)
    print(  # noqa: T201 (figures are what a soak run is for)
        f"\n{_LAYERS} BatchNorm layers: a look for both {took:.3f} ms, {took / _STEP:.2%} of "
        f"50 ms (a step of this small model {usual:.1f} ms)"
    )
    assert blame.model is model
    assert took < 0.01 * _STEP
