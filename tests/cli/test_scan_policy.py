"""``sickbay scan`` by a policy: from options, a file, or the data set's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.commands import run
from tests.pictures import encoded, jpeg, write
from tests.serving import serving

from sickbay.contract.policy import Policy
from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Status

TRAILING = 'severities = {"image.trailing-data" = "block", "image.truncated" = "silent"}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A sound picture, one with bytes behind its end, and one that is cut in half."""
    folder = tmp_path / "pets" / "cat"
    folder.mkdir(parents=True)
    (folder / "sound.jpg").write_bytes(jpeg(1))
    (folder / "long.jpg").write_bytes(jpeg(2) + b"some more")
    (folder / "cut.jpg").write_bytes(jpeg(3)[:2000])
    return folder.parent


@pytest.fixture
def strict(tmp_path: Path) -> Path:
    path = tmp_path / "strict.toml"
    path.write_text(TRAILING)
    return path


def statuses(state: Path) -> dict[Status, int]:
    database = open_database(state / "sickbay.db")
    with database.reading() as session:
        found = data_sets.card(session, data_sets.find(session, "pets").id).counts
    database.close()
    return {status: count for status, count in found.items() if count}


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def held(path: Path) -> set[str]:
    return {one["path"] for one in records(path) if one.get("held") is True}


def test_a_policy_says_what_blocks_and_the_records_say_by_which(
    root: Path, tmp_path: Path, strict: Path
) -> None:
    plain, judged = tmp_path / "plain.ndjson", tmp_path / "judged.ndjson"
    assert run("scan", root, "--dataset", "pets", "--out", plain).code == 0
    assert run("scan", root, "--dataset", "pets", "--out", judged, "--policy", strict).code == 0

    assert held(plain) == {"cat/cut.jpg"}
    assert held(judged) == {"cat/long.jpg"}
    assert records(plain)[0]["policy"] == Policy().to_json()
    assert records(judged)[0]["policy"] == Policy.from_toml(TRAILING).to_json()
    codes = [f["code"] for one in records(judged) for f in one.get("findings", [])]
    assert "image.truncated" not in codes


def test_only_a_policy_that_is_not_the_default_is_said(
    root: Path, tmp_path: Path, strict: Path
) -> None:
    out = tmp_path / "out.ndjson"
    plain = run("scan", root, "--dataset", "pets", "--out", out)
    assert "Policy" not in plain.err
    judged = run(
        "scan", root, "--dataset", "pets", "--out", out, "--policy", strict, "--num-classes", "3"
    )
    assert (
        "Policy: num_classes 3, image.trailing-data block, image.truncated silent.\n" in judged.err
    )


def test_the_data_sets_own_policy_holds_and_clears_at_the_next_scan(
    root: Path, state: Path, strict: Path
) -> None:
    def scan(*more: str | Path) -> None:
        ran = run("scan", root, "--dataset", "pets", "--state", state, *more)
        assert ran.code == 0, ran.err

    scan()
    assert statuses(state) == {Status.CLEAN: 2, Status.HELD: 1}
    run("policy", "pets", "--set", strict, "--state", state)
    scan()
    assert statuses(state) == {Status.CLEAN: 2, Status.HELD: 1}
    strict.write_text('severities = {"image.trailing-data" = "note"}\n')
    scan("--policy", strict)
    assert statuses(state) == {Status.CLEAN: 3}
    run("policy", "pets", "--reset", "--state", state)
    scan()
    assert statuses(state) == {Status.CLEAN: 2, Status.HELD: 1}


def test_a_scan_for_a_server_follows_the_policy_that_is_stored_there(
    root: Path, state: Path, strict: Path
) -> None:
    run("scan", root, "--dataset", "pets", "--state", state)
    run("policy", "pets", "--set", strict, "--state", state)
    token = run("token", "new", "lab", "--scope", "scan", "--state", state).out.strip()
    with serving(state) as server:
        ran = run("scan", root, "--dataset", "pets", "--server", server.url, SICKBAY_TOKEN=token)
    assert ran.code == 0, ran.err
    assert "image.trailing-data block" in ran.err
    assert ran.out == "found 3 = clean 2 + held 1 + skipped 0\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policy", "none.toml"], "'none.toml' cannot be read"),
        (["--classes", "none.txt"], "'none.txt' cannot be read"),
        (["--num-classes", "0"], "num_classes is not a whole number from 1"),
        (["--box-tolerance", "nan"], "box_tolerance is not a number"),
        (["--expect-shape", "x"], "--expect-shape takes lengths"),
    ],
)
def test_what_no_policy_can_be_is_one_sentence_before_any_file_is_read(
    root: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    out = tmp_path / "out.ndjson"
    ran = run("scan", root, "--dataset", "pets", "--out", out, *options)
    assert (ran.code, out.exists()) == (2, False)
    assert words in ran.sentence


def test_an_ignored_label_is_an_option(tmp_path: Path) -> None:
    write(tmp_path, "root/images/a.jpg", jpeg(0, (64, 48)))
    mask = Image.new("L", (64, 48), 1)
    mask.putpixel((3, 3), 255)
    write(tmp_path, "root/masks/a.png", encoded(mask, "PNG"))
    held = []
    choices: tuple[list[str], ...] = ([], ["--ignore-label", "255"])
    for number, options in enumerate(choices):
        out = tmp_path / f"{number}.ndjson"
        given = [*options, "--num-classes", "2", "--layout", "masks", "--out", str(out)]
        ran = run("scan", tmp_path / "root", "--dataset", "pets", *given)
        assert ran.code == 0, ran.err
        held.append("held 1" in ran.out)
    assert held == [True, False]
