"""Which checkpoints stay, which are chosen, and what comes back out of them."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import sickbay.trainer as sickbay
from sickbay.contract.errors import BadInput, NotFound
from sickbay.contract.event import FailureKind

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")
numpy: Any = pytest.importorskip("numpy", reason="needs the extra scan")

from sickbay.trainer.checkpoints import Checkpoints  # noqa: E402 (it needs torch)
from sickbay.trainer.checkpoints.folder import MANIFEST  # noqa: E402 (as above)
from sickbay.trainer.watch import Watch  # noqa: E402 (as above)
from sickbay.trainer.watch.anomaly import Anomaly, new_ref  # noqa: E402 (as above)


class Training:
    """Model, optimizer and schedule, and their checkpoints."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
        self.watch = Watch(sickbay.Run(None), check_interval=1)
        self.kept = Checkpoints(
            folder,
            model=self.model,
            optimizer=self.optimizer,
            scheduler=self.scheduler,
            watch=self.watch,
            **options,
        )

    def step(self, step: int, x: Any = None) -> None:
        self.watch.begin(step)
        loss = self.model(torch.randn(8, 3) if x is None else x).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.watch.observe(loss, self.model)
        self.optimizer.step()
        self.scheduler.step()
        self.watch.end()

    def save(self, step: int, **told: Any) -> Path:
        path = self.kept.save(step, **told)
        assert path is not None
        return path

    def spoil(self) -> None:
        with torch.no_grad():
            self.model[0].weight[0, 0] = math.nan


def _steps(folder: Path) -> list[int]:
    return sorted(int(path.name.split("-")[1]) for path in folder.glob("*.pt"))


def test_the_newest_and_the_best_stay(tmp_path: Path) -> None:
    training = Training(tmp_path)
    for step, metric in enumerate([0.9, 0.2, 0.5, 0.4, 0.6, 0.7, math.nan]):
        training.step(step)
        training.save(step + 1, metric=metric)
    assert _steps(tmp_path) == [2, 5, 6, 7]


def test_the_last_good_one_stays_however_many_bad_ones_follow(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.step(0)
    good = training.save(1)
    training.spoil()
    for step in range(2, 20):
        training.save(step)
    assert _steps(tmp_path) == [1, 17, 18, 19]
    assert training.kept.newest_good() == good


def test_everything_comes_back_and_the_training_goes_on_as_if_nothing_had_been(
    tmp_path: Path,
) -> None:
    training = Training(tmp_path)
    for step in range(40):
        training.step(step)
    training.save(40, epoch=2, extra={"best": numpy.float64(0.5), "note": "kept"})
    training.step(40)
    drawn = random.random(), numpy.random.rand(), torch.rand(1)  # noqa: S311 (what jobs use)
    expected = {name: one.clone() for name, one in training.model.state_dict().items()}

    other = Training(tmp_path)
    found = other.kept.load()
    assert found is not None
    assert (found.step, found.epoch) == (40, 2)
    assert found.content["extra"] == {"best": 0.5, "note": "kept"}
    assert other.watch.state_dict() == found.content["state"]["watch"]
    other.step(40)
    assert drawn == (random.random(), numpy.random.rand(), torch.rand(1))  # noqa: S311 (as above)
    now = other.model.state_dict()
    assert all(torch.equal(expected[name], now[name]) for name in expected)
    assert other.scheduler.state_dict() == training.scheduler.state_dict()


def test_a_torn_or_changed_file_is_passed_over(tmp_path: Path) -> None:
    training = Training(tmp_path)
    paths = []
    for step in range(3):
        training.step(step)
        paths.append(training.save(step + 1))
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    data = bytearray(paths[1].read_bytes())
    data[len(data) // 2] ^= 1
    paths[1].write_bytes(data)
    assert training.kept.newest_good() == paths[0]


def test_a_damaged_manifest_costs_no_checkpoint(tmp_path: Path) -> None:
    training = Training(tmp_path)
    training.step(0)
    good = training.save(1)
    (tmp_path / MANIFEST).write_bytes(b'{"version": 1, "checkp')
    assert training.kept.newest_good() == good
    again = Training(tmp_path)
    again.step(1)
    again.save(2)
    assert _steps(tmp_path) == [1, 2]
    assert len(json.loads((tmp_path / MANIFEST).read_bytes())["checkpoints"]) == 2


def test_what_a_killed_process_left_is_cleared_up(tmp_path: Path) -> None:
    Training(tmp_path).save(1)
    (tmp_path / ".step-000000002-000002.pt.abcd.part").write_bytes(b"half")
    (tmp_path / "step-000000002-000002.pt").write_bytes(b"whole, not listed")
    (tmp_path / "mine.pt").write_bytes(b"somebody else's")
    kept = Training(tmp_path).kept
    assert {path.name for path in tmp_path.iterdir()} == {
        MANIFEST,
        "mine.pt",
        "step-000000001-000001.pt",
    }
    assert kept.newest_good() is not None


def _anomaly(step: int, kind: FailureKind) -> Anomaly:
    return Anomaly(new_ref(), kind, step, math.nan)


def test_at_an_anomaly_the_state_before_the_forward_pass_is_saved(tmp_path: Path) -> None:
    training = Training(tmp_path)
    for step in range(3):
        training.step(step)
    before = {name: one.clone() for name, one in training.model.state_dict().items()}
    training.watch.on_anomaly.append(training.kept)
    training.step(3, torch.full((8, 3), math.nan))
    assert not torch.isfinite(training.model[1].running_mean).all()
    other = Training(tmp_path)
    found = other.kept.load()
    assert found is not None
    assert found.step == 3
    assert found.path.name.startswith("anomaly-000000003-")
    now = other.model.state_dict()
    assert all(torch.equal(before[name], now[name]) for name in before)


def test_of_anomalies_in_a_row_the_first_is_saved(tmp_path: Path) -> None:
    training = Training(tmp_path, calm=10)
    training.watch.on_anomaly.append(training.kept)
    for step in range(6):
        training.step(step, torch.full((8, 3), math.nan))
    assert _steps(tmp_path) == [0]


def test_a_spikes_checkpoint_is_kept_but_is_not_called_good(tmp_path: Path) -> None:
    training = Training(tmp_path, calm=10)
    training.step(0)
    good = training.save(1)
    training.step(1)
    path = training.kept.at(_anomaly(1, FailureKind.LOSS_SPIKE))
    assert path is not None
    assert path.is_file()
    training.save(5)
    assert training.kept.newest_good() == good
    later = training.save(12)
    assert training.kept.newest_good() == later


def test_only_so_many_checkpoints_of_anomalies_stay(tmp_path: Path) -> None:
    training = Training(tmp_path, calm=1)
    for step in range(0, 30, 3):
        training.step(step)
        training.kept.at(_anomaly(step, FailureKind.LOSS_SPIKE))
    assert _steps(tmp_path) == [24, 27]


def test_other_ranks_write_nothing_and_name_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("MASTER_PORT", "29511")
    named = set()
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        training = Training(tmp_path / rank)
        training.step(7)
        path = training.kept.at(_anomaly(7, FailureKind.NON_FINITE_LOSS))
        assert path is not None
        named.add(path.name)
        assert (training.kept.save(8) is None) == (rank == "1")
    assert len(named) == 1
    assert [path.name for path in tmp_path.glob("*/anomaly-*.pt")] == list(named)


def test_what_cannot_be_loaded_is_said_in_a_sentence(tmp_path: Path) -> None:
    training = Training(tmp_path)
    assert training.kept.load() is None
    with pytest.raises(NotFound, match="no checkpoint at"):
        training.kept.load(tmp_path / "none.pt")
    (tmp_path / "odd.pt").write_bytes(b"something")
    with pytest.raises(BadInput, match="is no checkpoint"):
        training.kept.load(tmp_path / "odd.pt")
    training.save(1)
    other = Checkpoints(tmp_path, model=torch.nn.Linear(9, 9))
    with pytest.raises(BadInput, match="of another model"):
        other.load()


def test_a_full_disk_stops_no_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"")
    training = Training(tmp_path / "file" / "below")
    assert training.kept.save(1) is None
    assert "is not saved" in caplog.text
