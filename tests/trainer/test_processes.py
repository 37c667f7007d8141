"""Processes as trainings have them: forked, started, launched together, and killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.trainer.ward import Ward

from sickbay.client.http import Pace
from sickbay.contract.event import Ending, Failure, Finish
from sickbay.trainer.line import Line
from sickbay.trainer.replay import folders, replay

_TRAIN = """
import os, sys, time
import sickbay.trainer as sickbay
"""


def _ran(script: str, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", _TRAIN + script, *words],
        capture_output=True,
        text=True,
        check=check,
        timeout=120,
    )


def _steps(ward: Ward, rank: int = 0) -> list[int]:
    return [step for step, _ in ward.points("loss", rank)]


def test_a_script_that_forgets_to_finish_loses_nothing(online: Ward) -> None:
    _ran("run = sickbay.init('forgets')\nfor n in range(100): run.log({'loss': n}, n)")
    assert _steps(online) == list(range(100))
    assert online.of(Finish)[0].ending is Ending.FINISHED


def test_an_exception_that_ends_the_script_is_told(online: Ward) -> None:
    done = _ran("run = sickbay.init('dies')\nrun.log({'loss': 1}, 0)\nrun.nothing()", check=False)
    assert done.returncode == 1
    assert "AttributeError: 'Run' object has no attribute 'nothing'" in done.stderr
    assert online.of(Failure)[0].exception_type == "AttributeError"
    assert online.of(Finish)[0].ending is Ending.FAILED


_FORKING = """
run = sickbay.init("forks")
for n in range(10): run.log({"loss": n}, n)
child = os.fork()
if child == 0:
    run.log({"loss": 99}, 99); sickbay.alert("from the child"); run.flush(); run.finish()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
for n in range(10, 20): run.log({"loss": n}, n)
run.finish()
"""


def test_a_forked_child_sends_nothing_and_harms_nothing(online: Ward, kit: Path) -> None:
    done = _ran(_FORKING)
    assert done.stderr == ""
    assert _steps(online) == list(range(20))
    assert len(online.openings) == 1
    assert len(online.of(Finish)) == 1
    assert not list(kit.iterdir())


def test_a_forked_child_may_begin_a_run_of_its_own(online: Ward) -> None:
    _ran("""
run = sickbay.init("parent")
if os.fork() == 0:
    own = sickbay.init("child")
    own.log({"loss": 5}, 5)
    own.finish()
    os._exit(0)
os.wait()
run.log({"loss": 1}, 1)
run.finish()
""")
    assert sorted(opening.name for opening in online.openings) == ["child", "parent"]
    assert sorted(_steps(online)) == [1, 5]


_STARTED = """
import multiprocessing
import sickbay.trainer as sickbay
run = sickbay.init("unguarded")

def work(n):
    sickbay.log({"loss": n}, 100 + n)

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work, args=(1,))
    child.start()
    child.join()
    assert child.exitcode == 0
    run.log({"loss": 1}, 1)
    run.finish()
"""


def test_a_started_child_that_imports_the_script_begins_no_run(
    online: Ward, tmp_path: Path
) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(_STARTED)
    subprocess.run([sys.executable, script], check=True, timeout=60)
    assert len(online.openings) == 1
    assert _steps(online) == [1]


_LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Set(Dataset):
    def __len__(self): return 8
    def __getitem__(self, n):
        sickbay.log({"loss": n}, 100 + n)
        return torch.tensor(float(n))

run = sickbay.init("loader")
for step, batch in enumerate(DataLoader(Set(), batch_size=4, num_workers=2)):
    run.log({"loss": batch.mean()}, step)
run.finish()
"""


def test_a_dataloaders_workers_send_nothing(online: Ward, kit: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra trainer")
    _ran(_LOADER)
    assert online.points("loss") == [(0, 1.5), (1, 5.5)]
    assert len(online.openings) == 1
    assert not list(kit.iterdir())


_ENDS = """
run = sickbay.init("killed")
for n in range(200): run.log({"loss": n}, n)
time.sleep(0.7)
for n in range(200, 210): run.log({"loss": n}, n)
print("there", flush=True)
{end}
"""


@pytest.mark.parametrize(
    "end",
    [
        "os._exit(1)",
        "os.kill(os.getpid(), 9)",
        "os.kill(os.getpid(), 15)",
        "import ctypes; ctypes.string_at(0)",
    ],
)
def test_a_process_that_just_ends_loses_at_most_what_it_logged_last(
    ward: Ward, kit: Path, end: str
) -> None:
    _ran(_ENDS.replace("{end}", end), check=False)
    (folder,) = folders(kit)
    replay(folder, Line(ward.url, None, Pace()))
    steps = _steps(ward)
    assert steps == list(range(len(steps)))
    assert len(steps) >= 200
    assert not list(kit.iterdir())


def test_what_a_killed_process_left_is_sent_by_the_next(online: Ward, kit: Path) -> None:
    online.mood = "503"
    _ran("""
run = sickbay.init("first")
for n in range(50): run.log({"loss": n}, n)
time.sleep(0.7)
os.kill(os.getpid(), 9)
""", check=False)  # fmt: skip
    assert _steps(online) == []
    assert len(list(kit.iterdir())) == 1
    online.mood = "well"
    _ran("run = sickbay.init('second')\nrun.log({'loss': 1}, 1000)\ntime.sleep(1)\nrun.finish()")
    assert sorted(_steps(online)) == [*range(50), 1000]
    assert not list(kit.iterdir())


_TOGETHER = """
import os
import sickbay.trainer as sickbay

with sickbay.init("together", config={"lr": 0.1}) as run:
    rank = int(os.environ["RANK"])
    for step in range(100):
        run.log({"loss": float(step + 1000 * rank)}, step)
"""


@pytest.mark.parametrize("options", [("--standalone",), ("--master-port=29655",)])
def test_two_ranks_are_one_run_and_one_attempt(
    online: Ward, kit: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    pytest.importorskip("torch", reason="needs the extra trainer")
    script = tmp_path / "together.py"
    script.write_text(_TOGETHER)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", *options]
    for _ in range(2):
        subprocess.run([*launcher, script], check=True, timeout=120, capture_output=True)
    assert len({opening.launch for opening in online.openings}) == 2
    assert [(opening.rank, opening.world_size) for opening in online.openings].count((1, 2)) == 2
    assert {key[1] for key in online.events} == {1, 2}
    for rank in (0, 1):
        points = online.points("loss", rank)
        assert sorted(points) == sorted([(n, float(n + 1000 * rank)) for n in range(100)] * 2)
    assert not online.rejected
    assert not list(kit.iterdir())


_GROUP = """
import sys
import torch.distributed as group
import torch.multiprocessing as mp
import sickbay.trainer as sickbay

def work(rank, port):
    store = group.TCPStore("127.0.0.1", port, 2, rank == 0)
    group.init_process_group("gloo", store=store, rank=rank, world_size=2)
    with sickbay.init("group") as run:
        run.log({"loss": float(rank)}, 0)
    group.barrier()
    group.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, args=(int(sys.argv[1]),), nprocs=2)
"""


def test_ranks_without_a_launcher_agree_through_their_process_group(
    online: Ward, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs the extra trainer")
    script = tmp_path / "group.py"
    script.write_text(_GROUP)
    subprocess.run([sys.executable, script, "29657"], check=True, timeout=120)
    assert len({opening.launch for opening in online.openings}) == 1
    assert sorted(opening.rank for opening in online.openings) == [0, 1]
    assert [online.points("loss", rank) for rank in (0, 1)] == [[(0, 0.0)], [(0, 1.0)]]


def test_a_process_that_hangs_still_dies_of_sigterm(online: Ward) -> None:
    script = "run = sickbay.init('hangs')\nprint('there', flush=True)\nos.read(0, 1)"
    with subprocess.Popen(
        [sys.executable, "-c", _TRAIN + script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"there\n"
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == -signal.SIGTERM
    assert len(online.openings) <= 1


def test_the_end_of_a_script_waits_only_briefly_for_an_absent_server(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICKBAY_URL", "http://127.0.0.1:9")
    begun = time.monotonic()
    _ran("run = sickbay.init('absent')\nrun.log({'loss': 1}, 1)")
    assert time.monotonic() - begun < 10
    assert os.listdir(kit)  # noqa: PTH208 (only whether there is anything)
