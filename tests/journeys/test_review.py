"""The main loop as a data owner meets it: scan, review in a browser, release, pull."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests import pictures
from tests.chromium import browser_page
from tests.serving import Serving, serving

pytestmark = pytest.mark.browser

TRUNCATED = [f"train/cats/cut_{number}.jpg" for number in range(4)]
REPLACED = "train/dogs/page.jpg"
UNDECIDED = "val/dogs/empty.jpg"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data set with four truncated pictures, an error page, an empty file, and sound ones."""
    sound = [f"{split}/{label}/{number}.jpg" for split in ("train", "val")
             for label in ("cats", "dogs") for number in range(3)]  # fmt: skip
    files = {path: pictures.jpeg(seed) for seed, path in enumerate(sound)}
    files |= {
        path: pictures.truncated(pictures.jpeg(50 + seed)) for seed, path in enumerate(TRUNCATED)
    }
    files |= {REPLACED: b"<!DOCTYPE html><title>429</title>", UNDECIDED: b""}
    for path, data in files.items():
        (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / path).write_bytes(data)
    return tmp_path / "data"


@pytest.fixture
def server(root: Path, tmp_path: Path) -> Iterator[Serving]:
    state = tmp_path / "state"
    said = _sickbay("scan", str(root), "--dataset", "pets", "--state", str(state))
    assert said.strip() == "found 18 = clean 12 + held 6 + skipped 0"
    with serving(state) as running:
        yield running


def test_from_a_folder_to_a_verified_release(root: Path, server: Serving, tmp_path: Path) -> None:
    before = _fingerprint(root)
    replacement = pictures.jpeg(99)
    with browser_page() as page:
        _log_in(page, server)
        _exclude_two_undo_one_and_keep_it(page)
        _replace_by_upload(page, replacement, tmp_path)
        _make_a_release(page)
    clean = tmp_path / "clean"
    state = str(server.log.parent)
    token = _sickbay("token", "new", "gpu", "--scope", "releases", "--state", state).strip()
    _sickbay(
        "pull", "pets", str(clean), "--root", str(root), "--server", server.url, "--token", token
    )
    subprocess.run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"], cwd=clean, check=True)
    subprocess.run(
        ["sha256sum", "-c", "--strict", "--quiet", "METADATA-SHA256SUMS"], cwd=clean, check=True
    )

    kept = {row["file_name"]: row for row in _rows(clean / "manifest.jsonl")}
    listed = {row["file_name"]: row["decision"] for row in _rows(clean / "quarantine.jsonl")}
    excluded, approved = TRUNCATED[0], TRUNCATED[1]
    assert excluded not in kept
    assert not (clean / excluded).exists()
    assert listed[excluded] == "exclude"
    assert kept[approved]["status"] == "approved"
    assert kept[REPLACED]["sha256"] == hashlib.sha256(replacement).hexdigest()
    assert (clean / REPLACED).read_bytes() == replacement
    undecided = {name for name, decision in listed.items() if decision == "pending"}
    assert undecided == {UNDECIDED, *TRUNCATED[2:]}
    assert _fingerprint(root) == before


def _log_in(page: Page, server: Serving) -> None:
    page.goto(f"{server.url}/login#{server.secret}")
    page.wait_for_url(re.compile(r"^(?!.*login)"))
    page.get_by_role("link", name=re.compile("^Review 6")).first.click()


def _exclude_two_undo_one_and_keep_it(page: Page) -> None:
    """Filter to truncated pictures, then decide with the keyboard alone."""
    page.get_by_role("link", name=re.compile(r"image\.truncated")).first.click()
    tiles = page.locator("#grid .tile")
    expect(tiles).to_have_count(len(TRUNCATED))
    _wait_for_keys(page)
    page.keyboard.press("x")
    expect(page.get_by_role("status")).to_contain_text("Left out")
    expect(tiles.nth(0)).to_have_attribute("data-status", "excluded")
    page.keyboard.press("x")
    expect(tiles.nth(1)).to_have_attribute("data-status", "excluded")
    page.keyboard.press("u")
    expect(tiles.nth(1)).to_have_attribute("data-status", "held")
    page.keyboard.press("a")
    expect(tiles.nth(1)).to_have_attribute("data-status", "approved")


def _replace_by_upload(page: Page, replacement: bytes, tmp_path: Path) -> None:
    """Open the error page's sample; a bad file is refused with its finding, a sound one taken."""
    bad, good = tmp_path / "bad.jpg", tmp_path / "good.jpg"
    bad.write_bytes(pictures.truncated(replacement))
    good.write_bytes(replacement)
    page.get_by_role("link", name=re.compile("^Review")).first.click()
    page.locator(f'#grid .tile[data-path="{REPLACED}"] > a').click()
    expect(page.get_by_role("form", name="Decision")).to_be_visible()
    _wait_for_keys(page)
    page.keyboard.press("r")
    page.set_input_files("#file", bad)
    page.get_by_role("button", name="Use this file").click()
    expect(page.get_by_role("alert")).to_contain_text("image.truncated")
    page.set_input_files("#file", good)
    page.get_by_role("button", name="Use this file").click()
    expect(page.get_by_role("status")).to_contain_text(re.compile("Replaced", re.IGNORECASE))


def _wait_for_keys(page: Page) -> None:
    """A page takes keys once its script runs; what is typed before is dropped on purpose."""
    expect(page.locator("html[data-ready]")).to_be_attached()


def _make_a_release(page: Page) -> None:
    page.get_by_role("link", name="Releases").first.click()
    page.get_by_role("button", name="Make a release").click()
    page.get_by_role("button", name="Make it without 3").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Release")


def _sickbay(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sickbay", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _fingerprint(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
