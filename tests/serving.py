"""A real server in a process of its own, which a test may stop, kill and start again."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LINK = re.compile(r"(http://\S+)/login#(\S+)")


@dataclass(slots=True)
class Serving:
    """One run of ``sickbay serve``."""

    process: "subprocess.Popen[str]"
    url: str
    secret: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it as an operator would; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


def start(state: Path, port: int = 0) -> Serving:
    """Start a server on a state and wait until it listens."""
    log = state / "server.log"
    command = [sys.executable, "-m", "sickbay", "serve", "--state", str(state), "--port", str(port)]
    with log.open("a") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            if found := _LINK.search(line):
                return Serving(process, found[1], found[2], log)
    raise AssertionError(f"the server ended with {process.wait()}: {log.read_text()[-2000:]}")


@contextmanager
def serving(state: Path) -> Iterator[Serving]:
    """A server for one test."""
    server = start(state)
    try:
        yield server
    finally:
        server.kill()
