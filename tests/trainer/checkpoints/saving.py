"""A training that saves checkpoints all the time, to be killed; run as a script.

Each line it prints is a step whose checkpoint was certainly saved.
"""

import sys
from typing import Any

import torch

from sickbay.trainer.checkpoints import Checkpoints


def a_model() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.BatchNorm1d(256))


def parts(folder: str) -> tuple[Any, Any, Checkpoints]:
    model = a_model()
    optimizer = torch.optim.AdamW(model.parameters())
    return model, optimizer, Checkpoints(folder, model=model, optimizer=optimizer, keep_last=2)


def train(folder: str) -> None:
    torch.set_num_threads(1)
    model, optimizer, kept = parts(folder)
    found = kept.load()
    step = found.step if found is not None else 0
    print("begun", flush=True)  # noqa: T201 (it tells the test)
    while True:
        optimizer.zero_grad()
        model(torch.randn(8, 64)).square().mean().backward()
        optimizer.step()
        step += 1
        if kept.save(step, metric=step % 7) is not None:
            print(step, flush=True)  # noqa: T201 (as above)


if __name__ == "__main__":
    train(sys.argv[1])
