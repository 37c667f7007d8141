"""CPU of a scan where nothing changed since the last, beside looking at all names and times alone.

    python -m tests.benchmarks.test_rescan [FILES]

One generated tree of small sound JPEGs in a hundred folders. Everything of the rescan counts: the
walk, the look whether anything changed, the records written once more and flushed to the disk.
"""

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.pictures import jpeg

from sickbay.scanner import NdjsonSink, scan
from sickbay.scanner.cache import Cache

_FILES = 100_000
_ROUNDS = 5
_LATER = 10**12  # ns: so long after everything was written


def make_tree(root: Path, count: int) -> None:
    """Write ``count`` pictures of 16 x 16 pixels, all of one content but for a comment."""
    data = jpeg(1, (32, 32))
    for number in range(count):
        folder = root / f"{number % 100:02d}"
        if number < 100:
            folder.mkdir(parents=True)
        comment = b"\xff\xfe\x00\x0a%08d" % number
        (folder / f"{number:07d}.jpg").write_bytes(data[:2] + comment + data[2:])


def look(top: str) -> int:
    """List all folders and ask for the times of every file; nothing else."""
    found, folders = 0, [top]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    found += 1
    return found


@dataclass(frozen=True)
class Measured:
    """Microseconds of CPU for each file, children included."""

    look: float
    rescan: float
    first: float

    @property
    def ratio(self) -> float:
        """Of a rescan to the look."""
        return self.rescan / self.look

    def __str__(self) -> str:
        return (
            f"scandir and stat {self.look:.2f} us a file, rescan {self.rescan:.2f} us "
            f"({self.ratio:.2f} times), first scan {self.first:.0f} us\n"
        )


def spent(act: Callable[[], object]) -> float:
    """CPU seconds of a call and of the children that ended in it."""

    def now() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in used)

    before = now()
    act()
    return now() - before


def measure(folder: Path, count: int) -> Measured:
    """Scan once, then compare in turns."""
    root, out = folder / "root", folder / "out.ndjson"
    make_tree(root, count)

    def rescan(reads: int) -> None:
        cache = Cache(folder / "cache", clock=lambda: time.time_ns() + _LATER)
        scan(root, dataset="rescan", sink=NdjsonSink(out), cache=cache)
        assert cache.counts.read == reads

    first = spent(lambda: rescan(count))
    before = out.read_bytes()
    looks, rescans = [], []
    for _ in range(_ROUNDS):
        looks.append(spent(lambda: look(str(root))))
        rescans.append(spent(lambda: rescan(0)))
    assert out.read_bytes() == before
    looked, rescanned = (statistics.median(values) / count * 1e6 for values in (looks, rescans))
    return Measured(looked, rescanned, first / count * 1e6)


@pytest.mark.soak
def test_a_rescan_of_unchanged_files_costs_at_most_five_times_a_look_at_them(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    measured = measure(tmp_path, _FILES)
    record_property("figures", str(measured))
    assert measured.ratio <= 5


def main(count: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(str(measure(Path(folder), count)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else _FILES)
