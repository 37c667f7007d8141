"""``sickbay scan --loader``: pictures that open and still fail in the job's own transform."""

import re
from pathlib import Path

import pytest
from tests.cli.test_scan import counts
from tests.commands import run
from tests.pictures import jpeg

from sickbay.quarantine.tables import Status

pytest.importorskip("torch", reason="needs the extra trainer")

_JOB = """
from pathlib import Path
import numpy, torch
from PIL import Image
from torch.utils.data import Dataset

class Pets(Dataset):
    def __init__(self):
        self.samples = [(str(path), 0) for path in sorted(Path(ROOT).rglob("*.jpg"))]
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, index):
        picture = torch.from_numpy(numpy.array(Image.open(self.samples[index][0]))).float()
        return picture[:8, :8].permute(2, 0, 1), 0

def pets():
    data = Pets()
    data.samples.append(("/elsewhere/x.jpg", 0))
    return data
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three pictures in colour and a grey one, which the job's transform does not take."""
    folder = tmp_path / "pets" / "cat"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"{number}.jpg").write_bytes(jpeg(number))
    (folder / "grey.jpg").write_bytes(jpeg(7, mode="L"))
    (tmp_path / "our_job.py").write_text(_JOB.replace("Path(ROOT)", f"Path({str(folder)!r})"))
    return folder.parent


def test_a_picture_that_only_fails_in_the_transform_is_held(root: Path, state: Path) -> None:
    ran = run(
        "scan", root, "--dataset", "pets", "--state", state, "--loader", "our_job:pets",
        "--loader-workers", "0", PYTHONPATH=str(root.parent),
    )  # fmt: skip
    assert (ran.code, ran.out) == (0, "found 4 = clean 3 + held 1 + skipped 0\n"), ran.err
    assert counts(state) == {Status.CLEAN: 3, Status.HELD: 1}
    assert "3 samples fetched, 2 with findings" in ran.err
    assert re.search(r"^Findings: .*training.loader-error 1", ran.err, re.MULTILINE)
    assert "1 of these samples are not in this scan: elsewhere/x.jpg" in ran.err


def test_a_loader_that_there_is_not_leaves_the_scan_before_in_force(
    root: Path, state: Path
) -> None:
    ran = run("scan", root, "--dataset", "pets", "--state", state, "--loader", "no_job:pets")
    assert ran.code == 2
    assert "No module named 'no_job'" in ran.err
