"""CPU per picture of a scan beside other ways over the same files, in one run.

    python -m tests.benchmarks.test_scan_speed [PICTURES]

Children are counted. One generated tree: 500 x 375 JPEGs of about 100 KB, 5 % PNG, 2 % damaged
(truncated, a zeroed block, zero bytes, text called .jpg). SICKBAY_PHOTOS names a folder of JPEGs
to crop the pictures from, instead of making them up. SICKBAY_CLEANVISION names the Python of an
environment with CleanVision, see ``peers/cleanvision_issues.py``; without it that line is left out.
"""

import hashlib
import io
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import simplejpeg
from PIL import Image
from tests.damage import crop, photos_given
from tests.pictures import encoded, jpeg, picture, png, truncated, write, zeroed

from sickbay.contract.finding import FileRecord, SampleRecord, ScanRecord, SummaryRecord
from sickbay.contract.policy import Policy
from sickbay.scanner import scan
from sickbay.scanner.decode import OF_LOOKS, examine
from sickbay.scanner.task import STRUCTURE, Setup

_PICTURES = 4000
_DISTINCT = 50  # pictures encoded; each file then gets a comment of its own
_SIZE = (500, 375)
_PEER, _PEER_PICTURES = "SICKBAY_CLEANVISION", 1000


@dataclass(frozen=True)
class Tree:
    """The generated data set."""

    root: Path
    bad: frozenset[str]
    count: int


def make_tree(root: Path, count: int) -> Tree:
    """Write ``count`` pictures below ``root``; every fiftieth is damaged, every twentieth PNG."""
    jpegs = list(_jpegs())
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


def _jpegs() -> Iterator[bytes]:
    photos = photos_given()
    rng = np.random.default_rng(1)
    for seed in range(_DISTINCT):
        if photos:
            yield encoded(crop(photos, _SIZE, rng), "JPEG", quality=92)
        else:
            yield jpeg(seed, _SIZE, quality=92)


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


def hashed(tree: Tree) -> set[str]:
    """The hash alone."""
    for _, data in files_of(tree):
        hashlib.sha256(data).hexdigest()
    return set()


def ours(tree: Tree, workers: int, setup: Setup | None = None) -> set[str]:
    """A whole scan."""
    sink = Held()
    scan(tree.root, dataset="speed", sink=sink, workers=workers, setup=setup)
    return sink.names


UNLOOKED = Setup(policy=Policy(severities=dict.fromkeys(OF_LOOKS, "silent")))
"""Without quality checks, near duplicates and drift."""


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
        "bare decoder and hash": bare,
        "hash alone": hashed,
        "sickbay": lambda tree: ours(tree, 1),
        "without looks": lambda tree: ours(tree, 1, UNLOOKED),
        "depth structure": lambda tree: ours(tree, 1, Setup(depth=STRUCTURE)),
        "sickbay, two workers": lambda tree: ours(tree, 2),
    }
    return {name: measured(way, tree) for name, way in ways.items()}


def cleanvision_ms(tree: Tree) -> float | None:
    """CPU a sound picture of CleanVision, where it is installed."""
    python = os.environ.get(_PEER)
    if python is None:
        return None
    names = [str(tree.root / name) for name, _ in files_of(tree) if name not in tree.bad]
    names = names[:_PEER_PICTURES]
    script = Path(__file__).parent / "peers" / "cleanvision_issues.py"
    made = subprocess.run(
        [python, script], input="\n".join(names), capture_output=True, text=True, check=True
    )
    return float(made.stdout) / len(names) * 1000


def large_ratio(count: int = 6) -> float:
    """How many times the naive loop costs what a check costs, of 12-megapixel baseline JPEGs.

    They are as soft as cameras make them at that size: some 3 MB each.
    """
    soft = [picture(seed, (2000, 1500)).resize((4000, 3000)) for seed in range(count)]
    data = [encoded(image, "JPEG", quality=90) for image in soft]
    began = time.process_time()
    for one in data:
        Image.open(io.BytesIO(one)).verify()
        Image.open(io.BytesIO(one)).convert("RGB").load()
        hashlib.sha256(one).hexdigest()
    middle = time.process_time()
    for one in data:
        examine(one, ".jpg", Setup())
    return (middle - began) / (time.process_time() - middle)


def table(results: dict[str, Measured], bad: int) -> str:
    """Lay the results out beside those they are measured against."""
    against = [results[name].cpu_ms for name in ("naive loop", "bare decoder and hash")]
    against.append(results["hash alone"].cpu_ms)
    rows = [f"{'':24}{'CPU ms':>8}{'of naive':>10}{'of bare':>9}{'of hash':>9}{'found':>8}"]
    for name, line in results.items():
        shares = "".join(
            f"{line.cpu_ms / ms:>{wide}.2f}" for ms, wide in zip(against, (10, 9, 9), strict=True)
        )
        rows.append(f"{name:24}{line.cpu_ms:8.2f}{shares}{f'{line.found}/{bad}':>8}")
    return "\n".join(rows) + "\n"


@pytest.mark.soak
def test_a_scan_costs_little_more_than_the_decoder_and_finds_all(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    tree = make_tree(tmp_path, _PICTURES)
    results = compare(tree)
    record_property("table", table(results, len(tree.bad)))
    one, first = results["sickbay"], results["depth structure"]
    assert one.found == results["sickbay, two workers"].found == first.found == len(tree.bad)
    assert one.cpu_ms <= 0.75 * results["naive loop"].cpu_ms
    assert one.cpu_ms <= 1.25 * results["bare decoder and hash"].cpu_ms
    assert results["without looks"].cpu_ms <= 1.15 * results["bare decoder and hash"].cpu_ms
    assert first.cpu_ms <= 2.5 * results["hash alone"].cpu_ms
    assert results["sickbay, two workers"].cpu_ms <= 1.15 * one.cpu_ms


@pytest.mark.soak
def test_a_scan_is_ten_times_cheaper_than_cleanvision(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, _PICTURES // 4)
    theirs = cleanvision_ms(tree)
    if theirs is None:
        pytest.skip(f"{_PEER} names no Python with CleanVision")
    assert theirs >= 10 * measured(lambda tree: ours(tree, 1), tree).cpu_ms
    assert theirs >= 15 * measured(lambda tree: ours(tree, 1, UNLOOKED), tree).cpu_ms


@pytest.mark.soak
def test_large_baseline_pictures_cost_less_than_half_of_a_naive_loop() -> None:
    assert large_ratio() >= 2.3


def main(count: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        tree = make_tree(Path(folder), count)
        sys.stdout.write(table(compare(tree), len(tree.bad)))
        if (theirs := cleanvision_ms(tree)) is not None:
            sys.stdout.write(f"CleanVision: {theirs:.2f} ms\n")
    sys.stdout.write(f"12 megapixels, baseline: naive loop / sickbay = {large_ratio():.2f}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else _PICTURES)
