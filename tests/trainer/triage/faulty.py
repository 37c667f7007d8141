"""Training jobs in each of which one thing is wrong."""

import math
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import torch
from tests.trainer.triage.sound import Cells, cells, classifier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, get_worker_info

from sickbay.trainer import TriageJob


class Spoilt(Cells):
    """Cells of which one is spoilt."""

    def __init__(self, spoil: Callable[[torch.Tensor, int], Any], at: int = 5) -> None:
        super().__init__(16)
        self._spoil = spoil
        self._at = at

    def __getitem__(self, index: int) -> Any:
        item = super().__getitem__(index)
        return self._spoil(*item) if index == self._at else item


def spoilt(spoil: Callable[[torch.Tensor, int], Any], **parts: Any) -> Callable[[], TriageJob]:
    return lambda: cells(data=Spoilt(spoil), **parts)


def unreadable(_: torch.Tensor, __: int) -> Any:
    raise OSError("image file is truncated")


def only_in_workers(_: torch.Tensor, __: int) -> Any:
    if get_worker_info():
        raise RuntimeError("the database is open in another process")
    return _, __


def dead_in_workers(x: torch.Tensor, label: int) -> Any:
    if get_worker_info():
        os.kill(os.getpid(), signal.SIGSEGV)
    return x, label


def late_in_workers(x: torch.Tensor, label: int) -> Any:
    if get_worker_info():
        time.sleep(600)
    return x, label


def with_generators(items: Any) -> Any:
    return torch.stack([x for x, _ in items]), (label for _, label in items)


class Cut(nn.Module):
    """A layer whose output is cut off from it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.inner(x).detach()) + x


class Does(nn.Module):
    """A layer that does one thing."""

    def __init__(self, what: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.what = what

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.what(x)


def with_layer(place: int, layer: nn.Module) -> nn.Sequential:
    layers = list(classifier())
    layers.insert(place, layer)
    return nn.Sequential(*layers)


def with_frozen(place: int) -> Callable[[], TriageJob]:
    def job() -> TriageJob:
        model = classifier()
        model[place].requires_grad_(requires_grad=False)
        return cells(model)

    return job


def by(kind: Any, **options: Any) -> Callable[[], TriageJob]:
    def job() -> TriageJob:
        torch.manual_seed(0)
        model = classifier()
        return cells(model, optimizer=kind(model.parameters(), **options))

    return job


def with_new_head() -> TriageJob:
    model = classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model[8] = nn.Linear(16, 4)
    return cells(model, optimizer=optimizer)


def with_part_left_out() -> TriageJob:
    model = classifier()
    return cells(model, optimizer=torch.optim.SGD([*model[:6].parameters()], lr=0.1))


def with_bad_weights() -> TriageJob:
    model = classifier()
    model.load_state_dict(model.state_dict() | {"6.weight": torch.full((16, 128), math.nan)})
    return cells(model)


def with_old_weights() -> TriageJob:
    model = classifier()
    model.load_state_dict(classifier(classes=9).state_dict())
    return cells(model)


def one_channel() -> nn.Sequential:
    model = classifier()
    model[0] = nn.Conv2d(1, 8, 3)
    return model


def not_made_yet() -> TriageJob:
    model = nn.Sequential(nn.Flatten(), nn.LazyLinear(16), nn.ReLU(), nn.Linear(16, 4))
    return cells(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))


class NotPickled(Cells):
    """A data set that no started process can be given."""

    def __init__(self) -> None:
        super().__init__()
        self.change = lambda x: x


def started_workers() -> TriageJob:
    loader = DataLoader(NotPickled(), batch_size=16, num_workers=1, multiprocessing_context="spawn")
    return cells(data=loader)


def too_large() -> TriageJob:
    return cells(with_layer(6, Does(lambda x: x.new_empty(1 << 60))))


def in_both() -> TriageJob:
    job = cells()
    return cells(job.model, optimizer=job.optimizer, validation=Cells(12))


def copied_pictures() -> TriageJob:
    data, other = Cells(seed=1), Cells(24, seed=2)
    other.samples = [(f"val/{index}.png", label) for index, (_, label) in enumerate(data.samples)]
    other.seed = 1
    return cells(data=data, validation=other)


def not_scaled() -> TriageJob:
    class Raw(Cells):
        def __getitem__(self, index: int) -> Any:
            x, label = super().__getitem__(index)
            return x * 60 + 128, label

    other = Raw(seed=3)
    other.samples = [(f"val/{index}.png", label) for index, (_, label) in enumerate(other.samples)]
    return cells(validation=other)


def another_class() -> TriageJob:
    other = Cells(60, 5, seed=3)
    other.samples = [(f"val/{index}.png", label) for index, (_, label) in enumerate(other.samples)]
    return cells(data=Cells(200), validation=other)


def stretched() -> TriageJob:
    x = torch.randn(64, 4)
    model = nn.Linear(4, 1)
    data = TensorDataset(x, x.sum(1))
    return TriageJob(data, model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=1e-3))


def last_of_one() -> TriageJob:
    x = torch.randn(33, 4)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=32)
    return TriageJob(loader, model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=1e-3))


def upside_down() -> TriageJob:
    loss = nn.CrossEntropyLoss()
    return cells(criterion=lambda output, labels: -loss(output, labels))


def cross_entropy_of(change: Callable[[torch.Tensor], Any]) -> Callable[[], TriageJob]:
    loss = nn.CrossEntropyLoss(reduction="none")
    return lambda: cells(criterion=lambda output, labels: change(loss(output, labels)))


def too_many_classes(x: torch.Tensor, _: int) -> Any:
    return x, 7


def vanishing() -> TriageJob:
    return cells(with_layer(6, Does(lambda x: torch.relu(x - 1e6))))


def fading() -> TriageJob:
    layers = [layer for _ in range(40) for layer in (nn.Linear(8, 8), nn.Sigmoid())]
    model = nn.Sequential(nn.Flatten(), nn.Linear(192, 8), nn.Sigmoid(), *layers, nn.Linear(8, 4))
    return cells(model)


def root_of_zero(x: torch.Tensor) -> torch.Tensor:
    return x + (x * 0).sqrt()


def with_branch(x: torch.Tensor) -> torch.Tensor:
    return x if x.sum() > 0 else -x


def cancelled(x: torch.Tensor) -> torch.Tensor:
    """Lose in half precision what a large constant covers."""
    product = torch.nn.functional.linear(x, torch.eye(16) * 1.0, torch.full((16,), 4096.0))
    return (product - 4096.0) * 100


def overflowing(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.linear(x, torch.eye(16) * 1e6) / 1e6
