"""A scan with a cache reads only what changed, and writes what one without would write."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.pictures import jpeg, png, truncated, write
from tests.scanner.recorded import scanned

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner import Examined, NdjsonSink, Setup, scan
from sickbay.scanner.cache import SETTLED, Cache, Counts, Earlier

LATER = 10**12
"""Nanoseconds: so much later than any file was written."""


def later() -> int:
    return time.time_ns() + LATER


@dataclass
class Desk:
    """A data set, a cache, and the scans of it."""

    root: Path
    work: Path
    options: dict[str, object] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True)
        self.work.mkdir()

    def write(self, name: str, data: bytes) -> None:
        """Write a file, never twice at one time."""
        path = write(self.root, name, data)
        os.utime(path, ns=(0, 10**18 + next(self.numbers)))

    def scan(self, cache: Cache | None, **options: object) -> bytes:
        """Scan and return what was written."""
        out = self.work / "out.ndjson"
        given = {"workers": 1, "dataset": "test", **self.options, **options}
        scan(self.root, sink=NdjsonSink(out), cache=cache, **given)  # type: ignore[arg-type]
        return out.read_bytes()

    def cache(self, **options: object) -> Cache:
        return Cache(self.work / "cache", **{"clock": later, **options})  # type: ignore[arg-type]

    def cached(self, **options: object) -> tuple[bytes, Counts]:
        """Scan with the cache, and say what was read."""
        cache = self.cache()
        return self.scan(cache, **options), cache.counts

    def numbers_of(self, **options: object) -> tuple[int, int, int]:
        """Scan with the cache and compare with a scan without: read, reused, gone."""
        got, counts = self.cached(**options)
        assert got == self.scan(None, **options)
        assert not counts.trouble
        return counts.read, counts.reused, counts.gone

    @property
    def files(self) -> dict[str, Path]:
        """The files of the cache by the first word of their names."""
        (folder,) = (self.work / "cache").iterdir()
        return {path.name.partition("-")[0]: path for path in folder.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path / "root", tmp_path / "work")
    for seed in range(6):
        made.write(f"train/{'cats' if seed % 2 else 'dogs'}/{seed}.jpg", jpeg(seed, (48, 48)))
    made.write("train/cats/cut.jpg", truncated(jpeg(9, (96, 96))))
    made.write("val/cats/leak.jpg", jpeg(0, (48, 48)))
    return made


def test_a_rescan_of_what_did_not_change_reads_nothing(desk: Desk) -> None:
    assert desk.numbers_of() == (8, 0, 0)
    assert desk.numbers_of() == (0, 8, 0)


def test_thumbnails_and_stats_of_unchanged_samples_come_again(desk: Desk) -> None:
    first = scanned(desk.root, cache=desk.cache())
    again = scanned(desk.root, cache=desk.cache())
    desk.write("more.jpg", jpeg(20, (48, 48)))
    merged = scanned(desk.root, cache=desk.cache())
    assert set(first.thumbnails) == {"train/cats/cut.jpg"}
    for other in (again, merged):
        assert other.thumbnails == first.thumbnails
        assert first.stats.items() <= other.stats.items()
    assert again.samples == first.samples
    assert again.summary == first.summary


@pytest.mark.parametrize(
    ("change", "numbers"),
    [
        (lambda desk: desk.write("train/cats/1.jpg", jpeg(77, (48, 48))), (1, 7, 0)),
        (lambda desk: desk.write("train/cats/new.jpg", jpeg(77, (48, 48))), (1, 8, 0)),
        (lambda desk: (desk.root / "train/cats/3.jpg").unlink(), (0, 7, 1)),
        (lambda desk: (desk.root / "train/cats").rename(desk.root / "train/birds"), (4, 4, 4)),
        (lambda desk: (desk.root / "train/cats/1.jpg").touch(), (1, 7, 0)),
        (lambda desk: desk.write("notes.txt", b"no picture"), (0, 8, 0)),
        (lambda desk: desk.write(".hidden", b""), (0, 8, 0)),
        (lambda desk: (desk.root / "train/cats/link.jpg").symlink_to("1.jpg"), (1, 8, 0)),
    ],
)
def test_only_what_changed_is_read_again(
    desk: Desk, change: Callable[[Desk], object], numbers: tuple[int, int, int]
) -> None:
    desk.cached()
    change(desk)
    assert desk.numbers_of() == numbers
    read, reused, _ = numbers
    assert desk.numbers_of() == (0, read + reused, 0)


def test_how_samples_are_checked_decides_too(desk: Desk) -> None:
    desk.cached()
    stricter = Setup(policy=Policy(severities={"image.too-small": "silent"}))
    assert desk.numbers_of(setup=stricter) == (8, 0, 0)
    assert desk.numbers_of(setup=Setup(depth="structure")) == (8, 0, 0)


def test_data_sets_and_layouts_have_caches_of_their_own(desk: Desk) -> None:
    desk.cached()
    assert desk.numbers_of(dataset="other") == (8, 0, 0)
    assert desk.numbers_of() == (0, 8, 0)


def test_a_folder_reached_by_a_link_is_the_same_folder(desk: Desk, tmp_path: Path) -> None:
    desk.cached()
    (tmp_path / "link").symlink_to(desk.root)
    desk.root = tmp_path / "link"
    assert desk.numbers_of() == (0, 8, 0)


def test_what_was_written_a_moment_before_the_walk_is_not_believed(desk: Desk) -> None:
    newest = max(path.stat().st_ctime_ns for path in desk.root.rglob("*.jpg"))
    for clock, read in ((newest + SETTLED, 8), (newest + SETTLED, 1), (newest + SETTLED + 1, 1)):
        cache = desk.cache(clock=lambda now=clock: now)
        desk.scan(cache)
        assert cache.counts.read >= read
    assert desk.numbers_of() == (0, 8, 0)


def test_what_depended_on_a_moment_is_looked_at_each_time(desk: Desk) -> None:
    (desk.root / "train/cats/gone.jpg").symlink_to("nowhere")
    assert desk.numbers_of() == (9, 0, 0)
    assert desk.numbers_of() == (1, 8, 0)


def test_side_files_and_names_of_classes_decide_what_an_annotated_picture_gives(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path / "root", tmp_path / "work", {"layout": "yolo"})
    for seed in range(3):
        desk.write(f"images/{seed}.jpg", jpeg(seed, (48, 48)))
        desk.write(f"labels/{seed}.txt", b"0 0.5 0.5 0.2 0.2\n")
    desk.write("data.yaml", b"names: [cat, dog]\n")
    assert desk.numbers_of() == (3, 0, 0)
    desk.write("labels/1.txt", b"7 0.5 0.5 0.2 0.2\n")
    assert desk.numbers_of() == (1, 2, 0)
    (desk.root / "labels/2.txt").unlink()
    assert desk.numbers_of() == (1, 2, 0)
    desk.write("data.yaml", b"names: [cat]\n")
    assert desk.numbers_of() == (3, 0, 0)
    assert desk.numbers_of() == (0, 3, 0)


def test_rows_are_read_again_where_their_text_changed(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "root", tmp_path / "work", {"layout": "jsonl"})
    desk.write("a.jsonl", b'{"text": "one"}\n{"text": "two"}\n')
    assert desk.numbers_of() == (2, 0, 0)
    desk.write("a.jsonl", b'{"text": "one"}\n{"text": ""}\n{"text": "three"}\n')
    assert desk.numbers_of() == (2, 1, 0)


class Stopped(Exception):
    """The person pressed Ctrl-C."""


def stopping_after(done: int) -> Callable[[str, int, int], None]:
    def report(step: str, at: int, _found: int) -> None:
        if step == "checking" and at >= done:
            raise Stopped

    return report


def test_a_scan_that_ended_early_goes_on_where_it_was(desk: Desk) -> None:
    for seed in range(200):
        desk.write(f"many/{seed:03}.jpg", jpeg(seed % 7, (40, 40)))
    for _ in range(2):
        with pytest.raises(Stopped):
            desk.cached(progress=stopping_after(100))
    read, reused, _ = desk.numbers_of()
    assert read + reused == 208
    assert reused >= 100
    assert "part" not in desk.files


def test_a_scan_that_was_killed_goes_on_where_it_was(desk: Desk) -> None:
    for seed in range(200):
        desk.write(f"many/{seed:03}.jpg", jpeg(seed % 7, (40, 40)))
    program = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from sickbay.scanner import NdjsonSink, scan\n"
        "from sickbay.scanner.cache import Cache\n"
        "def report(step, done, found):\n"
        "    if step == 'checking' and done >= 100: os.kill(os.getpid(), 9)\n"
        "cache = Cache(Path(sys.argv[2]), clock=lambda: time.time_ns() + 10**12)\n"
        "scan(sys.argv[1], dataset='test', layout='imagefolder', workers=1,\n"
        "     sink=NdjsonSink(sys.argv[3]), progress=report, cache=cache)\n"
    )
    paths = (desk.root, desk.work / "cache", desk.work / "killed.ndjson")
    done = subprocess.run([sys.executable, "-c", program, *map(str, paths)], check=False)
    assert done.returncode == -signal.SIGKILL
    read, reused, _ = desk.numbers_of()
    assert read + reused == 208
    assert reused >= 100


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(place=st.floats(0, 1), cut=st.booleans(), name=st.sampled_from(["scan", "same"]))
def test_a_damaged_cache_costs_reading_again_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, *, place: float, cut: bool, name: str
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    desk = Desk(folder / "root", folder / "work")
    for seed in range(4):
        desk.write(f"{seed}.jpg", jpeg(seed, (40, 40)))
    before, _ = desk.cached()
    path = desk.files[name]
    data = bytearray(path.read_bytes())
    at = min(int(place * len(data)), len(data) - 1)
    data[at] ^= 0x55
    path.write_bytes(data[:at] if cut else data)
    after, counts = desk.cached()
    assert after == before
    assert counts.read + counts.reused == 4
    assert not counts.trouble


def test_a_cache_that_cannot_be_written_is_no_trouble_for_the_scan(desk: Desk) -> None:
    (desk.work / "cache").write_bytes(b"a file")
    got, counts = desk.cached()
    assert got == desk.scan(None)
    assert "cannot be written" in counts.trouble


def test_a_full_disk_for_the_cache_is_no_trouble_for_the_scan(desk: Desk) -> None:
    for seed in range(100):
        desk.write(f"many/{seed:03}.jpg", jpeg(seed % 7, (40, 40)))
    program = (
        "import resource, sys, time\n"
        "from pathlib import Path\n"
        "from tests.scanner.recorded import scanned\n"
        "from sickbay.scanner.cache import Cache\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, 80_000))\n"
        "cache = Cache(Path(sys.argv[2]), clock=lambda: time.time_ns() + 10**12)\n"
        "print(scanned(Path(sys.argv[1]), cache=cache).totals.found, cache.counts.trouble)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(desk.root), str(desk.work / "cache")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("108 ")
    assert "File too large" in done.stdout
    assert "scan.new" not in desk.files
    read, reused, _ = desk.numbers_of()
    assert (read + reused, reused >= 100) == (108, True)


def test_of_two_scans_at_once_one_has_the_cache(desk: Desk) -> None:
    expected = desk.scan(None)
    inner = desk.cache()

    def report(*_: object) -> None:
        if not inner.counts.trouble:
            assert desk.scan(inner) == expected

    assert desk.scan(desk.cache(), progress=report) == expected
    assert "another scan" in inner.counts.trouble
    assert inner.counts.read == 0


def test_a_cache_is_for_its_owner_alone(desk: Desk) -> None:
    desk.cached()
    assert {
        path.stat().st_mode & 0o077 for path in [desk.work / "cache", *desk.files.values()]
    } == {0}
    (desk.work / "cache").chmod(0o777)
    with pytest.raises(BadInput, match="others may write"):
        desk.cached()


def test_content_that_changed_under_the_same_key_is_told_where_all_is_read_again(
    tmp_path: Path,
) -> None:
    def opened(*, verify: bool) -> Earlier:
        found = Earlier(tmp_path, Counts(), began=10**18, verify=verify)
        found.begin(Setup())
        return found

    name, keys = b"a.jpg", [(1, 2, 3, 4, 5)]
    before, after = (Examined(size=3, sha256=letter * 64) for letter in "ab")
    first = opened(verify=False)
    signature, known = first.find(name, "picture", keys, b"task")
    assert known is None
    assert first.came(name, signature, before) is before
    first.close()
    again = opened(verify=True)
    assert again.find(name, "picture", keys, b"task") == (signature, None)
    (finding,) = again.came(name, signature, after).findings
    assert (finding.code, finding.severity) == ("file.changed", "block")
    assert finding.detail == {"before": "a" * 64}
    again.close()
    assert opened(verify=False).find(name, "picture", keys, b"task") == (signature, before)


def test_reading_all_again_finds_nothing_where_nothing_changed(desk: Desk) -> None:
    desk.cached()
    cache = desk.cache(verify=True)
    assert desk.scan(cache) == desk.scan(None)
    assert cache.counts.read == 8


def test_a_cache_in_the_data_set_is_refused(desk: Desk) -> None:
    with pytest.raises(BadInput, match="never written to"):
        desk.scan(Cache(desk.root / "cache"))
    assert not (desk.root / "cache").exists()


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "move", "remove"]),
        st.sampled_from(["a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.png", "c/x.jpg", "1.jpg"]),
        st.sampled_from(["a/1.jpg", "b/3.jpg", "d/x.jpg", "2.jpg"]),
        st.integers(0, 4),
    ),
    max_size=5,
)
CONTENTS = [
    jpeg(1, (40, 40)),
    jpeg(2, (40, 40)),
    truncated(jpeg(3, (40, 40))),
    b"",
    png(4, (40, 40)),
]


def edit(desk: Desk, edits: list[tuple[str, str, str, int]]) -> None:
    for what, name, other, number in edits:
        if what == "write":
            desk.write(name, CONTENTS[number])
        elif (desk.root / name).is_file():
            (desk.root / other).parent.mkdir(exist_ok=True)
            (desk.root / name).rename(desk.root / other)
            if what == "remove":
                (desk.root / other).unlink()


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=4))
def test_whatever_is_edited_between_scans_the_bytes_are_those_of_a_scan_without_cache(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, str, str, int]]]
) -> None:
    folder = tmp_path_factory.mktemp("edited")
    desk = Desk(folder / "root", folder / "work")
    desk.write("always.jpg", CONTENTS[0])
    for edits in rounds:
        edit(desk, edits)
        desk.numbers_of()
