"""Training jobs that nothing is wrong with."""

from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from sickbay.trainer import TriageJob


class Cells(Dataset[tuple[torch.Tensor, int]]):
    """Small pictures whose brightness tells their class."""

    def __init__(self, count: int = 96, classes: int = 4, side: int = 8, seed: int = 0) -> None:
        self.samples = [(f"cells/{index}.png", index % classes) for index in range(count)]
        self.side = side
        self.seed = seed

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = self.samples[index][1]
        drawn = torch.Generator().manual_seed(self.seed * 10_000 + index)
        return torch.randn(3, self.side, self.side, generator=drawn) + label / 2, label


def classifier(side: int = 8, classes: int = 4, width: int = 8) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.AdaptiveAvgPool2d(side // 2),
        nn.Flatten(),
        nn.Linear(width * (side // 2) ** 2, 16),
        nn.ReLU(),
        nn.Linear(16, classes),
    )


def cells(model: nn.Module | None = None, data: Any = None, **parts: Any) -> TriageJob:
    """A classifier of pictures, with parts of it exchanged."""
    model = model or classifier()
    named: dict[str, Any] = {
        "criterion": nn.CrossEntropyLoss(),
        "optimizer": torch.optim.AdamW(model.parameters(), lr=1e-3),
        "batch_size": 16,
        **parts,
    }
    return TriageJob(Cells() if data is None else data, model, **named)


def line(rate: float = 0.01, seed: int = 0, width: int = 4) -> TriageJob:
    """A regression, trained by plain SGD."""
    drawn = torch.Generator().manual_seed(seed)
    x = torch.randn(80, width, generator=drawn)
    y = x.sum(1, keepdim=True) + 1
    model = nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    return TriageJob(loader, model, nn.MSELoss(), optimizer)
