"""``kill -9`` at random moments, while a scan comes in and reviewers decide.

Whatever was acknowledged must be there after each restart, and nothing twice. Clients keep a
ledger of what they were told; after each kill the database is opened without a server and
compared with it.
"""

import http.client
import random
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.journeys.reviewing import Reviewer, session_of
from tests.quarantine.factories import NAME, a_record, a_summary, scanned
from tests.serving import start

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.client.http import Pace, Server
from sickbay.contract.batch import pack
from sickbay.contract.errors import Unreachable
from sickbay.contract.finding import ScanRecord, to_line
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets, intake
from sickbay.quarantine.tables import Decision, Sample, Scan, ScanBatch, ScanState

ARRIVING = "arriving"
BATCHES, RECORDS_A_BATCH = 12, 30
REVIEWERS, SAMPLES_A_REVIEWER = 4, 5
LONGEST_LIFE = 1.0
"""Seconds a server lives at most once the clients are let loose on it."""
SCANS = "/api/v1/scans"
RECORDS = [
    a_record(f"{number:06}.jpg", *["image.truncated"][: number % 2])
    for number in range(BATCHES * RECORDS_A_BATCH)
]


@dataclass(slots=True)
class Upload:
    """A client that sends one scan after another, and what it was told."""

    token: str
    key: str = ""
    acknowledged: int = 0
    finished: list[str] = field(default_factory=list)
    batches: int = 0

    def run(self, url: str) -> None:
        server = Server(url, self.token, Pace(timeout=30.0, patience=0.0))
        with suppress(Unreachable):
            while True:
                self._scan(server)

    def _scan(self, server: Server) -> None:
        if not self.key:
            header = to_line(ScanRecord(ARRIVING, "imagefolder", ()))
            self.key = server.send("POST", SCANS, header, "application/json").json()["key"]
        expected = server.get(f"{SCANS}/{self.key}").json()["next_batch"]
        for number in range(expected, BATCHES):
            part = RECORDS[number * RECORDS_A_BATCH : (number + 1) * RECORDS_A_BATCH]
            body = b"".join(map(pack, part))
            for _ in range(2):  # the second time stands for a repeat after a lost answer
                path = f"{SCANS}/{self.key}/batches/{number}"
                server.send("PUT", path, body, "application/x-ndjson")
                self.acknowledged = number + 1
            self.batches += 1
        summary = to_line(a_summary(RECORDS))
        server.send("POST", f"{SCANS}/{self.key}/finish", summary, "application/json")
        self.finished.append(self.key)
        self.key, self.acknowledged = "", 0

    def check(self, database: Database) -> None:
        """Compare with what is on disk."""
        with database.reading() as session:
            for key in self.finished:
                scan = session.query(Scan).filter(Scan.key == key).one()
                assert scan.state is ScanState.FINISHED
            if not self.key:
                return
            ticket = intake.progress(session, self.key)
            if ticket.state is ScanState.FINISHED:
                self.finished.append(self.key)  # committed; the answer was lost with the server
                self.key, self.acknowledged = "", 0
                return
            assert ticket.next_batch >= self.acknowledged
            stored = (
                session.query(ScanBatch.number)
                .join(Scan, Scan.id == ScanBatch.scan_id)
                .filter(Scan.key == self.key)
            )
            assert sorted(number for (number,) in stored) == list(range(ticket.next_batch))


@dataclass(slots=True)
class Deciding:
    """A reviewer with samples of their own, and what they were told of each."""

    session: str
    versions: dict[int, int]
    held: dict[int, bool]
    acknowledged: list[tuple[int, int, str]] = field(default_factory=list)

    def run(self, port: int) -> None:
        reviewer = Reviewer(port, self.session)
        with suppress(OSError, http.client.HTTPException):
            while True:
                for sample_id in self.versions:
                    self._decide(reviewer, sample_id)

    def _decide(self, reviewer: Reviewer, sample_id: int) -> None:
        action = "exclude" if self.held[sample_id] else "reopen"
        status, answer = reviewer.decide(NAME, sample_id, self.versions[sample_id], action)
        assert status == 200, answer
        (moved,) = answer["samples"]
        self.acknowledged.append((sample_id, moved["version"], answer["batch"]))
        self.versions[sample_id] = moved["version"]
        self.held[sample_id] = not self.held[sample_id]

    def check(self, database: Database) -> None:
        """Compare with what is on disk; a decision whose answer was lost may be there too."""
        with database.reading() as session:
            for sample_id, told in self.versions.items():
                sample = session.get_one(Sample, sample_id)
                made = session.query(Decision.batch).filter(Decision.sample_id == sample_id)
                batches = Counter(batch for (batch,) in made)
                assert set(batches.values()) == {1}, "each is there once"
                assert sample.version - told in {0, 1}
                assert len(batches) == sample.version - 1, "a version for each decision"
                known = {batch for of, _, batch in self.acknowledged if of == sample_id}
                assert known <= set(batches), "each that was acknowledged is there"
                self.versions[sample_id] = sample.version
                self.held[sample_id] = sample.status == "held"


def a_state(state: Path) -> tuple[Upload, list[Deciding]]:
    """Held samples to decide on, reviewers who are logged in, a token for the scanner."""
    wanted = REVIEWERS * SAMPLES_A_REVIEWER
    with closing(open_database(state / "sickbay.db")) as database:
        records = [a_record(f"{number:03}.jpg", "image.truncated") for number in range(wanted)]
        scanned(database, records)
        token = database.writing(lambda session: tokens.create(session, "ci", [Scope.SCAN]))
        with database.reading() as session:
            found = {sample.id: sample.version for sample in session.query(Sample)}
    ids = sorted(found)
    reviewers = []
    for number in range(REVIEWERS):
        mine = ids[number::REVIEWERS]
        secret = session_of(state, f"reviewer-{number}")
        versions = {sample_id: found[sample_id] for sample_id in mine}
        reviewers.append(Deciding(secret, versions, dict.fromkeys(mine, True)))
    return Upload(token), reviewers


def one_life(state: Path, upload: Upload, reviewers: list[Deciding], seconds: float) -> None:
    """Start a server, let the clients loose, kill it after so many seconds, compare."""
    server = start(state)
    Server(server.url, pace=Pace(patience=60.0)).get("/healthz")
    clients = [threading.Thread(target=upload.run, args=(server.url,))]
    clients += [threading.Thread(target=one.run, args=(server.port,)) for one in reviewers]
    for client in clients:
        client.start()
    time.sleep(seconds)
    server.kill()
    for client in clients:
        client.join()
    with closing(open_database(state / "sickbay.db")) as database:
        upload.check(database)
        for one in reviewers:
            one.check(database)


def kill_again_and_again(state: Path, rounds: int, seed: int) -> str:
    """Return the figures of so many lives, each ended by ``kill -9``."""
    moments = random.Random(seed)  # noqa: S311 (repeatable)
    upload, reviewers = a_state(state)
    for _ in range(rounds):
        one_life(state, upload, reviewers, moments.uniform(0, LONGEST_LIFE))
    decisions = sum(len(one.acknowledged) for one in reviewers)
    assert decisions
    assert upload.batches
    _assert_whole(state, upload)
    return (
        f"{rounds} kills: {decisions} decisions, {upload.batches} batches and "
        f"{len(upload.finished)} finished scans acknowledged, 0 lost, 0 twice"
    )


def _assert_whole(state: Path, upload: Upload) -> None:
    with closing(open_database(state / "sickbay.db")) as database, database.reading() as session:
        if upload.finished:
            card = data_sets.card(session, data_sets.find(session, ARRIVING).id)
            assert card.samples == BATCHES * RECORDS_A_BATCH
        assert session.connection().exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_what_was_acknowledged_survives_being_killed(state: Path) -> None:
    assert "0 lost" in kill_again_and_again(state, rounds=10, seed=4711)


@pytest.mark.soak
def test_what_was_acknowledged_survives_being_killed_200_times(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = kill_again_and_again(state, rounds=200, seed=random.randrange(1 << 32))  # noqa: S311 (another each time)
    with capsys.disabled():
        print(f"\n{figures}")  # noqa: T201 (figures are what a soak run is for)
