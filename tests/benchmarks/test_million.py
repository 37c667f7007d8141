"""Memory of the process that scans one million files, and its own time for each.

    python -m tests.benchmarks.test_million [FILES]

The tree is real, its files are empty. What is found in each is not decoded but drawn, by an
executor that answers at once, so that everything the parent does is there: the walk, all checks
of the whole set (a fiftieth are copies, a fiftieth near ones), the records, and the cache.
"""

import hashlib
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

from sickbay.scanner import Examined, NdjsonSink, scan
from sickbay.scanner.cache import Cache
from sickbay.scanner.evidence import Traits

_FILES = 1_000_000
_FOLDERS = 1000
_MIB = 1 << 20


class Drawn(Executor):
    """Answers for each task with a picture that nobody drew."""

    def submit(self, _act: Any, /, _job: Any, tasks: Any) -> "Future[Any]":  # type: ignore[override]
        """Answer at once."""
        future: Future[Any] = Future()
        future.set_result([drawn(task.raw) for task in tasks])
        return future


def drawn(raw: bytes) -> Examined:
    """Facts of one picture by its name: most unlike all others, some copies, some nearly."""
    number = int(raw[-11:-4])
    content = number - 1 if number % 50 == 1 else number
    rng = random.Random(number - 1 if number % 50 == 3 else content)  # noqa: S311
    return Examined(
        size=100_000 + rng.randrange(100_000),
        mtime_ns=10**18 + number,
        stat=(1, number, 10**18),
        sha256=hashlib.sha256(b"%d" % content).hexdigest(),
        width=500,
        height=375,
        format="JPEG",
        mode="RGB",
        traits=Traits(rng.getrandbits(64), rng.random() * 255),
        decoded=True,
    )


def make_tree(root: Path, count: int) -> None:
    """Write empty files into a thousand folders, four fifths of them for training."""
    for folder in range(_FOLDERS):
        split = "val" if folder % 5 == 0 else "train"
        place = root / split / f"class-{folder % 100:02d}" / f"{folder:04d}"
        place.mkdir(parents=True)
        for number in range(folder, count, _FOLDERS):
            (place / f"{number:07d}.jpg").touch()


@dataclass(frozen=True)
class Measured:
    """Peak memory in MiB, and microseconds of CPU a file, of one process."""

    memory: float
    cpu: float

    def __str__(self) -> str:
        return f"peak memory {self.memory:.0f} MiB, {self.cpu:.0f} us of CPU a file\n"


def one_scan(folder: Path, count: int, *, cached: bool) -> Measured:
    """Scan in this process, which has done nothing else."""
    before = time.process_time()
    cache = Cache(folder / "cache", clock=lambda: time.time_ns() + 10**12) if cached else None
    sink = NdjsonSink(folder / "out.ndjson")
    summary = scan(folder / "root", dataset="million", sink=sink, executor=Drawn(), cache=cache)
    assert (summary.found, cache is None or cache.counts.trouble) in {(count, True), (count, "")}
    cpu = (time.process_time() - before) / count * 1e6
    return Measured(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, cpu)


@pytest.mark.soak
def test_a_million_files_fit_into_300_mebibytes(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    make_tree(tmp_path / "root", _FILES)
    for word in ("first", "changed", "same"):
        if word == "changed":
            (tmp_path / "root/train/class-01/0001/0000001.jpg").write_bytes(b"x")
        command = [sys.executable, "-m", "tests.benchmarks.test_million", str(tmp_path), word]
        said = run(command, capture_output=True, text=True, check=True).stdout
        record_property(word, said)
        assert float(said.split()[2]) < 300


def main(folder: str, count: int) -> None:
    """Print the figures of one scan."""
    sys.stdout.write(str(one_scan(Path(folder), count, cached=True)))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(sys.argv[1], _FILES)
    else:
        with tempfile.TemporaryDirectory() as made:
            wanted = int(sys.argv[1]) if len(sys.argv) > 1 else _FILES
            make_tree(Path(made) / "root", wanted)
            main(made, wanted)
