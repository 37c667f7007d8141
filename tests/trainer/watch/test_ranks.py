"""Two ranks: what one finds, both know; and nobody waits for one that has left."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward

from sickbay.contract.blame import Verdict
from sickbay.contract.event import Failure

pytest.importorskip("torch", reason="needs the extra trainer")

_TRAINING = """
import json, math, os, sys, time
from pathlib import Path
import torch
import torch.distributed as dist
import sickbay.trainer as sickbay

mode, folder = sys.argv[1], Path(sys.argv[2])
dist.init_process_group(
    "gloo",
    init_method=f"file://{folder}/store",
    rank=int(os.environ["RANK"]),
    world_size=2,
)
rank, called = dist.get_rank(), []
raising = ["raise"] if mode in ("raise", "judge") else []

def judge(anomaly):
    if anomaly.here and mode == "judge":
        time.sleep(3)  # as long as repeating a step of a large model takes
        run.verdict(anomaly.ref, "not-reproduced")

run = sickbay.init("ranks")
watch = sickbay.Watch(
    run, check_interval=5, on_anomaly=[called.append, judge, *raising], timeout=60
)
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
together = mode in ("share", "raise", "judge")
last, ended = -1, "well"
try:
    for step in range(40):
        if rank == 1 and step == 22 and mode == "leave":
            watch.close()
            break
        if rank == 1 and step == 22 and mode == "die":
            run.finish(failed=True)
            os._exit(9)
        with watch.step(step, samples=[f"{rank}/{step}.jpg"]):
            model.zero_grad()
            x = torch.ones(2, 4)
            if rank == 1 and step == 13:
                x[0, 0] = math.nan
            if rank == 1 and step == 22 and mode == "throw":
                raise ValueError("of one rank")
            loss = model(x).mean()
            loss.backward()
            for parameter in model.parameters():
                if together:
                    dist.all_reduce(parameter.grad)
            watch.observe(loss, model)
        last = step
except Exception as error:
    ended = type(error).__name__
found = [
    [one.step, one.kind.value, one.rank, list(one.ranks), one.here, list(one.samples), one.ref]
    for one in called
]
(folder / f"{rank}.json").write_text(json.dumps([ended, last, found]))
run.finish()
"""


def trained(mode: str, folder: Path) -> dict[int, Any]:
    """Run it on two ranks; return what each wrote, if it got there."""
    script = folder / "training.py"
    script.write_text(_TRAINING)
    ranks = [
        subprocess.Popen(
            [sys.executable, str(script), mode, str(folder)],
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"},
            stderr=subprocess.DEVNULL,
        )
        for rank in range(2)
    ]
    if mode == "judge":
        _end_all_with_the_first(ranks)
    for process in ranks:
        process.wait(timeout=240)
    return {int(path.stem): json.loads(path.read_text()) for path in folder.glob("?.json")}


def _end_all_with_the_first(ranks: "list[subprocess.Popen[bytes]]") -> None:
    """Do as a launcher does."""
    while all(process.poll() is None for process in ranks):
        time.sleep(0.01)
    for process in ranks:
        process.kill()


def test_what_one_rank_finds_every_rank_knows_and_one_tells(online: Ward, tmp_path: Path) -> None:
    wrote = trained("share", tmp_path)
    assert [wrote[rank][:2] for rank in (0, 1)] == [["well", 39]] * 2
    ((*other, ref),), ((*own, same),) = wrote[0][2], wrote[1][2]
    assert own == [13, "non-finite-loss", 1, [1], True, ["1/13.jpg"]]
    assert other == [13, "non-finite-loss", 1, [1], False, []]
    (failure,) = online.of(Failure)
    assert failure.ref == ref == same
    assert failure.detail["ranks"] == [1]
    assert [sample.path for sample in failure.samples] == ["1/13.jpg"]


def test_where_it_is_raised_all_ranks_stop_at_the_same_check(online: Ward, tmp_path: Path) -> None:
    wrote = trained("raise", tmp_path)
    assert [wrote[rank][:2] for rank in (0, 1)] == [["AnomalyFound", 13]] * 2
    assert [one.step for one in online.of(Failure) if one.ref] == [13]


def test_no_rank_leaves_before_all_have_told_what_they_found(online: Ward, tmp_path: Path) -> None:
    trained("judge", tmp_path)
    (failure,) = [one for one in online.of(Failure) if one.ref]
    assert [one.failure for one in online.of(Verdict)] == [failure.ref]


@pytest.mark.parametrize("mode", ["leave", "throw", "die"])
def test_a_rank_goes_on_alone_when_the_other_has_left(
    online: Ward, tmp_path: Path, mode: str
) -> None:
    wrote = trained(mode, tmp_path)
    assert wrote[0][:2] == ["well", 39]
    assert 13 in {one.step for one in online.of(Failure)}
