"""From a job that stops to the picture that did it, and on without it: two ranks, one browser."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect
from tests import pictures
from tests.chromium import browser_page
from tests.commands import Ran, run
from tests.curve import click_at, drawn
from tests.serving import Serving, serving

torch: Any = pytest.importorskip("torch", reason="the job trains with torch")
pytestmark = pytest.mark.browser

expect.set_options(timeout=20_000)  # a machine that runs much else is slow, not wrong
SCRIPT = Path(__file__).with_name("pictures_training.py")
BAD, GREY = "train/cats/06.png", 120
"""Where the sampler's seed has the second rank meet it, in its fifth step; what it shows."""
STEP, RANK, EPOCHS, PER_EPOCH = 4, 1, 2, 6


@dataclass(frozen=True, slots=True)
class Lab:
    """A data set, its server, and a machine that trains on its releases."""

    folder: Path
    server: Serving
    environment: dict[str, str]

    @property
    def root(self) -> Path:
        return self.folder / "data"

    def pulled(self, name: str) -> Path:
        """Lay the newest release out."""
        target = self.folder / name
        where = ("--root", self.root, "--server", self.server.url)
        token = self.environment["SICKBAY_TOKEN"]
        ended_well(run("pull", "pets@latest", target, *where, "--token", token))
        subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=target, check=True)
        return target

    def train(self, release: Path) -> int:
        """Run the job on two ranks to its end; return its exit code."""
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        arguments = [SCRIPT, release, self.folder / "kept", EPOCHS]
        return subprocess.run(
            [sys.executable, *launcher, *map(str, arguments)],
            env={**os.environ, "OMP_NUM_THREADS": "1", **self.environment},
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    root, state = tmp_path / "data", tmp_path / "state"
    for seed in range(48):
        path = f"train/{('cats', 'dogs')[seed % 2]}/{seed:02}.png"
        pictures.write(root, path, pictures.png(seed, (64, 48)))
    one_colour = Image.new("RGB", (64, 48), (GREY, GREY, GREY))
    pictures.write(root, BAD, pictures.encoded(one_colour, "PNG"))
    scanned = ended_well(run("scan", root, "--dataset", "pets", "--state", state))
    assert scanned.out.startswith("found 48 = clean 48 + held 0 + skipped 0")
    ended_well(run("release", "pets", "--state", state))
    made = run("token", "new", "gpu", "--scope", "events,releases", "--state", state)
    with serving(state) as server:
        told = {
            "SICKBAY_URL": server.url,
            "SICKBAY_TOKEN": made.out.strip(),
            "SICKBAY_SPOOL": str(tmp_path / "spool"),
        }
        yield Lab(tmp_path, server, told)


def test_from_a_job_that_stops_to_the_picture_that_did_it_and_on_without_it(lab: Lab) -> None:
    originals = digests(lab.root)
    first = lab.pulled("first")
    assert lab.train(first) != 0
    kept = the_checkpoint(lab.folder / "kept")
    with browser_page() as page:
        open_the_run(page, lab.server)
        before = attempt(page, 1)
        assert steps_by_rank(page, 1) == {0: [*range(STEP + 1)], 1: [*range(STEP + 1)]}
        click_at(page, STEP)
        leave_out_what_is_blamed(page)
        make_a_release(page)

        second = lab.pulled("second")
        assert lab.train(second) == 0
        open_the_run(page, lab.server)
        after = attempt(page, 2)
        passed = [*range(STEP, EPOCHS * PER_EPOCH)]
        assert steps_by_rank(page, 2) == {0: passed, 1: passed}
        expect(page.locator("#happened")).to_contain_text("Attempt 2 ended")
    assert (before["state"], after["state"]) == ("failed", "finished")
    assert [before["release"], after["release"]] == [id_of(first), id_of(second)]
    assert after["config"] == {"checkpoint": kept.name}
    assert lines(first) - lines(second) == {line for line in lines(first) if BAD.encode() in line}
    assert lines(second) < lines(first)
    assert not (second / BAD).exists()
    assert digests(lab.root) == originals


def leave_out_what_is_blamed(page: Page) -> None:
    """The one click after that on the mark; before it, look whether it is the right picture."""
    expect(page.locator("#strip-title")).to_have_text(f"Samples of step {STEP}")
    expect(page.locator("#strip")).to_contain_text(f"rank {RANK}; batch of 4")
    expect(page.locator("#strip .notice")).to_contain_text("it is the data")
    tile = page.locator("#strip .tile").first
    expect(tile).to_have_attribute("data-path", BAD)
    for said in ("blamed", "NaN", "Held"):
        expect(tile).to_contain_text(said)
    assert colours(page, tile) == {GREY}
    expect(page.locator("#strip .tile", has_text=re.compile(r"loss \d\.\d+"))).to_have_count(3)
    chosen = page.locator("#happened [aria-current]")
    expect(chosen).to_contain_text(f"rank {RANK} and 1 more; it is the data")
    expect(page.locator("#failures details.group")).to_have_count(1)
    tile.get_by_role("button", name="Leave out").click()
    expect(page.locator("#said")).to_contain_text("Left out cats/06.png")
    expect(tile).to_contain_text("Excluded")


def colours(page: Page, tile: Locator) -> set[int]:
    """Return the values that the picture shown has in any channel."""
    picture = tile.locator("img")
    expect(picture).to_have_js_property("complete", value=True)
    shown = page.request.get(str(picture.evaluate("(img) => img.currentSrc"))).body()
    with Image.open(io.BytesIO(shown)) as opened:
        return set(np.unique(np.asarray(opened.convert("RGB"))).tolist())


def open_the_run(page: Page, server: Serving) -> None:
    if page.url == "about:blank":
        page.goto(f"{server.url}/login#{server.secret}")
        page.wait_for_url(re.compile(r"^(?!.*login)"))
    page.goto(f"{server.url}/runs")
    page.get_by_role("link", name="pets-cnn").first.click()
    drawn(page)


def make_a_release(page: Page) -> None:
    page.get_by_role("link", name="Releases").first.click()
    page.get_by_role("button", name="Make a release").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Release")


def the_checkpoint(folder: Path) -> Path:
    """Return the one checkpoint: from before the step, with nothing of its harm."""
    (path,) = folder.glob("*.pt")
    content = torch.load(path, weights_only=True)
    assert content["step"] == STEP
    assert all(value.isfinite().all() for value in content["state"]["model"].values())
    return path


def attempt(page: Page, number: int) -> dict[str, Any]:
    """Return what the server knows of a launch."""
    told: dict[str, Any] = page.request.get(f"{api(page)}").json()
    (found,) = (one for one in told["attempts"] if one["number"] == number)
    return dict(found)


def steps_by_rank(page: Page, number: int) -> dict[int, list[int]]:
    """Return the steps that each rank of a launch logged, from the page's own download."""
    query = f"series=train/loss&attempt={number}"
    head, *rows = page.request.get(f"{api(page)}/points.csv?{query}").text().splitlines()
    columns = head.split(",")
    found: dict[int, list[int]] = {}
    for row in rows:
        point = dict(zip(columns, row.split(","), strict=True))
        found.setdefault(int(point["rank"]), []).append(int(point["step"]))
    return found


def api(page: Page) -> str:
    base, _, key = page.url.partition("?")[0].rpartition("/runs/")
    return f"{base}/api/v1/runs/{key}"


def ended_well(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


def id_of(release: Path) -> str:
    return hashlib.sha256((release / "version.json").read_bytes()).hexdigest()


def lines(release: Path) -> set[bytes]:
    """Return the rows of what may be trained on."""
    rows = (release / "manifest.jsonl").read_bytes().splitlines()
    assert all(json.loads(row) for row in rows)
    return set(rows)


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
