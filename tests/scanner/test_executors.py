"""Wherever samples are checked, the records are the same, and what kills a worker loses nothing."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.pictures import jpeg, truncated, write
from tests.scanner.dask_cluster import DASK, Cluster
from tests.scanner.planted import COMMAND
from tests.scanner.recorded import scanned

from sickbay.contract.errors import BadInput, Unreachable
from sickbay.scanner import Limits, NdjsonSink, Setup, scan
from sickbay.scanner.cluster import connected
from sickbay.scanner.where import Below

FILES = 1100
"""More than four batches of a cluster."""


def started(folder: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler with one worker."""
    for made in started(tmp_path_factory.mktemp("cluster")):
        made.worker("--nanny")
        yield made


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    yield from started(tmp_path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("many")
    sound = [jpeg(seed, (40, 40)) for seed in range(20)]
    for number in range(FILES):
        data = sound[number % 20]
        write(made, f"{number % 3}/{number:04}.jpg", truncated(data) if number % 9 == 4 else data)
    return made


def lines(root: Path, out: Path, **options: object) -> bytes:
    scan(root, dataset="test", sink=NdjsonSink(out), **options)  # type: ignore[arg-type]
    return out.read_bytes()


def processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def test_a_cluster_writes_the_same_bytes_even_where_a_worker_is_killed_meanwhile(
    scheduler: Cluster, root: Path, tmp_path: Path
) -> None:
    here = lines(root, tmp_path / "here", workers=2)
    first, _ = scheduler.worker("--no-nanny"), scheduler.worker("--nanny")
    assert lines(root, tmp_path / "there", executor=scheduler.url) == here

    def kill(step: str, done: int, _found: int) -> None:
        if step == "checking" and done and first.poll() is None:
            first.send_signal(signal.SIGKILL)
            first.wait()

    assert lines(root, tmp_path / "killed", executor=scheduler.url, progress=kill) == here
    assert first.returncode == -signal.SIGKILL


@pytest.mark.parametrize("left", [0, 1])
def test_a_cluster_without_workers_or_scheduler_leaves_the_rest_to_this_machine(
    scheduler: Cluster, root: Path, tmp_path: Path, left: int
) -> None:
    worker = scheduler.worker("--no-nanny")

    def stop(step: str, done: int, _found: int) -> None:
        if step == "checking" and done and worker.poll() is None:
            for process in scheduler.processes[left:]:
                process.kill()
                process.wait()

    here = lines(root, tmp_path / "here", workers=2)
    assert lines(root, tmp_path / "there", executor=scheduler.url, progress=stop) == here


def test_a_pool_of_processes_that_breaks_leaves_the_rest_to_this_one(
    root: Path, tmp_path: Path
) -> None:
    here = lines(root, tmp_path / "here", workers=2)
    with processes() as pool:

        def break_it(step: str, done: int, _found: int) -> None:
            if step == "checking" and done == 32:
                pool.submit(os._exit, 1)

        assert lines(root, tmp_path / "there", executor=pool, progress=break_it) == here


def test_an_executor_that_takes_nothing_any_more_leaves_all_to_this_process(
    root: Path, tmp_path: Path
) -> None:
    here = lines(root, tmp_path / "here", workers=2)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    assert lines(root, tmp_path / "there", executor=pool) == here


@pytest.mark.parametrize("kind", ["threads of ours", "threads", "processes", "cluster"])
def test_a_crash_a_hang_and_a_glutton_cost_only_themselves_in_every_executor(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    for seed in range(40):
        write(tmp_path, f"{seed:02}.jpg", jpeg(seed, (48, 48)))
    for word in ("SEGFAULT", "SPIN", "MEMORY"):
        write(tmp_path, f"20 {word}.jpg", jpeg(1, comment=f"PLANT-{word}".encode()))
    makers: dict[str, Callable[[], Executor | str | None]] = {
        "threads of ours": lambda: None,
        "threads": partial(ThreadPoolExecutor, 2),
        "processes": processes,
        "cluster": lambda: request.getfixturevalue("cluster").url,
    }
    made = makers[kind]()
    with made if isinstance(made, Executor) else nullcontext():
        setup = Setup(Limits(cpu_seconds=0.5))
        found = scanned(tmp_path, setup=setup, executor=made, command=COMMAND)
    assert found.codes("20 SEGFAULT.jpg") == ["decoder.crashed"]
    assert found.codes("20 SPIN.jpg") == ["decoder.timed-out"]
    assert found.codes("20 MEMORY.jpg") == ["decoder.out-of-memory"]
    assert (found.totals.found, found.totals.held, found.totals.skipped) == (43, 3, 0)


@pytest.mark.parametrize("url", ["dask://", "dask://nowhere", "ray://host:1", "dask://a b:1"])
def test_an_executor_must_be_the_address_of_a_scheduler(tmp_path: Path, url: str) -> None:
    write(tmp_path, "a.jpg", jpeg(1, (48, 48)))
    with pytest.raises(BadInput, match="is no executor"):
        scanned(tmp_path, executor=url)


def test_a_scheduler_that_is_not_there_or_has_no_workers_is_said_plainly(
    scheduler: Cluster, root: Path
) -> None:
    with (
        pytest.raises(Unreachable, match="has no workers"),
        connected(scheduler.url, Below(str(root)), patience=0.1),
    ):
        pass
    scheduler.stop()
    with (
        pytest.raises(Unreachable, match="No Dask scheduler answers"),
        connected(scheduler.url, Below(str(root)), patience=0.1),
    ):
        pass


def test_a_worker_that_would_find_something_else_is_refused(scheduler: Cluster, root: Path) -> None:
    other = "from sickbay.scanner.cache import versions as v; v.CHECKS_VERSION = 99\n"
    scheduler.worker("--no-nanny", program=other + DASK)
    with pytest.raises(BadInput, match="has checks 99; install the same versions"):
        scanned(root, executor=scheduler.url)


def test_a_worker_that_does_not_see_the_tokenizer_is_refused(
    cluster: Cluster, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="does not see the tokenizer"):
        scanned(root, executor=cluster.url, setup=Setup(tokenizer="/proc/self/cwd/tokenizer.json"))


def test_a_worker_that_does_not_see_the_folder_is_refused(
    cluster: Cluster, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(BadInput, match="does not see the folder"):
        scanned(Path("/proc/self/cwd"), executor=cluster.url)
