"""``sickbay replay``: a bad step, repeated by another process another day."""

from pathlib import Path
from typing import Any

import pytest
from tests.commands import run as command
from tests.serving import start

import sickbay.trainer as sickbay
from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.contract.blame import Outcome
from sickbay.database import Database
from sickbay.runs.samples.tables import FailureVerdict

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from sqlalchemy import select  # noqa: E402 (after what may skip)
from tests.trainer.blame.trainings import (  # noqa: E402 (they need torch)
    Training,
    a_batch,
    a_model,
)

from sickbay.trainer.blame import Blame  # noqa: E402 (as above)
from sickbay.trainer.checkpoints import Checkpoints  # noqa: E402 (as above)

_JOB = """
import torch
from torch import nn

def job():
    model = nn.Sequential(
        nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4)
    )
    return model, nn.MSELoss()

def whole():
    model, criterion = job()
    return [1, 2], model, criterion, torch.optim.SGD(model.parameters(), lr=0.1)

def other():
    return nn.Linear(3, 3), nn.MSELoss()

def nothing():
    return 7

def broken():
    raise ValueError("no such data")
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with the job's own module."""
    (tmp_path / "cells.py").write_text(_JOB)
    monkeypatch.chdir(tmp_path)
    for name in ("SICKBAY_URL", "SICKBAY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SICKBAY_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setenv("SICKBAY_EVIDENCE", str(tmp_path / "evidence"))
    return tmp_path


def _train(folder: Path, run: sickbay.Run) -> str:
    """Train until a bad step, and return the ref of its failure."""
    sickbay.seed_everything(3)
    training = Training(a_model(torch.nn.BatchNorm1d(16)), run)
    kept = Checkpoints(folder / "kept", model=training.model, watch=training.watch)
    watch = training.watch
    watch.on_anomaly.append(
        Blame(training.model, training.criterion, watch=watch, checkpoints=kept)
    )
    training.warm_up(40)
    x, y = a_batch()
    y[5] = 1e3
    training.steps(iter([(40, x, y)]))
    return next((folder / "evidence").glob("*.evidence.pt")).name.partition(".")[0]


@pytest.mark.parametrize("factory", ["cells:job", "cells:whole"])
def test_a_step_is_repeated_from_what_was_kept(factory: str, job: Path) -> None:
    with sickbay.init("offline") as run:
        ref = _train(job, run)
    for event in (ref, job / "evidence" / f"{ref}.evidence.pt"):
        done = command("replay", event, factory)
        assert done.code == 0, done.err
        assert "at step 40: reproduced-alone" in done.out
        assert "40/5.png  loss " in done.out
        assert "forward passes" in done.out


def test_what_does_not_fit_is_said_in_a_sentence(job: Path) -> None:
    with sickbay.init("offline") as run:
        ref = _train(job, run)
    (job / "odd.evidence.pt").write_bytes(b"something else")
    expected = {
        ("0" * 16, "cells:job"): "no evidence of",
        ("odd.evidence.pt", "cells:job"): "is no evidence",
        (ref, "cells"): "written as module:name",
        (ref, "cells:none"): "cannot be imported",
        (ref, "cells:nothing"): "returns no model",
        (ref, "cells:broken"): "no such data",
        (ref, "cells:other"): "is of another model",
    }
    for words, sentence in expected.items():
        done = command("replay", *words)
        assert done.code == 2
        assert sentence in done.sentence
    done = command("replay", ref, "cells:job", "--checkpoint", "gone.pt")
    assert done.code == 2
    assert "no checkpoint at gone.pt" in done.sentence
    done = command("replay", ref, "cells:job", SICKBAY_URL="http://127.0.0.1:9")
    assert done.code == 2
    assert "give --run and --attempt" in done.sentence


def test_its_verdict_is_added_to_the_failure_on_the_server(
    state: Path, database: Database, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = database.writing(lambda session: tokens.create(session, "gpu", [Scope.EVENTS]))
    server = start(state)
    try:
        monkeypatch.setenv("SICKBAY_URL", server.url)
        monkeypatch.setenv("SICKBAY_TOKEN", token)
        run = sickbay.init("online")
        while run.attempt is None:
            pass
        ref = _train(job, run)
        run.finish()
        done = command("replay", ref, "cells:job")
        assert done.code == 0, done.err
        assert f"Sent to {server.url}" in done.out
    finally:
        server.kill()
    with database.reading() as session:
        found = session.scalars(select(FailureVerdict).where(FailureVerdict.ref == ref)).all()
    assert [one.outcome for one in found] == [Outcome.REPRODUCED_ALONE] * 2
