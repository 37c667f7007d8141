"""The demonstration's other processes: the command line, the server, a training run."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sickbay.contract.errors import SickbayError


class Broken(SickbayError):
    """A step of the loop did not do what it is for."""


def sickbay(*words: str) -> str:
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
def server(state: Path) -> Iterator[tuple[str, str]]:
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


@contextmanager
def training(
    state: Path, url: str, *, steps: int, pause: float
) -> "Iterator[subprocess.Popen[bytes]]":
    """Start the training run, with a token of its own; end it with this context."""
    token = sickbay("token", "new", "training", "--scope", "events", "--state", str(state))
    told = {"SICKBAY_URL": url, "SICKBAY_TOKEN": token, "SICKBAY_SPOOL": str(state / "spool")}
    words = (str(state / "data"), "--steps", str(steps), "--pause", str(pause))
    with (
        (state / "training.log").open("w") as log,
        subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-m", "sickbay.demo.training", *words],
            env={**os.environ, **told},
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
