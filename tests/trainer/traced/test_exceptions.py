"""Whatever a sample does to the loader, the report names its file."""

from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward, answered

import sickbay.trainer as sickbay
from sickbay.contract.event import Failure

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from tests.trainer.traced import faults  # noqa: E402 (after torch is known to be there)
from torch.utils.data import DataLoader  # noqa: E402

from sickbay.trainer.traced import Traced  # noqa: E402

FORK: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "fork"}
SPAWN: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "spawn"}
FORKSERVER: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "forkserver"}
WORKERS = pytest.mark.parametrize(
    "workers", [FORK, SPAWN, FORKSERVER], ids=["fork", "spawn", "server"]
)


def _raised(data: Any, collate: Any = None, **options: Any) -> Exception:
    loader = DataLoader(data, batch_size=4, collate_fn=data.collate(collate), **options)
    return _from(loader)


def _from(loader: Any) -> Exception:
    try:
        list(loader)
    except Exception as error:  # noqa: BLE001 (whatever the loader raises is looked at)
        return error
    raise AssertionError("the loader did not raise")


def _only(online: Ward, job: Any, error: Exception | None = None) -> Failure:
    if error is not None:
        job.failure(exception=error, step=7)
    job.finish()
    (failure,) = online.of(Failure)
    assert isinstance(failure, Failure)
    return failure


def _bare(folder: Path, **options: Any) -> Exception:
    return _from(DataLoader(faults.Texts(folder), batch_size=4, **options))


def test_a_text_with_broken_encoding_keeps_its_class_and_is_named(
    online: Ward, job: Any, folder: Path
) -> None:
    error = _raised(Traced(faults.Texts(folder)))
    assert type(error) is UnicodeDecodeError
    assert (str(error), error.args) == (str(_bare(folder)), _bare(folder).args)
    failure = _only(online, job, error)
    assert (failure.what, failure.exception_type) == ("loader-error", "UnicodeDecodeError")
    assert [(one.path, one.index) for one in failure.samples] == [("05.txt", 5)]
    assert str(failure.seeds["torch"]) == str(torch.initial_seed())


@WORKERS
def test_an_exception_in_a_worker_is_told_with_all_that_is_known(
    online: Ward, job: Any, folder: Path, workers: dict[str, Any]
) -> None:
    data = Traced(faults.Texts(folder))
    data.set_epoch(3)
    error = _raised(data, **workers)
    assert type(error) is type(_bare(folder, **workers)) is RuntimeError
    failure = _only(online, job, error)
    assert failure.exception_type == "UnicodeDecodeError"
    assert "can't decode byte" in failure.message
    assert [(one.path, one.index) for one in failure.samples] == [("05.txt", 5)]
    assert (failure.worker, failure.epoch, failure.step) == (1, 3, 7)
    assert int(failure.seeds["worker"]) > 0


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("several", "tests.trainer.traced.faults.Several"),
        ("mute", "tests.trainer.traced.faults.Mute"),
        ("key", "tests.trainer.traced.faults.Key"),
        ("group", "ExceptionGroup"),
        ("memory", "MemoryError"),
        ("reset", "ConnectionResetError"),
        ("deep", "RecursionError"),
        ("none", "RuntimeError"),
    ],
)
def test_exceptions_that_the_loader_cannot_make_anew_are_told_once_by_their_own_name(
    online: Ward, job: Any, folder: Path, fault: str, kind: str
) -> None:
    failure = _only(online, job, _raised(Traced(faults.Texts(folder, fault)), **FORK))
    assert failure.exception_type == kind
    assert [(one.path, one.index) for one in failure.samples] == [("05.txt", 5)]


def test_an_exception_that_ends_the_epoch_without_a_word_is_told(
    online: Ward, job: Any, folder: Path
) -> None:
    data = Traced(faults.Texts(folder, "stop"))
    list(DataLoader(data, batch_size=4, collate_fn=data.collate(), **FORK))
    assert [one.path for one in _only(online, job).samples] == ["05.txt"]


def test_a_worker_that_exits_leaves_the_name_of_its_sample(
    online: Ward, job: Any, folder: Path
) -> None:
    failure = _only(online, job, _raised(Traced(faults.Texts(folder, "exit")), **FORK))
    assert failure.what == "worker-killed"
    assert [one.path for one in failure.samples] == ["05.txt"]


def test_each_exception_is_told_though_the_next_may_lie_where_the_last_one_was(
    online: Ward, job: Any
) -> None:
    for step in range(50):
        job.failure(exception=ValueError("again"), step=step)
    error = ValueError("the same")
    for _ in range(3):
        job.failure(exception=error, step=50)
    job.finish()
    assert [failure.step for failure in online.of(Failure)] == list(range(51))


def test_an_exception_that_the_script_swallows_is_told_all_the_same(
    online: Ward, job: Any, folder: Path
) -> None:
    _raised(Traced(faults.Texts(folder)), **FORK)
    failure = _only(online, job)
    assert [one.path for one in failure.samples] == ["05.txt"]


def test_every_epoch_has_its_number_where_workers_start_anew(
    online: Ward, job: Any, folder: Path
) -> None:
    data = Traced(faults.Texts(folder))
    for _ in range(3):
        _raised(data, **FORK)
    job.finish()
    assert [failure.epoch for failure in online.of(Failure)] == [0, 1, 2]


@WORKERS
def test_a_worker_that_is_killed_leaves_the_name_of_its_sample(
    online: Ward, job: Any, folder: Path, workers: dict[str, Any]
) -> None:
    error = _raised(Traced(faults.Texts(folder, "kill")), **workers)
    failure = _only(online, job, error)
    assert failure.what == "worker-killed"
    assert [(one.path, one.index) for one in failure.samples] == [("05.txt", 5)]
    assert failure.worker == 1


def test_a_worker_that_hangs_is_named_at_the_time_out(online: Ward, job: Any, folder: Path) -> None:
    error = _raised(Traced(faults.Texts(folder, "hang")), timeout=3, **FORK)
    failure = _only(online, job, error)
    assert failure.what == "worker-killed"
    assert [one.path for one in failure.samples] == ["05.txt"]
    assert failure.detail["was"] == "fetching"


@pytest.mark.parametrize("workers", [{}, FORK, SPAWN], ids=["none", "fork", "spawn"])
def test_of_mixed_shapes_the_odd_one_is_named(
    online: Ward, job: Any, folder: Path, workers: dict[str, Any]
) -> None:
    error = _raised(Traced(faults.Texts(folder, "late shape")), **workers)
    assert type(error) is RuntimeError
    failure = _only(online, job, error)
    assert failure.what == "shape-mismatch"
    assert [one.path for one in failure.samples] == ["05.txt"]


def test_of_a_batch_that_cannot_be_put_together_the_sample_is_named_that_fails_alone(
    online: Ward, job: Any, folder: Path
) -> None:
    def picky(items: list[Any]) -> Any:
        if any(float(x[0]) == 7 for x, _ in items):
            raise KeyError("seven")
        return faults.pair(items)

    (folder / "05.txt").write_text("mended")
    (folder / "02.txt").write_text("longest")
    failure = _only(online, job, _raised(Traced(faults.Texts(folder)), picky))
    assert (failure.what, failure.exception_type) == ("loader-error", "KeyError")
    assert [one.path for one in failure.samples] == ["02.txt"]


@pytest.mark.parametrize("says", [True, False], ids=["said", "variable"])
def test_a_stream_that_raises_names_the_file_it_was_at(
    online: Ward, job: Any, folder: Path, *, says: bool
) -> None:
    data = Traced(faults.Stream(folder, says=says))
    failure = _only(online, job, _raised(data, **FORK))
    assert [one.path for one in failure.samples] == ["05.txt"]
    assert failure.worker == 1
    assert failure.detail["after"]


@pytest.mark.parametrize("fault", ["late shape", "none", "stop"])
def test_a_stream_that_says_nothing_is_asked_for_its_variable(
    online: Ward, job: Any, folder: Path, fault: str
) -> None:
    data = Traced(faults.Stream(folder, fault, says=False))
    failure = _only(online, job, _raised(data, **FORK))
    assert [one.path for one in failure.samples] == ["05.txt"]


def test_a_stream_whose_worker_is_killed_leaves_the_name(
    online: Ward, job: Any, folder: Path
) -> None:
    failure = _only(online, job, _raised(Traced(faults.Stream(folder, "kill")), **FORK))
    assert [one.path for one in failure.samples] == ["05.txt"]


def test_a_batch_fetched_at_once_is_searched_for_the_one(
    online: Ward, job: Any, folder: Path
) -> None:
    error = _raised(Traced(faults.Many(folder)))
    assert type(error) is UnicodeDecodeError
    assert [one.path for one in _only(online, job, error).samples] == ["05.txt"]


@pytest.mark.parametrize("workers", [FORK, SPAWN], ids=["fork", "spawn"])
def test_where_nothing_is_wrapped_the_loaders_text_is_taken_apart(
    online: Ward, job: Any, folder: Path, workers: dict[str, Any]
) -> None:
    plain = faults.Texts(folder)
    plain.files[7] = str(folder / "no such file.txt")
    few = torch.utils.data.Subset(plain, [0, 7])
    failure = _only(online, job, _from(DataLoader(few, batch_size=1, **workers)))
    assert (failure.what, failure.exception_type) == ("loader-error", "FileNotFoundError")
    assert [one.path for one in failure.samples] == ["no such file.txt"]
    assert failure.worker == 1


def test_what_failed_before_a_run_is_none_of_its_failures(online: Ward, folder: Path) -> None:
    data = Traced(faults.Texts(folder))
    _raised(data, **FORK)
    with sickbay.init("later", root=folder) as run:
        answered(run)
    assert online.of(Failure) == []
    assert len(data)


def test_without_a_run_the_exception_itself_names_the_sample(folder: Path) -> None:
    error = _raised(Traced(faults.Texts(folder)), **FORK)
    assert f"sickbay: '{folder}/05.txt' (loader-error, index 5, worker 1" in str(error)
    alone = _raised(Traced(faults.Texts(folder)))
    assert alone.__notes__[0].startswith(f"sickbay: '{folder}/05.txt' (loader-error, index 5, seed")
