"""The whole loop without a browser: scan, review, release, pull, verify.

Every step goes the way a user goes: the installed command line in processes of its own, and the
server over HTTP.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sickbay.contract.errors import SickbayError
from sickbay.demo import damage, data_set
from sickbay.demo.reviewer import Reviewer
from sickbay.demo.scenes import draw

DATASET = "demo"
Say = Callable[[str], None]


class Broken(SickbayError):
    """A step of the loop did not do what it is for."""


def check(state: Path, say: Say) -> None:
    """Run the loop in ``state``, which must be new, telling each step.

    Raises:
        SickbayError: a step failed; the sentence says which, and with what.
    """
    root, clean = state / "data", state / "clean"
    data_set.make(root)
    before = _fingerprint(root)
    say(f"made {len(before)} files in {root}")
    say(_sickbay("scan", str(root), "--dataset", DATASET, "--state", str(state)))
    with _server(state) as (url, link):
        decided = _review(Reviewer(url, DATASET), link, say)
        say(_sickbay("release", DATASET, "--yes", "--state", str(state)))
        token = _sickbay("token", "new", "check", "--scope", "releases", "--state", str(state))
        remote = ("--server", url, "--token", token)
        say(_sickbay("pull", DATASET, str(clean), "--root", str(root), *remote))
        say(_sickbay("verify", DATASET, str(clean), *remote))
    _expect_release(clean, decided)
    _expect(_fingerprint(root) == before, "the data set is byte for byte as it was")
    say("the data set is byte for byte as it was")


def _review(reviewer: Reviewer, link: str, say: Say) -> dict[str, bytes]:
    """Exclude, undo, approve and replace; return the replacement's bytes by its SHA-256."""
    reviewer.log_in(link)
    truncated = reviewer.held("image.truncated")
    _expect(len(truncated) > 2, "the queue shows the truncated pictures")  # noqa: PLR2004 (three are needed)
    excluded = reviewer.decide(truncated[0], "exclude", "damaged")
    again = reviewer.undo(excluded["batch"])["samples"][0]
    _expect(again["status"] == "held", "undo holds the sample again")
    for sample, action in zip(
        reviewer.held("image.truncated"), ("exclude", "approve"), strict=False
    ):
        reviewer.decide(sample, action, "damaged" if action == "exclude" else "")
    replacement = damage.jpeg(draw("meadow", 7003))
    reviewer.replace(reviewer.held("image.undecodable")[0], replacement)
    say("left one sample out, undid that and did it again, kept one, replaced one")
    return {hashlib.sha256(replacement).hexdigest(): replacement}


def _expect_release(clean: Path, replaced: dict[str, bytes]) -> None:
    """Compare the laid-out tree with what was decided."""
    kept = _rows(clean / "manifest.jsonl")
    left = {row["file_name"]: row["decision"] for row in _rows(clean / "quarantine.jsonl")}
    statuses = [row["status"] for row in kept]
    _expect(statuses.count("approved") == 1, "the kept sample is in the manifest")
    repaired = [row for row in kept if row["status"] == "repaired"]
    _expect([row["sha256"] for row in repaired] == list(replaced), "the replacement is listed")
    _expect(
        (clean / str(repaired[0]["file_name"])).read_bytes() in replaced.values(),
        "the replacement is laid out",
    )
    names = {row["file_name"] for row in kept}
    excluded = {name for name, decision in left.items() if decision == "exclude"}
    _expect(len(excluded) == 1 and not excluded & names, "the left-out sample is not listed")
    _expect("pending" in left.values(), "undecided samples are listed as pending")


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _fingerprint(root: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below ``root`` by its path."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _expect(true: bool, what: str) -> None:  # noqa: FBT001 (reads as a sentence)
    if not true:
        raise Broken(f"The demo is broken: it is not so that {what}.")


def _sickbay(*words: str) -> str:
    """Run one command of ours; return what it printed.

    Raises:
        Broken: it ended with another code than 0.
    """
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-m", "sickbay", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise Broken(f"`sickbay {words[0]}` ended with {done.returncode}: {said}")
    return done.stdout.strip()


@contextmanager
def _server(state: Path) -> Iterator[tuple[str, str]]:
    """Run a server on a free port; give its URL and a login link."""
    words = ("serve", "--state", str(state), "--port", "0")
    with (
        (state / "serve.log").open("w") as log,
        subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-u", "-m", "sickbay", *words],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            link = _link(process)
            yield link.partition("/login")[0], link
        finally:
            process.terminate()


def _link(process: "subprocess.Popen[str]") -> str:
    for line in process.stdout or ():
        if "/login#" in line:
            return line[line.index("http") :].strip()
    raise Broken("The demo is broken: the server ended before it printed a login link.")
