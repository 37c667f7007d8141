"""The whole loop without a browser: scan, review, release, pull, verify.

Every step goes the way a user goes: the installed command line in processes of its own, and the
server over HTTP.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from sickbay.demo import damage, data_set
from sickbay.demo.programs import Broken, server, sickbay, training
from sickbay.demo.reviewer import Reviewer
from sickbay.demo.scenes import draw

DATASET = "demo"
Say = Callable[[str], None]


def check(state: Path, say: Say) -> None:
    """Run the loop in ``state``, which must be new, telling each step.

    Raises:
        SickbayError: a step failed; the sentence says which, and with what.
    """
    root, clean = state / "data", state / "clean"
    data_set.make(root)
    before = _fingerprint(root)
    say(f"made {len(before)} files in {root}")
    say(sickbay("scan", str(root), "--dataset", DATASET, "--state", str(state)))
    with server(state) as (url, link):
        reviewer = Reviewer(url, DATASET)
        decided = _review(reviewer, link, say)
        _train(reviewer, state, url, say)
        say(sickbay("release", DATASET, "--yes", "--state", str(state)))
        token = sickbay("token", "new", "check", "--scope", "releases", "--state", str(state))
        remote = ("--server", url, "--token", token)
        say(sickbay("pull", DATASET, str(clean), "--root", str(root), *remote))
        say(sickbay("verify", DATASET, str(clean), *remote))
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


def _train(reviewer: Reviewer, state: Path, url: str, say: Say) -> None:
    """Let a training run report, and look for what went wrong in it."""
    with training(state, url, steps=200, pause=0.0) as process:
        _expect(process.wait() == 0, "the training run ends well")
    (run,) = reviewer.get("/api/v1/runs")["rows"]
    _expect(run["failures"] == 2, "the run shows its two failures")  # noqa: PLR2004 (one raised, one not finite)
    (loss,) = [
        one
        for one in reviewer.get(f"/api/v1/runs/{run['key']}/series")["series"]
        if one["name"] == "train/loss"
    ]
    _expect((loss["points"], loss["nan"]) == (200, 1), "every point of the run is there")
    say(f"trained: {loss['points']} points, one of them not a number, and 2 failures are there")


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
