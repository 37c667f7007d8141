"""What a release costs beside what has to be paid anyway: CPU, not wall time, in one run.

    python -m tests.benchmarks.test_release_speed [ROWS] [FILES]

``make`` is measured per row on a data set of ROWS samples that exist only in the database, then
on FILES real files whose every stat is looked at. ``verify`` and ``pull`` stand beside
``sha256sum --check`` of the same tree, which reads and hashes the same bytes in C.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import insert
from sqlalchemy.orm import Session
from tests.releases.a_data_set import ADataSet

from sickbay.blobs import Blobs
from sickbay.client.metadata import check_metadata
from sickbay.client.pull import pull
from sickbay.client.release_source import StoredRelease
from sickbay.client.verify import verify
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Sample, Status
from sickbay.releases.make import make

T = TypeVar("T")

NAME = "animals"
_ROWS, _FILES = 1_000_000, 20_000
_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class Figures:
    """CPU in microseconds, memory in MB, ratios of CPU to that of coreutils."""

    make_per_row: float
    make_memory: float
    make_per_file: float
    verify: float
    verify_large: float
    pull: float
    pull_large: float

    def lines(self) -> Iterator[str]:
        yield f"make: {self.make_per_row:.1f} us CPU/row, {self.make_memory:.0f} MB at most"
        yield f"make with the files looked at: {self.make_per_file:.1f} us CPU/file"
        yield f"verify: {self.verify:.2f} x sha256sum -c on 4 KiB files"
        yield f"verify: {self.verify_large:.2f} x sha256sum -c on 100 KiB files"
        yield f"pull: {self.pull:.2f} x (cp -r, then sha256sum -c) on 4 KiB files"
        yield f"pull: {self.pull_large:.2f} x (cp -r, then sha256sum -c) on 100 KiB files"


def measure(rows: int, files: int, folder: Path) -> Figures:
    """Run everything once."""
    made, memory = _making(folder / "rows", rows)
    small = _Tree(folder / "small", files, 4096)
    large = _Tree(folder / "large", files // 5, 102_400)
    return Figures(
        make_per_row=made / rows * 1e6,
        make_memory=memory,
        make_per_file=small.making / files * 1e6,
        verify=small.verifying / small.checking,
        verify_large=large.verifying / large.checking,
        pull=small.pulling / (small.copying + small.checking),
        pull_large=large.pulling / (large.copying + large.checking),
    )


class _Tree:
    """CPU seconds of every step on a tree of real files, each of one size."""

    def __init__(self, folder: Path, files: int, size: int) -> None:
        folder.mkdir()
        database = open_database(folder / "sickbay.db")
        data_set = ADataSet(database, folder, folder / "root")
        for number in range(files):
            content = os.urandom(64) * (size // 64)
            data_set.add(f"train/{number % 100:02}/{number:06}.jpg", content=content)
        data_set.scan()
        self.making, made = _cpu(data_set.make)
        release = data_set.folder(made)
        source = StoredRelease(release, data_set.blobs.path, made.digest)
        to = folder / "pulled"
        self.pulling, _ = _cpu(
            lambda: pull(source, data_set=NAME, to=to, root=data_set.root, tell=print)
        )
        self.copying = _command(folder, "cp", "--recursive", "--reflink=auto", "root", "copied")
        check = ("sha256sum", "--check", "--quiet", "SHA256SUMS")
        self.checking = min(_command(to, *check) for _ in range(3))
        self.verifying = min(_cpu(lambda: _verified(release, to))[0] for _ in range(3))
        database.close()


def _verified(release: Path, folder: Path) -> None:
    check_metadata(release)
    if list(verify(release, folder)):
        raise AssertionError("the tree is not the release")


def _command(folder: Path, *words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cpu(act: Callable[[], T]) -> tuple[float, T]:
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = act()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def _making(folder: Path, rows: int) -> tuple[float, float]:
    """Measure in a process of its own, whose highest memory is then that of the making."""
    folder.mkdir()
    database = open_database(folder / "sickbay.db")
    _fill(database, rows)
    database.close()
    command = [sys.executable, "-m", "tests.benchmarks.test_release_speed", "--make", str(folder)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, megabytes = map(float, printed.split())
    return seconds, megabytes


def _fill(database: Database, rows: int) -> None:
    def register(session: Session) -> int:
        classes = [f"{number:02}" for number in range(100)]
        made = data_sets.register(session, name=NAME, layout="imagefolder", classes=classes)
        made.scan_id = 1
        return made.id

    data_set_id = database.writing(register)
    for start in range(0, rows, _AT_ONCE):
        numbers = range(start, min(start + _AT_ONCE, rows))
        values = [_row(data_set_id, number) for number in numbers]
        database.writing(partial(_insert, values=values))


def _insert(session: Session, values: list[dict[str, object]]) -> None:
    session.execute(insert(Sample), values)


def _row(data_set_id: int, number: int) -> dict[str, object]:
    path = f"train/{number // 10_000:02}/{number:08}.jpg"
    return {
        "data_set_id": data_set_id,
        "raw_path": path.encode(),
        "path": path,
        "split": "train",
        "label": f"{number // 10_000:02}",
        "size": 100_000 + number % 1000,
        "mtime_ns": number,
        "sha256": f"{number:064x}",
        "format": "JPEG",
        "mode": "RGB",
        "status": Status.HELD if number % 100 == 0 else Status.CLEAN,
        "version": 1,
        "findings": 0,
        "scan_id": 1,
        "gone": False,
    }


def _make_here(folder: Path) -> None:
    database = open_database(folder / "sickbay.db")
    blobs = Blobs(folder / "blobs")
    seconds, _ = _cpu(
        lambda: make(database, releases=folder / "releases", blobs=blobs, data_set=NAME, by="me")
    )
    database.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"{seconds} {memory}\n")


@pytest.mark.soak
def test_a_release_costs_little_more_than_reading_and_hashing(tmp_path: Path) -> None:
    figures = measure(_ROWS, _FILES, tmp_path)
    sys.stdout.write("\n".join(figures.lines()))
    assert figures.make_memory < 200
    assert figures.verify_large < 1.3


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        _make_here(Path(sys.argv[2]))
    else:
        numbers = [int(word) for word in sys.argv[1:]]
        chosen = (numbers + [_ROWS, _FILES][len(numbers) :])[:2]
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(chosen[0], chosen[1], Path(scratch)).lines()
            sys.stdout.write("\n".join([*found, ""]))
