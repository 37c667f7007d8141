"""What ``Traced`` takes of a loader's throughput at four workers.

    python -m pytest -m soak -s tests/benchmarks/test_traced_overhead.py

The same pictures are decoded by the same loader, with and without, in turns within one run, so
that both meet the same machine; the median of the ratios counts. What is measured is processor
time, of this process and of the workers: it is what bounds the throughput, and other people's work
on the machine is not in it. Pictures of 320 x 240 are small: larger ones make the share smaller.
Beside it, what one item costs where nothing is decoded.
"""

import os
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from tests.pictures import jpeg

from sickbay.trainer.traced import Traced, samples_of

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

_PICTURES, _BATCH, _WORKERS, _TURNS = 256, 32, 4, 7
_BAR = 0.03


class Pictures:
    """Decodes pictures into tensors."""

    def __init__(self, folder: Path, repeat: int = 2) -> None:
        self.files = sorted(str(path) for path in folder.glob("*.jpg")) * repeat

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        import numpy as np  # noqa: PLC0415 (only where the benchmark runs)
        from PIL import Image  # noqa: PLC0415 (as above)

        with Image.open(self.files[index]) as picture:
            return torch.from_numpy(np.array(picture)).permute(2, 0, 1).float() / 255, index % 10


def _seconds(loader: Any) -> float:
    """Return the processor time of an epoch, here and in the workers, which end with it."""
    begun = os.times()
    for batch in loader:
        samples_of(batch)
    took = [after - before for after, before in zip(os.times(), begun, strict=True)]
    return sum(took[:4])


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
def test_traced_takes_less_than_three_percent_of_the_throughput(tmp_path: Path) -> None:
    for number in range(_PICTURES):
        (tmp_path / f"{number:03}.jpg").write_bytes(jpeg(number, (320, 240)))
    bare = Pictures(tmp_path)
    traced = Traced(bare)
    options: dict[str, Any] = {"batch_size": _BATCH, "num_workers": _WORKERS}
    loaders = (
        torch.utils.data.DataLoader(bare, **options),
        torch.utils.data.DataLoader(traced, collate_fn=traced.collate(), **options),
    )
    ratios = []
    for turn in range(_TURNS):
        order = loaders if turn % 2 else loaders[::-1]
        took = {id(loader): _seconds(loader) for loader in order}
        ratios.append(took[id(loaders[1])] / took[id(loaders[0])])
    share = statistics.median(ratios) - 1
    print(f"\nTraced at {_WORKERS} workers: {share:+.2%} ({min(ratios):.3f} to {max(ratios):.3f})")  # noqa: T201 (figures are what a soak run is for)
    assert share < _BAR


@pytest.mark.soak
def test_an_item_costs_microseconds(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.jpg").write_bytes(jpeg(number, (32, 32)))

    class Nothing:
        files = ("a.jpg",) * 100_000

        def __len__(self) -> int:
            return len(self.files)

        def __getitem__(self, index: int) -> int:
            return index

    bare = Nothing()
    traced = Traced(bare)
    took = []
    for data in (bare, traced):
        begun = time.perf_counter()
        for index in range(100_000):
            data[index]
        took.append((time.perf_counter() - begun) * 10)
    print(f"\nan item: {took[0]:.2f} µs bare, {took[1]:.2f} µs traced, without a slot")  # noqa: T201 (as above)
    assert took[1] - took[0] < 50
