"""``sickbay scan`` as people and jobs call it."""

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.commands import as_anybody, begin, mount_small, run, unmount, with_small_files
from tests.pictures import jpeg
from tests.serving import serving, start

from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Status


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five sound pictures and one that is cut in half."""
    folder = tmp_path / "pets" / "cat"
    folder.mkdir(parents=True)
    for number in range(5):
        (folder / f"{number}.jpg").write_bytes(jpeg(number))
    (folder / "cut.jpg").write_bytes(jpeg(9)[:2000])
    return folder.parent


def counts(state: Path) -> dict[Status, int]:
    database = open_database(state / "sickbay.db")
    with database.reading() as session:
        found = data_sets.card(session, data_sets.find(session, "pets").id).counts
    database.close()
    return {status: count for status, count in found.items() if count}


def test_a_scan_into_the_local_state_ends_with_its_totals(root: Path, state: Path) -> None:
    ran = run("scan", root, "--dataset", "pets", "--state", state, "--workers", "1")
    assert (ran.code, ran.out) == (0, "found 6 = clean 5 + held 1 + skipped 0\n")
    assert counts(state) == {Status.CLEAN: 5, Status.HELD: 1}


def test_what_was_found_is_said_also_of_files_that_are_no_samples(tmp_path: Path) -> None:
    root = tmp_path / "set"
    (root / "images").mkdir(parents=True)
    (root / "data.yaml").write_text("train: images\nval: none\nnames: [cat]\n")
    (root / "images/a.jpg").write_bytes(jpeg(1))
    ran = run("scan", root, "--dataset", "p", "--out", tmp_path / "p.ndjson", "--workers", "1")
    assert (ran.code, ran.out) == (0, "found 1 = clean 1 + held 0 + skipped 0\n")
    assert "Findings: file.missing 1.\n" in ran.err


def test_a_scan_into_a_file_is_the_same_whatever_the_workers(root: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.ndjson", tmp_path / "two.ndjson"
    for out, workers in ((one, "1"), (two, "2")):
        assert run("scan", root, "--dataset", "p", "--out", out, "--workers", workers).code == 0
    assert one.read_bytes() == two.read_bytes()
    kinds = [json.loads(line)["kind"] for line in one.read_text().splitlines()]
    assert kinds == ["scan", *["sample"] * 6, "summary"]


def test_a_scan_to_a_server_arrives_with_the_tokens_name(root: Path, state: Path) -> None:
    token = run("token", "new", "lab", "--scope", "scan", "--state", state).out.strip()
    with serving(state) as server:
        ran = run("scan", root, "--dataset", "pets", "--server", server.url, SICKBAY_TOKEN=token)
    assert (ran.code, ran.out) == (0, "found 6 = clean 5 + held 1 + skipped 0\n")
    assert counts(state) == {Status.CLEAN: 5, Status.HELD: 1}
    assert token not in server.log.read_text()


def test_a_server_that_is_killed_meanwhile_and_comes_back_gets_the_whole_scan(
    root: Path, state: Path
) -> None:
    token = run("token", "new", "lab", "--scope", "scan", "--state", state).out.strip()
    server = start(state)
    scan = begin("scan", root, "--dataset", "pets", "--server", server.url, "--token", token)
    while "GET /api/v1/me 200" not in server.log.read_text():
        assert scan.poll() is None
    server.kill()
    again = start(state, server.port)
    try:
        out, err = scan.communicate(timeout=120)
    finally:
        again.kill()
    assert (scan.returncode, out) == (0, "found 6 = clean 5 + held 1 + skipped 0\n"), err
    assert counts(state) == {Status.CLEAN: 5, Status.HELD: 1}


def test_skipped_files_are_counted_with_their_reason(root: Path, tmp_path: Path) -> None:
    (root / "cat" / "notes.txt").write_text("no picture")
    ran = run("scan", root, "--dataset", "pets", "--out", tmp_path / "o.ndjson")
    assert ran.out.startswith("found 7 = clean 5 + held 1 + skipped 1 (")
    assert ran.out.endswith(" 1)\n")


def test_a_missing_root_is_one_sentence(tmp_path: Path, state: Path) -> None:
    ran = run("scan", tmp_path / "none", "--dataset", "pets", "--state", state)
    assert ran.code == 2
    assert "none" in ran.sentence


def test_an_empty_root_is_one_sentence(tmp_path: Path, state: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run("scan", tmp_path / "empty", "--dataset", "pets", "--state", state)
    assert ran.code == 2
    assert "empty" in ran.sentence


def test_a_root_that_is_a_file_is_one_sentence(root: Path, state: Path) -> None:
    ran = run("scan", root / "cat" / "0.jpg", "--dataset", "pets", "--state", state)
    assert ran.code == 2
    assert "folder" in ran.sentence


def test_a_root_that_may_not_be_read_is_one_sentence(root: Path, state: Path) -> None:
    root.chmod(0o000)
    try:
        ran = run("scan", root, "--dataset", "p", "--state", state, prepare=as_anybody)
    finally:
        root.chmod(0o700)
    assert ran.code in {2, 5}
    assert "pets" in ran.sentence


def test_a_folder_inside_that_may_not_be_read_costs_only_itself(root: Path, tmp_path: Path) -> None:
    locked = root / "dog"
    locked.mkdir(mode=0o000)
    out = tmp_path / "o.ndjson"
    try:
        ran = run("scan", root, "--dataset", "p", "--out", out, prepare=as_anybody)
    finally:
        locked.chmod(0o700)
    assert ran.code == 0
    assert "clean 5 + held 1" in ran.out
    assert "file.unreadable" in out.read_text()


def test_odd_names_are_findings_and_the_scan_goes_on(root: Path, tmp_path: Path) -> None:
    cat = os.fsencode(root / "cat")
    for name in (b"new\nline.jpg", b"not-utf8-\xff.jpg"):
        Path(os.fsdecode(cat + b"/" + name)).write_bytes(jpeg(3))
    out = tmp_path / "o.ndjson"
    ran = run("scan", root, "--dataset", "p", "--out", out)
    assert (ran.code, ran.out) == (0, "found 8 = clean 5 + held 3 + skipped 0\n")
    assert out.read_text().count("file.unsafe-path") >= 2


@pytest.mark.parametrize("name", ["", "../x"])
def test_a_name_that_cannot_be_used_is_refused_before_any_file_is_read(
    root: Path, state: Path, name: str
) -> None:
    ran = run("scan", root, f"--dataset={name}", "--state", state)
    assert ran.code == 2
    assert "data set's name" in ran.sentence


def test_no_original_is_overwritten_by_records(root: Path) -> None:
    original = root / "cat" / "0.jpg"
    before = original.read_bytes()
    ran = run("scan", root, "--dataset", "pets", "--out", original)
    assert ran.code == 2
    assert "another kind" in ran.sentence
    assert original.read_bytes() == before


@pytest.mark.parametrize("below", [".", "state", "cat/deep/state"])
def test_no_state_is_made_below_the_root(root: Path, below: str) -> None:
    before = sorted(root.rglob("*"))
    ran = run("scan", root, "--dataset", "pets", "--state", root / below)
    assert ran.code == 2
    assert "--state" in ran.sentence
    assert sorted(root.rglob("*")) == before


def test_a_server_that_is_down_is_one_sentence(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    ran = run("scan", root, "--dataset", "pets", "--server", url, "--token", "sickbay_1_x")
    assert ran.code == 3
    assert url in ran.sentence


def test_a_bad_token_is_one_sentence(root: Path, state: Path) -> None:
    with serving(state) as server:
        ran = run("scan", root, "--dataset", "p", "--server", server.url, "--token", "canary")
    assert ran.code == 4
    assert "token" in ran.sentence
    assert "canary" not in ran.err


def test_a_server_without_a_token_is_one_sentence(root: Path) -> None:
    ran = run("scan", root, "--dataset", "pets", "--server", "http://127.0.0.1:1")
    assert ran.code == 2
    assert "sickbay token new" in ran.sentence


def test_a_state_folder_that_cannot_be_made_is_one_sentence(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run("scan", root, "--dataset", "pets", "--state", tmp_path / "file" / "state")
    assert ran.code == 5
    assert "--state" in ran.sentence


def test_a_file_that_cannot_be_written_is_one_sentence(root: Path, tmp_path: Path) -> None:
    ran = run("scan", root, "--dataset", "p", "--out", tmp_path / "none" / "o.ndjson")
    assert ran.code == 2
    assert "none" in ran.sentence


def test_records_that_find_no_room_leave_nothing_half(root: Path, tmp_path: Path) -> None:
    for number in range(300):
        (root / "cat" / f"copy-{number}.jpg").write_bytes(jpeg(1))
    out = tmp_path / "o.ndjson"
    assert run("scan", root / "cat", "--dataset", "pets", "--out", out).code == 0
    before = out.read_bytes()
    ran = run("scan", root, "--dataset", "pets", "--out", out, prepare=with_small_files)
    assert ran.code == 5
    assert "cannot be written" in ran.sentence
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.ndjson", "pets"]


@pytest.fixture
def full_state(tmp_path: Path) -> Iterator[Path]:
    """A state folder on a disk of 1.5 MB, with a scan in it."""
    folder = tmp_path / "small"
    folder.mkdir()
    if not mount_small(folder, "1500k"):
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    unmount(folder)


def test_a_full_disk_is_one_sentence_and_the_scan_before_stays_in_force(
    root: Path, full_state: Path
) -> None:
    scan = ("scan", root, "--dataset", "pets", "--state", full_state)
    assert run(*scan).code == 0
    (full_state / "ballast").write_bytes(b"x" * (_free(full_state) - 40_000))
    for number in range(300):
        (root / "cat" / f"cut-{number}.jpg").write_bytes(jpeg(number)[:2500])
    ran = run(*scan)
    assert ran.code == 5
    assert "full" in ran.sentence or "No space" in ran.sentence
    assert counts(full_state) == {Status.CLEAN: 5, Status.HELD: 1}
    (full_state / "ballast").unlink()
    assert counts(full_state) == {Status.CLEAN: 5, Status.HELD: 1}


def _free(folder: Path) -> int:
    room = os.statvfs(folder)
    return room.f_bavail * room.f_bsize
