"""Sending one message, with a limit on everything."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

SECONDS = 60.0
"""How long one message may take: apprise waits 15 s for a connection, mail has several turns."""
MAX_WORDS = 180
_WANTED = frozenset(
    {"PATH", "HOME", "LANG", "LC_ALL", "TZ"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
)
"""Variables that the child may see: the way out of this network, and whom to trust."""


@dataclass(frozen=True, slots=True)
class Letter:
    """What is sent. ``mood`` is apprise's type: info, success, warning or failure."""

    title: str
    body: str
    mood: str = "info"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How sending went: ``words`` are ours, nothing that the other side answered."""

    accepted: bool
    words: str


STOPPED = Outcome(accepted=False, words="the server was stopped")


class Post:
    """Sends messages, each through a process of its own that is ended when its time is up."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._closed = threading.Event()

    def send(self, url: str, letter: Letter) -> Outcome:
        """Send; return whether it was accepted, and how."""
        return self._ask(
            {"url": url, "title": letter.title, "body": letter.body, "type": letter.mood}
        )

    def check(self, url: str) -> Outcome:
        """Return whether apprise understands the address; nothing is sent."""
        return self._ask({"url": url})

    def close(self) -> None:
        """End what is under way; nothing more is sent."""
        with self._lock:
            self._closed.set()
            for child in self._children:
                child.kill()

    def _ask(self, asked: dict[str, Any]) -> Outcome:
        # The address goes through standard input: command lines are for every user to read.
        with self._lock:
            if self._closed.is_set():
                return STOPPED
            child = _start()
            self._children.add(child)
        try:
            out, _none = child.communicate(json.dumps(asked).encode(), timeout=self._seconds)
        except subprocess.TimeoutExpired:
            return Outcome(accepted=False, words=f"no answer within {self._seconds:g} seconds")
        finally:
            with self._lock:
                self._children.discard(child)
            child.kill()
            child.communicate()  # closes the pipes and takes the exit code
        return STOPPED if self._closed.is_set() else _outcome(out)


def _start() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "sickbay.alerts.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_surroundings(),
        start_new_session=True,  # Ctrl+C is for the server to hear
    )


def _surroundings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.upper() in _WANTED}


def _outcome(out: bytes) -> Outcome:
    try:
        answer = json.loads(out)
        return Outcome(answer["accepted"] is True, str(answer["words"])[:MAX_WORDS])
    except (ValueError, KeyError, TypeError):
        return Outcome(accepted=False, words="sending broke off")
