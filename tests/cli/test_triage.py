"""``sickbay triage``: a job of somebody's own module, taken apart in a process of its own."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.commands import run as command
from tests.serving import serving

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.client.http import Pace
from sickbay.database import Database
from sickbay.runs.samples.course import reports
from sickbay.trainer.line import Line

pytest.importorskip("torch", reason="needs the extra trainer")

_JOB = """
import os, signal, time
import torch
from torch import nn
from torch.utils.data import Dataset

print("the job prints as it likes")

class Cells(Dataset):
    def __init__(self, spoil=None):
        self.samples = [(f"cells/{index}.png", index % 3) for index in range(24)]
        self.spoil = spoil
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, index):
        if index == 7 and self.spoil:
            self.spoil()
        label = self.samples[index][1]
        x = torch.randn(6, generator=torch.Generator().manual_seed(index)) + label
        return x, label

def job(data=None, model=None, **parts):
    model = model or nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return {
        "data": data or Cells(), "model": model, "criterion": nn.CrossEntropyLoss(),
        "optimizer": optimizer, "batch_size": 24, **parts,
    }

def hangs():
    return job(Cells(lambda: time.sleep(600)))

def dies():
    return job(Cells(lambda: os.kill(os.getpid(), signal.SIGSEGV)))

class Hungry(nn.Module):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGKILL)

def killed():
    return job(model=nn.Sequential(Hungry(), nn.Linear(6, 3)))

def too_narrow():
    return job(model=nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3)))

def old_weights():
    model = nn.Linear(6, 3)
    model.load_state_dict(nn.Linear(6, 4).state_dict())
    return job(model=model)

def odd_name():
    data = Cells(lambda: 1 / 0)
    data.samples[7] = ("caf\\udce9.png", 1)
    return job(data)

def seven():
    return 7

nothing = 7
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with the job's own module."""
    (tmp_path / "cells.py").write_text(_JOB)
    monkeypatch.chdir(tmp_path)
    for name in ("SICKBAY_URL", "SICKBAY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def test_a_sound_job_passes_in_a_table_of_eighty_columns(job: Path) -> None:
    done = command("triage", "cells:job", "--workers", "2", COLUMNS="80")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    passed = r"ok     workers +\d+\.\d s  1 batch from 2 workers\."
    skipped = r"-      train and validation +No validation data were given\."
    for row in (passed, skipped):
        assert any(re.fullmatch(row, one) for one in lines)
    assert max(map(len, lines)) < 80
    assert "the job prints" not in done.out
    assert "All stages passed." in done.out
    assert {one.name for one in job.iterdir()} <= {"cells.py", "__pycache__"}


@pytest.mark.usefixtures("job")
def test_a_stage_that_fails_ends_it_with_layer_category_and_what_to_do() -> None:
    done = command("triage", "cells:too_narrow", "--workers", "0", COLUMNS="80")
    assert done.code == 1
    said = " ".join(done.out.split())
    assert "FAILED forward" in said
    assert "In 0 (Linear), given [24, 6], the model raised RuntimeError" in said
    assert "Failed at: forward (model: shape mismatch)." in said
    assert "Print shape and dtype before that line" in said
    assert "Not reached: loss, backward, a few steps, mixed precision, export." in said


@pytest.mark.usefixtures("job")
def test_the_report_may_be_json() -> None:
    done = command("triage", "cells:old_weights", "--json")
    assert done.code == 1
    report = json.loads(done.out)
    assert (report["layer"], report["category"]) == ("model", "initialisation failed")
    assert report["stages"][0]["outcome"] == "failed"
    assert "size mismatch for weight" in report["stages"][0]["message"]
    assert {one["outcome"] for one in report["stages"][1:]} == {"skipped"}


_ENDED = {
    "hangs": ("one batch", "The process took more than 2 seconds, at cells/7.png.", "loading"),
    "dies": ("one batch", "The process was ended by SIGSEGV, at cells/7.png.", "loading failed"),
    "killed": ("forward", "The process was ended by SIGKILL.", "out of memory"),
    "odd_name": ("one batch", "Sample caf\\xe9.png raised ZeroDivisionError", "loading failed"),
}


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("factory", _ENDED)
def test_a_job_that_hangs_or_dies_leaves_a_report_all_the_same(factory: str) -> None:
    stage, words, category = _ENDED[factory]
    done = command("triage", f"cells:{factory}", "--workers", "0", "--timeout", "2", "--json")
    assert done.code == 1, done.err
    report = json.loads(done.out)
    (broken,) = [one for one in report["stages"] if one["outcome"] == "failed"]
    assert broken["name"] == stage
    assert words in broken["message"]
    assert category in report["category"]


@pytest.mark.usefixtures("job")
def test_what_is_no_job_is_said_in_a_sentence() -> None:
    expected: dict[tuple[str, ...], str] = {
        ("cells",): "written as module:name",
        ("cells:none",): "cannot be imported",
        ("nowhere:job",): "cannot be imported",
        ("cells:nothing",): "is no function",
        ("cells:seven",): "returns (data, model, criterion, optimizer)",
        ("cells:job", "--run", "abc"): "give its --server",
    }
    for words, sentence in expected.items():
        done = command("triage", *words)
        assert done.code == 2
        assert sentence in done.err.splitlines()[-1]
        assert not done.out


def test_the_report_is_on_the_page_of_the_run(state: Path, database: Database, job: Path) -> None:
    token = database.writing(lambda session: tokens.create(session, "gpu", [Scope.EVENTS]))
    opening: dict[str, Any] = {
        "name": "cells", "launch": "1", "process": "1", "rank": 0, "local_rank": 0,
        "world_size": 1, "host": "here", "started": 1796000000.0,
    }  # fmt: skip
    with serving(state) as server:
        opened = Line(server.url, token, Pace(patience=20.0)).open(opening)
        done = command(
            "triage", "cells:too_narrow", "--workers", "0", "--run", opened.run,
            SICKBAY_URL=server.url, SICKBAY_TOKEN=token,
        )  # fmt: skip
        assert done.code == 1, done.err
        assert f"Sent to {server.url}." in done.out
    with database.reading() as session:
        (found,) = reports(session, opened.run)
    assert found.attempt == 1
    assert (found.report.layer, found.report.category) == ("model", "shape mismatch")
    assert [one.name for one in found.report.stages][5] == "forward"
    assert job.is_dir()
