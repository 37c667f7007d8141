"""The README's script with all of the kit: it stops before a bad step, and goes on without it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image
from tests import pictures
from tests.commands import Ran, run
from tests.readme import example
from tests.serving import serving

pytest.importorskip("torch", reason="the README's script trains with torch")

BAD = "roses/23.jpg"
"""A picture of one colour: sound as a file, and NaN after the script's transform."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder to work in, with the README's script and a server that runs."""

    folder: Path

    def sickbay(self, *words: str | Path) -> Ran:
        ran = run(*words, PYTHONPATH=str(self.folder))
        assert ran.code == 0, ran.err
        return ran

    def release(self, name: str) -> None:
        """Make a release and lay it out, as the README has it."""
        self.sickbay("release", "flowers", "--state", self.folder / "state")
        where = ("--root", self.folder / "data", "--state", self.folder / "state")
        self.sickbay("pull", "flowers@latest", self.folder / name, *where)

    def train(self, release: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "train.py", release],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    data, state = tmp_path / "data", tmp_path / "state"
    for seed in range(48):
        path = f"{('roses', 'tulips')[seed % 2]}/{seed:02}.jpg"
        pictures.write(data, path, pictures.jpeg(seed, (64, 48)))
    pictures.write(data, BAD, pictures.encoded(Image.new("RGB", (64, 48), "teal"), "JPEG"))
    (tmp_path / "train.py").write_text(example("which").replace("/data/flowers", str(data)))
    run("scan", data, "--dataset", "flowers", "--state", state)
    token = run("token", "new", "gpu", "--scope", "events,releases", "--state", state).out.strip()
    with serving(state) as server:
        monkeypatch.setenv("SICKBAY_URL", server.url)
        monkeypatch.setenv("SICKBAY_TOKEN", token)
        monkeypatch.setenv("SICKBAY_SPOOL", str(tmp_path / "spool"))
        yield Bench(tmp_path)


def test_the_script_stops_at_the_picture_and_passes_without_it(bench: Bench) -> None:
    bench.release("first")
    stopped = bench.train("first")
    assert stopped.returncode == 1
    assert "AnomalyFound" in stopped.stderr
    before = step_of(bench, "anomaly")
    bench.release("second")
    assert not (bench.folder / "second" / BAD).exists()
    lines = (bench.folder / "second" / "quarantine.jsonl").read_text().splitlines()
    (undecided,) = map(json.loads, lines)
    assert undecided["file_name"] == BAD
    assert "training.non-finite-input" in undecided["codes"]
    assert bench.train("second").returncode == 0
    assert step_of(bench, "step") == before + 3, "three batches more"


def test_the_job_s_factory_serves_the_loader_check_triage_and_replay(bench: Bench) -> None:
    data, state = bench.folder / "data", bench.folder / "state"
    flowers = ("--dataset", "flowers", "--state", state)
    ran = bench.sickbay("scan", data, *flowers, "--loader", "train:job")
    assert "training.non-finite-input 1" in ran.err
    triage = run("triage", "train:job", PYTHONPATH=str(bench.folder))
    assert triage.code == 1
    assert BAD in triage.out
    bench.release("first")
    (bench.folder / "first" / BAD).parent.mkdir(exist_ok=True)
    (bench.folder / "first" / BAD).write_bytes((data / BAD).read_bytes())
    assert bench.train("first").returncode == 1
    evidence = next(bench.folder.rglob("*.evidence.pt"))
    replayed = bench.sickbay("replay", evidence, "train:job", "--server", "")
    assert "reproduced-alone" in replayed.out
    assert BAD in replayed.out


def step_of(bench: Bench, kind: str) -> int:
    """Return the step of the one checkpoint of a kind."""
    (kept,) = (bench.folder / "kept").glob(f"{kind}-*.pt")
    return int(kept.name.split("-")[1])
