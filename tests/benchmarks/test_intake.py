"""CPU of taking scans of a hundred thousand samples into the local state: first, again, changed.

    python -m tests.benchmarks.test_intake [SAMPLES]

Decoding is no part of it: records are made beforehand, and go through the sink of the command
line. A scan that finds nothing new should cost a small part of the first.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.quarantine.factories import NAME, a_record, a_summary

from sickbay.blobs import Blobs
from sickbay.cli.local_sink import LocalSink
from sickbay.contract.finding import SampleRecord, ScanRecord
from sickbay.database import Database
from sickbay.database.schema import open_database

SAMPLES = 100_000
MOST_OF_FIRST = 0.2
"""Share of the first scan's CPU that an unchanged one may cost."""


def records(samples: int) -> list[SampleRecord]:
    """One sample in a hundred is held, as in a data set with a few faults."""
    made = [
        a_record(
            f"train/{number % 100:02}/{number:07}.jpg",
            *["image.truncated"][: number % 100 == 7],
            content=str(number),
            label=f"{number % 100:02}",
        )
        for number in range(samples)
    ]
    return sorted(made, key=lambda record: record.path)


def taken_in(folder: Path, database: Database, every: Sequence[SampleRecord]) -> float:
    """Take one scan in; return its CPU seconds."""
    sink = LocalSink(database, Blobs(folder / "blobs"), root=folder, by="me", dataset=NAME)
    before = time.process_time()
    sink.header(ScanRecord(NAME, "imagefolder", ()))
    for number, record in enumerate(every):
        sink.sample(record, None, (1, number, 2))
    sink.finish(a_summary(every))
    return time.process_time() - before


def scans(folder: Path, samples: int) -> Iterator[tuple[str, float]]:
    """Yield what a scan found, and its CPU seconds."""
    database = open_database(folder / "sickbay.db")
    every = records(samples)
    try:
        yield "everything new", taken_in(folder, database, every)
        for _ in range(3):
            yield "nothing new", taken_in(folder, database, every)
        every[samples // 2] = a_record(every[samples // 2].path.raw, content="other")
        yield "one file changed", taken_in(folder, database, every)
    finally:
        database.close()


@pytest.mark.soak
def test_a_scan_that_finds_nothing_new_costs_a_small_part_of_the_first(tmp_path: Path) -> None:
    measured = list(scans(tmp_path, SAMPLES))
    first = measured[0][1]
    again = min(cpu for name, cpu in measured if name == "nothing new")
    assert again <= first * MOST_OF_FIRST, measured


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    with tempfile.TemporaryDirectory() as folder:
        for name, cpu in scans(Path(folder), samples):
            print(f"{cpu:6.2f} s CPU, {cpu / samples * 1e6:6.1f} µs a sample  {name}")  # noqa: T201 (its output)


if __name__ == "__main__":
    main()
