"""Rescans, limits, depth and executors, as the command line has them."""

import os
import time
from pathlib import Path

import pytest
from tests.commands import run
from tests.pictures import jpeg

from sickbay.scanner.cache import SETTLED


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three sound pictures, written long enough ago to be believed."""
    folder = tmp_path / "pets"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.jpg").write_bytes(jpeg(number))
    return folder


def settled(root: Path) -> None:
    """Wait until another write would show: the rule is by the clock, so this test is too."""
    newest = max(path.stat().st_ctime_ns for path in root.iterdir())
    while time.time_ns() <= newest + SETTLED:
        os.sched_yield()


def test_a_rescan_says_how_little_it_read(root: Path, tmp_path: Path) -> None:
    settled(root)
    out = tmp_path / "out.ndjson"
    given = ("scan", root, "--dataset", "pets", "--out", out, "--cache", tmp_path / "cache")
    first = run(*given)
    before = out.read_bytes()
    assert (first.code, "read" in first.err) == (0, False)
    again = run(*given)
    assert "3 samples are unchanged, 0 were read." in again.err
    assert out.read_bytes() == before
    (root / "1.jpg").unlink()
    assert "2 samples are unchanged, 0 were read, and 1 are gone." in run(*given).err
    assert "unchanged" not in run(*given, "--verify-hashes").err
    assert "unchanged" not in run(*given, "--no-cache").err


def test_a_cache_below_the_root_is_refused_in_one_sentence(root: Path, tmp_path: Path) -> None:
    given = ("--out", tmp_path / "out.ndjson", "--cache", root / "cache")
    ran = run("scan", root, "--dataset", "pets", *given)
    assert (ran.code, "never written to" in ran.sentence) == (2, True)
    assert not (root / "cache").exists()


def test_a_scan_of_the_structure_says_what_it_does_not_see(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.ndjson"
    ran = run("scan", root, "--dataset", "pets", "--out", out, "--depth", "structure")
    assert ran.code == 0
    assert "Nothing was decoded" in ran.err
    assert b'"depth":"structure"' in out.read_bytes()


def test_what_one_file_may_cost_is_adjustable(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.ndjson"
    given = ("--out", out, "--cpu-seconds", "20", "--memory", "300")
    assert run("scan", root, "--dataset", "pets", *given).code == 0
    assert run("scan", root, "--dataset", "pets", "--out", out, "--memory", "1").code == 2


def test_a_cluster_that_is_not_there_is_one_sentence(root: Path, tmp_path: Path) -> None:
    given = ("--out", tmp_path / "out.ndjson", "--executor", "dask://nowhere")
    ran = run("scan", root, "--dataset", "pets", *given)
    assert (ran.code, "give dask://HOST:PORT" in ran.sentence) == (2, True)


def test_a_bucket_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    out = tmp_path / "out.ndjson"
    ran = run("scan", "http://127.0.0.1:9/data", "--dataset", "pets", "--out", out)
    assert (ran.code, "cannot be read" in ran.sentence) == (2, True)
