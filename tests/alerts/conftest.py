"""Alerts over a real database, with a clock that tests move."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.alerts.receivers import Mailbox, Receiver, certificate, mail_server, web_server

from sickbay.alerts import channels, log, rules
from sickbay.alerts.log import Entry
from sickbay.alerts.rules import Draft
from sickbay.alerts.service import Alerts
from sickbay.alerts.tables import ChannelKind, RuleKind
from sickbay.database import Database
from sickbay.database.tables import now

BASE = "https://sickbay.example.org"


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass
class Ward:
    """Alerts at work, one step at a time."""

    database: Database
    clock: Clock
    alerts: Alerts

    def channel(self, name: str = "hook", url: str = "http://127.0.0.1:9/") -> int:
        """Add a webhook."""
        return self.any_channel(ChannelKind.WEBHOOK, name, url=url)

    def any_channel(self, kind: ChannelKind, name: str, **values: str) -> int:
        return self.database.writing(
            lambda session: channels.create(session, name=name, kind=kind, values=values, by="me")
        )

    def rule(self, kind: RuleKind, *to: int, **more: Any) -> int:
        """Add a rule; it tells a channel of its own where none is given."""
        given = to or (self.channel(f"hook {len(self.entries())} of {kind} {more}"[:80]),)
        return self.database.writing(
            lambda session: rules.create(
                session, Draft(kind, given, **more), by="me", at=self.clock()
            )
        )

    def look(self, **later: float) -> list[str]:
        """Move the clock, let the rules look; return the titles of what came of it."""
        self.clock.move(**later)
        known = {one.id for one in self.entries()}
        self.alerts.look()
        return [one.title for one in reversed(self.entries()) if one.id not in known]

    def send(self) -> int:
        """Send what is due, until nothing is; return how many tries it took."""
        tries = 0
        while begun := self.alerts.send_due():
            for one in begun:
                one.result()
            tries += len(begun)
        return tries

    def entries(self) -> list[Entry]:
        """Return the log, the newest first."""
        with self.database.reading() as session:
            return log.entries(session, size=1000)


@pytest.fixture
def clock() -> Clock:
    """A clock that starts now: runs keep their signs of life by the real one."""
    return Clock(now())


@pytest.fixture
def service(database: Database, clock: Clock) -> Iterator[Callable[[], Alerts]]:
    """Makes the server's alerts; one after another, as if it was started again."""
    made: list[Alerts] = []

    def make() -> Alerts:
        made.append(Alerts(database, BASE, clock=clock, jitter=lambda _low, high: high))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def ward(database: Database, clock: Clock, service: Callable[[], Alerts]) -> Ward:
    """Alerts at work."""
    return Ward(database, clock, service())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A web server."""
    with web_server() as kept:
        yield kept


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost, and its key."""
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def mailbox(keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Mailbox]:
    """A mail server whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(keys[0]))
    with mail_server(*keys) as box:
        yield box
