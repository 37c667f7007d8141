"""CPU per picture of a scan beside a naive loop and beside the bare decoder, in one run.

    python -m tests.benchmarks.test_scan_speed [PICTURES]

Children are counted. One generated tree: 500 x 375 JPEGs of about 100 KB, 5 % PNG, 2 % damaged
(truncated, a zeroed block, zero bytes, text called .jpg).
"""

import hashlib
import io
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import simplejpeg
from PIL import Image
from tests.pictures import jpeg, png, truncated, write, zeroed

from sickbay.contract.finding import FileRecord, SampleRecord, ScanRecord, SummaryRecord
from sickbay.scanner import scan

_PICTURES = 4000
_DISTINCT = 50  # pictures encoded; each file then gets a comment of its own
_SIZE = (500, 375)


@dataclass(frozen=True)
class Tree:
    """The generated data set."""

    root: Path
    bad: frozenset[str]
    count: int


def make_tree(root: Path, count: int) -> Tree:
    """Write ``count`` pictures below ``root``; every fiftieth is damaged, every twentieth PNG."""
    jpegs = [jpeg(seed, _SIZE, quality=92) for seed in range(_DISTINCT)]
    pngs = [png(seed, _SIZE) for seed in range(5)]
    bad = set()
    for number in range(count):
        name = f"{'abcd'[number % 4]}/{number:06d}"
        data = _own(jpegs[number % _DISTINCT], number)
        if number % 50 == 7:
            name, data = f"{name}.jpg", _damaged(data, number // 50)
            bad.add(name)
        elif number % 20 == 3:
            name, data = f"{name}.png", pngs[number % 5]
        else:
            name = f"{name}.jpg"
        write(root, name, data)
    return Tree(root, frozenset(bad), count)


def _own(data: bytes, number: int) -> bytes:
    comment = f"{number:08d}".encode()
    return data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:]


def _damaged(data: bytes, way: int) -> bytes:
    return (truncated(data), zeroed(data), bytes(len(data)), b"not a picture\n" * 50)[way % 4]


def files_of(tree: Tree) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes in order."""
    for path in sorted(tree.root.rglob("*.*")):
        yield str(path.relative_to(tree.root)), path.read_bytes()


def naive(tree: Tree) -> set[str]:
    """What many write by hand: verify, reopen, convert, hash."""
    bad = set()
    for name, data in files_of(tree):
        try:
            Image.open(io.BytesIO(data)).verify()
            Image.open(io.BytesIO(data)).convert("RGB").load()
        except Exception:  # noqa: BLE001 (whatever a decoder raises)
            bad.add(name)
        hashlib.sha256(data).hexdigest()
    return bad


def bare(tree: Tree) -> set[str]:
    """The decoder alone: strict libjpeg-turbo at 1/8 scale (Pillow for PNG), and the hash."""
    bad = set()
    for name, data in files_of(tree):
        try:
            if name.endswith(".png"):
                Image.open(io.BytesIO(data)).load()
            else:
                simplejpeg.decode_jpeg(data, min_height=1, min_width=1, min_factor=8, strict=True)
        except Exception:  # noqa: BLE001 (whatever a decoder raises)
            bad.add(name)
        hashlib.sha256(data).hexdigest()
    return bad


class Held:
    """A sink that keeps the names of what is held."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.thumbnails = 0

    def header(self, record: ScanRecord) -> None:
        """Nothing to keep."""

    def sample(
        self, record: SampleRecord, thumbnail: bytes | None, stat: tuple[int, int, int] | None
    ) -> None:
        """Keep the held."""
        del stat
        if record.held:
            self.names.add(record.path.text)
            self.thumbnails += thumbnail is not None

    def file(self, record: FileRecord) -> None:
        """Nothing to keep."""

    def finish(self, record: SummaryRecord) -> None:
        """Nothing to keep."""

    def abort(self) -> None:
        """Nothing to undo."""


def ours(tree: Tree, workers: int) -> set[str]:
    """A whole scan."""
    sink = Held()
    scan(tree.root, dataset="speed", sink=sink, workers=workers)
    return sink.names


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


@dataclass(frozen=True)
class Measured:
    """One line of the table."""

    cpu_ms: float
    wall_ms: float
    found: int


def measured(act: Callable[[Tree], set[str]], tree: Tree) -> Measured:
    """Time one way over the whole tree."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    found = act(tree)
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    return Measured(cpu / tree.count * 1000, wall / tree.count * 1000, len(found & tree.bad))


def compare(tree: Tree) -> dict[str, Measured]:
    """Measure all ways, one after another, on the same files."""
    ways: dict[str, Callable[[Tree], set[str]]] = {
        "naive loop": naive,
        "bare decoder": bare,
        "sickbay, one process": lambda tree: ours(tree, 1),
        "sickbay, two processes": lambda tree: ours(tree, 2),
    }
    return {name: measured(way, tree) for name, way in ways.items()}


def table(results: dict[str, Measured], bad: int) -> str:
    """Lay the results out beside the two they are measured against."""
    naive_ms, bare_ms = results["naive loop"].cpu_ms, results["bare decoder"].cpu_ms
    rows = [f"{'':24}{'CPU ms':>8}{'of naive':>10}{'of bare':>9}{'wall ms':>9}{'found':>8}"]
    for name, line in results.items():
        shares = f"{line.cpu_ms / naive_ms:>10.0%}{line.cpu_ms / bare_ms:>9.0%}"
        found = f"{line.found}/{bad}"
        rows.append(f"{name:24}{line.cpu_ms:8.2f}{shares}{line.wall_ms:9.2f}{found:>8}")
    return "\n".join(rows) + "\n"


@pytest.mark.soak
def test_a_scan_is_cheaper_than_a_naive_loop_and_little_dearer_than_the_decoder(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    tree = make_tree(tmp_path, _PICTURES)
    results = compare(tree)
    record_property("table", table(results, len(tree.bad)))
    one, two = results["sickbay, one process"], results["sickbay, two processes"]
    assert one.found == two.found == len(tree.bad)
    assert one.cpu_ms <= 0.75 * results["naive loop"].cpu_ms
    assert one.cpu_ms <= 1.25 * results["bare decoder"].cpu_ms
    assert two.cpu_ms <= 1.15 * one.cpu_ms


def main(count: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        tree = make_tree(Path(folder), count)
        sys.stdout.write(table(compare(tree), len(tree.bad)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else _PICTURES)
