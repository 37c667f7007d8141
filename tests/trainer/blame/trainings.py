"""Small trainings on the CPU in which something goes wrong on purpose."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from tests.trainer.ward import Ward
from torch import nn

from sickbay.contract.blame import Verdict
from sickbay.trainer.run import Run
from sickbay.trainer.watch import Watch

CLASSES, WIDTH = 4, 8


def a_model(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(WIDTH, 16), *layers, nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, CLASSES)
    )


def a_batch(size: int = 32) -> tuple[Any, Any]:
    """Return inputs, and the targets that a model can learn from them."""
    x = torch.randn(size, WIDTH)
    return x, x[:, :CLASSES].clone()


def paths(step: int, size: int = 32) -> list[str]:
    return [f"{step}/{row}.png" for row in range(size)]


class Training:
    """A loop that may be stopped anywhere."""

    def __init__(self, model: Any, run: Run, *, lr: float = 1e-2, interval: int = 1) -> None:
        self.model = model
        self.criterion: Any = nn.MSELoss()
        self.optimizer: Any = torch.optim.AdamW(model.parameters(), lr=lr)
        self.watch = Watch(run, check_interval=interval)
        self.begins: list[Callable[[Any], object]] = []

    def steps(self, batches: Iterator[tuple[int, Any, Any]]) -> None:
        for step, x, y in batches:
            with self.watch.step(step, samples=paths(step, len(x))):
                for told in self.begins:
                    told((x, y))
                loss = self.criterion(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.watch.observe(loss, self.model)
                self.optimizer.step()

    def warm_up(self, steps: int = 50, size: int = 32) -> None:
        self.steps((step, *a_batch(size)) for step in range(steps))


def only_verdict(ward: Ward) -> Verdict:
    found = ward.of(Verdict)
    assert len(found) == 1, [(one.outcome, one.detail) for one in found]
    verdict: Verdict = found[0]
    return verdict
