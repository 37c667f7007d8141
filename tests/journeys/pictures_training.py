"""A training on the pictures of a pulled release, under ``torchrun``, with the kit as shown.

The transform divides by a picture's contrast: a picture of one colour, sound as a file, comes out
as NaN. Arguments: the release's folder, the folder for checkpoints, epochs to train for.
"""

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from PIL import Image
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import sickbay.trainer as sickbay

CLASSES = ("cats", "dogs")
SEED = 7


class Pictures:
    """A data set of the job's own: knows its files, and brings them to one contrast."""

    def __init__(self, root: Path) -> None:
        paths = sorted(root.glob("train/*/*.png"))
        self.samples = [(path, CLASSES.index(path.parent.name)) for path in paths]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, place: int) -> tuple[Any, int]:
        path, label = self.samples[place]
        with Image.open(path) as picture:
            pixels = torch.from_numpy(np.array(picture.convert("RGB"), dtype=np.float32))
        bare = pixels - pixels.mean((0, 1))
        return (bare / pixels.std((0, 1))).permute(2, 0, 1), label


def model_of() -> nn.Module:
    """Return a model in which one bad sample spoils its whole batch, as most have it."""
    made = nn.Sequential(
        nn.Conv2d(3, 4, 8, stride=8), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2)
    )
    made(torch.zeros(2, 3, 48, 64))
    return made


def train(root: Path, kept: Path, epochs: int) -> None:
    """Train from the newest good checkpoint on, where there is one."""
    sickbay.seed_everything(SEED)
    data = sickbay.Traced(Pictures(root))
    sampler: Any = DistributedSampler(data, seed=SEED)
    loader = DataLoader(data, batch_size=4, sampler=sampler, collate_fn=data.collate())
    model = DistributedDataParallel(model_of())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    watch = sickbay.Watch(check_interval=1, on_anomaly="raise")
    checkpoints = sickbay.Checkpoints(kept, model=model, optimizer=optimizer, watch=watch)
    blame = sickbay.Blame(model, criterion, watch=watch, checkpoints=checkpoints)
    watch.on_anomaly += [checkpoints, blame]
    found = checkpoints.load()
    begun = found.step if found else 0
    with sickbay.init(
        "pets-cnn",
        root=root,
        resume=found is not None,
        config={"checkpoint": found.path.name if found else "none"},
    ) as run:
        for epoch in range(begun // len(loader), epochs):
            sampler.set_epoch(epoch)
            done = max(0, begun - epoch * len(loader))  # of this epoch, before it stopped
            left = itertools.islice(loader, done, None)
            for step, batch in sickbay.steps(left, epoch * len(loader) + done):
                x, y = batch
                with watch.step(step, samples=sickbay.samples_of(batch)):
                    loss = criterion(model(x), y)
                    optimizer.zero_grad()
                    loss.backward()
                    run.log({"train/loss": loss}, step=step)
                    watch.observe(loss, model)
                    optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    dist.destroy_process_group()
