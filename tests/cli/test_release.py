"""release, pull and verify as their users run them."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.releases.a_data_set import ADataSet, tree_digest, with_every_decision
from tests.serving import serving

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.database import Database
from sickbay.quarantine.tables import Action


@pytest.fixture
def data_set(database: Database, state: Path, tmp_path: Path) -> ADataSet:
    """A data set with one sample of each status."""
    made = ADataSet(database, state, tmp_path / "root")
    with_every_decision(made)
    return made


BARE = """
import sys
for name in ("sqlalchemy", "alembic", "fastapi", "starlette", "uvicorn", "jinja2", "PIL", "numpy"):
    sys.modules[name] = None
from sickbay.cli import main
main()
"""


def sickbay(*words: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return run(["-m", "sickbay", *map(str, words)], subprocess.DEVNULL, environment)


def on_a_gpu_box(*words: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where only the base package is installed."""
    return run(["-c", BARE, *map(str, words)], subprocess.DEVNULL, environment)


def run(
    words: list[str], stdin: int, environment: dict[str, str], folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *words],
        check=False,
        capture_output=True,
        text=True,
        stdin=stdin,
        env=os.environ | environment,
        cwd=folder,
    )


def answered(answer: bytes, *words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a command with somebody at the keyboard."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        return run(["-m", "sickbay", *map(str, words)], theirs, {})
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_release_is_made_pulled_and_verified_on_one_machine(
    data_set: ADataSet, tmp_path: Path
) -> None:
    before = tree_digest(data_set.root)
    local = {"SICKBAY_STATE": str(data_set.state)}
    made = sickbay("release", "animals", **local)
    (digest,) = data_set.left_over()
    assert made.returncode == 0
    assert "5 samples = 3 kept (1 approved, 1 repaired) + 1 left out + 1 undecided" in made.stdout
    assert f"Release sha256:{digest} is made" in made.stdout
    to = tmp_path / "tree"
    pulled = sickbay("pull", "animals", to, **local)
    assert (pulled.returncode, pulled.stderr) == (0, "")
    for release in (f"animals@{digest[:6]}", f"{to}@{digest}"):
        verified = sickbay("verify", release, to, **local)
        assert verified.stdout == f"{to} is release sha256:{digest}: all 3 files, nothing else.\n"
        assert verified.returncode == 0
    assert tree_digest(data_set.root) == before


@pytest.mark.parametrize("release", ["animals", "animals@latest", "animals@sha256:{digest}"])
def test_a_folder_named_like_the_data_set_does_not_stand_in_its_way(
    data_set: ADataSet, tmp_path: Path, release: str
) -> None:
    data_set.add("animals/1.jpg")
    data_set.scan()
    local = {"SICKBAY_STATE": str(data_set.state)}
    made = data_set.make()
    (tmp_path / "elsewhere" / "animals").mkdir(parents=True)
    tree = tmp_path / "tree"
    assert sickbay("pull", "animals", tree, **local).returncode == 0
    assert (tree / "animals").is_dir()
    for folder in (tree, tmp_path / "elsewhere"):
        words = ["-m", "sickbay", "verify", release.format(digest=made.digest), str(tree)]
        verified = run(words, subprocess.DEVNULL, local, folder)
        assert (verified.returncode, verified.stderr) == (0, "")
        assert f"is release sha256:{made.digest}" in verified.stdout


def test_a_path_to_a_folder_without_a_release_is_said_to_be_none(
    data_set: ADataSet, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere" / "animals").mkdir(parents=True)
    for path in (tmp_path / "elsewhere" / "animals", f"{tmp_path / 'elsewhere' / 'animals'}@0123"):
        verified = sickbay("verify", path, data_set.root, SICKBAY_STATE=str(data_set.state))
        assert verified.returncode == 2
        assert "Is that a release?" in verified.stderr


def test_a_job_elsewhere_pulls_and_verifies_over_http(data_set: ADataSet, tmp_path: Path) -> None:
    made = data_set.make()
    token = data_set.database.writing(
        lambda session: tokens.create(session, "job", [Scope.RELEASES])
    )
    data_set.database.close()
    to = tmp_path / "tree"
    with serving(data_set.state) as server:
        job = {"SICKBAY_URL": server.url, "SICKBAY_TOKEN": token, "SICKBAY_STATE": "/nowhere"}
        pulled = on_a_gpu_box("pull", "animals@latest", to, "--root", data_set.root, **job)
        verified = on_a_gpu_box("verify", f"animals@sha256:{made.digest}", to, **job)
        refused = sickbay("pull", "animals", to, "--root", data_set.root, "--token", "no", **job)
    assert (pulled.returncode, verified.returncode, refused.returncode) == (0, 0, 4)
    assert (to / "train/dog/3.jpg").read_bytes() == b"better"
    assert "all 3 files, nothing else" in verified.stdout
    away = sickbay("pull", "animals", to, "--root", data_set.root, SICKBAY_URL="ftp://x")
    assert away.returncode == 2


def test_whoever_sits_there_is_asked_about_undecided_samples(data_set: ADataSet) -> None:
    command = ("release", "animals", "--state", data_set.state)
    no = answered(b"n\n", *command)
    assert "Held and undecided, so left out and listed as pending: 1." in no.stdout
    assert no.returncode == 1
    assert not data_set.releases.exists()
    assert answered(b"y\n", *command).returncode == 0
    assert sickbay(*command, "--yes").returncode == 0


def test_a_release_that_requires_decisions_ends_with_code_2(data_set: ADataSet) -> None:
    ended = sickbay("release", "animals", "--require-decided", "--state", data_set.state)
    assert ended.returncode == 2
    assert ended.stderr.startswith("sickbay: Held samples of animals without a decision: 1.")


def test_what_is_wrong_with_a_tree_is_named_and_the_exit_code_says_so(
    data_set: ADataSet, tmp_path: Path
) -> None:
    local = {"SICKBAY_STATE": str(data_set.state)}
    short = data_set.make().digest[:12]
    to = tmp_path / "tree"
    sickbay("pull", "animals", to, **local)
    (to / "train/cat/1.jpg").write_bytes(b"X" * 26)
    (to / "train/dog/4.jpg").unlink()
    (to / "train/cat/2.jpg").write_bytes(b"")
    (to / "train/cat/forged.jpg\nextra   'x'").write_bytes(b"")
    verified = sickbay("verify", "animals", to, **local)
    assert verified.returncode == 1
    assert verified.stdout.splitlines() == [
        "changed 'train/cat/1.jpg' (same size, other content)",
        "extra   'train/cat/2.jpg' (left out of the release: damaged)",
        "extra   \"train/cat/forged.jpg\\nextra   'x'\" (the release does not list it)",
        "missing 'train/dog/4.jpg'",
        f"{to} is not release {short} (3 files): 1 changed, 2 extra, 1 missing.",
    ]


def test_a_pull_that_is_not_whole_says_what_and_ends_with_code_1(
    data_set: ADataSet, tmp_path: Path
) -> None:
    local = {"SICKBAY_STATE": str(data_set.state)}
    data_set.make()
    (data_set.root / "train/cat/1.jpg").unlink()
    pulled = sickbay("pull", "animals", tmp_path / "tree", **local)
    assert pulled.returncode == 1
    assert pulled.stderr.startswith("missing 'train/cat/1.jpg' (not below the root)\n")
    assert "this tree is not the release" in pulled.stderr
    data_set.add("train/cat/1.jpg")
    data_set.decide("train/dog/4.jpg", Action.REOPEN)
    data_set.make()
    again = sickbay("pull", "animals", tmp_path / "tree", "--delete-extra", **local)
    assert again.returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("release", "plants"), 2, "no data set"),
        (("pull", "plants", "TO", "--root", "."), 2, "no data set"),
        (("pull", "animals", "TO"), 2, "no release yet"),
        (("verify", "animals@xyz", "TO"), 2, "4 to 64 hex digits"),
        (("release", "animals", "--root", "/nowhere/at/all"), 2, "check --root"),
    ],
)
def test_bad_input_is_one_plain_sentence(
    data_set: ADataSet, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    given = [str(tmp_path / "to") if word == "TO" else word for word in words]
    ended = sickbay(*given, SICKBAY_STATE=str(data_set.state))
    assert ended.returncode == code
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
