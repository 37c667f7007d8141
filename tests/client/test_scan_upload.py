"""A scan on its way to a server that comes and goes."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.client.conftest import Reply, Script
from tests.quarantine.factories import a_record, a_summary
from tests.serving import Serving, serving, start

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.client.http import Pace, Server
from sickbay.client.scan_upload import ServerSink
from sickbay.contract.batch import content_digest
from sickbay.contract.errors import BadInput, Denied, Unreachable
from sickbay.contract.finding import SampleRecord, ScanRecord, to_line
from sickbay.database.schema import open_database
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Sample, ScanBatch, Status

HEADER = ScanRecord("pets", "imagefolder", ())
MANY = [a_record(f"{number:06}.jpg", *["image.truncated"][: number % 2]) for number in range(9000)]


def a_token(state: Path, *scopes: Scope) -> str:
    database = open_database(state / "sickbay.db")
    try:
        return database.writing(lambda session: tokens.create(session, "ci", scopes))
    finally:
        database.close()


def test_a_scan_goes_on_where_a_killed_server_left_off(state: Path) -> None:
    token = a_token(state, Scope.SCAN)
    server: Serving = start(state)

    def revive(_: float) -> None:
        nonlocal server
        if server.process.poll() is not None:
            server = start(state, server.port)

    try:
        pace = Pace(timeout=10.0, patience=60.0, sleep=revive)
        sink = ServerSink(Server(server.url, token, pace), patience=60.0)
        sink.header(HEADER)
        for number, record in enumerate(MANY):
            if number % 3000 == 1500:
                server.kill()
            sink.sample(record, None, None)
        server.kill()
        sink.finish(a_summary(MANY))
    finally:
        server.kill()
    database = open_database(state / "sickbay.db")
    with database.reading() as session:
        data_set = data_sets.find(session, "pets")
        card = data_sets.card(session, data_set.id)
        assert session.query(Sample).count() == len(MANY)
        assert session.query(ScanBatch).count() == 0
    database.close()
    assert card.counts[Status.HELD] == card.counts[Status.CLEAN] == len(MANY) // 2
    assert card.scan is not None
    assert card.scan.summary["found"] == len(MANY)


def test_a_scan_that_is_given_up_leaves_the_one_before_in_force(state: Path) -> None:
    token = a_token(state, Scope.SCAN)
    with serving(state) as server:
        first, second = (ServerSink(Server(server.url, token)) for _ in range(2))
        first.header(HEADER)
        first.sample(MANY[0], None, None)
        first.finish(a_summary(MANY[:1]))
        second.header(HEADER)
        for record in MANY:
            second.sample(record, None, None)
        second.abort()
        second.abort()
    database = open_database(state / "sickbay.db")
    with database.reading() as session:
        card = data_sets.card(session, data_sets.find(session, "pets").id)
        assert session.query(ScanBatch).count() == 0, "what was sent is dropped"
    database.close()
    assert (card.samples, card.receiving) == (1, 0)
    assert card.scan is not None
    assert card.scan.number == 1


def sent(server: Serving, token: str, records: Sequence[SampleRecord]) -> tuple[int, int]:
    """Send a scan; return how many batches it brought and how many it repeated."""
    before = server.log.read_text()
    sink = ServerSink(Server(server.url, token))
    sink.header(HEADER)
    for record in records:
        sink.sample(record, b"a picture" if record.held else None, None)
    sink.finish(a_summary(records))
    log = server.log.read_text().removeprefix(before)
    return len(re.findall(r"/batches/\d+ 200", log)), len(re.findall(r"/repeats/\d+ 200", log))


def test_what_the_scan_in_force_said_is_not_sent_again(state: Path) -> None:
    token = a_token(state, Scope.SCAN)
    with serving(state) as server:
        batches, repeats = sent(server, token, MANY)
        assert repeats == 0
        assert sent(server, token, MANY) == (0, batches)
        other = [replace(MANY[0], split="val"), *MANY[1:-1]]
        assert sent(server, token, other) == (2, batches - 2)
    database = open_database(state / "sickbay.db")
    with database.reading() as session:
        samples = session.query(Sample)
        assert samples.filter_by(split="val").count() == 1
        assert samples.filter_by(gone=True).count() == 1
        assert samples.filter_by(status=Status.HELD).count() == len(MANY) // 2
    database.close()


def test_a_part_that_was_overtaken_is_sent_whole(script: Script) -> None:
    content = content_digest([to_line(MANY[0])], {})
    script.replies = [
        Reply(body=b'{"scopes": ["scan"]}'),
        Reply(201, json.dumps({"key": "abc", "known": [content, 5]}).encode()),
        Reply(404, b'{"error": "No such part."}'),
        Reply(body=b"{}"),
    ]
    sink = ServerSink(script.server("t"))
    sink.header(HEADER)
    sink.sample(MANY[0], None, None)
    sink.finish(a_summary(MANY[:1]))
    assert [(method, path) for method, path, _, _ in script.asked[2:4]] == [
        ("PUT", "/api/v1/scans/abc/repeats/0"),
        ("PUT", "/api/v1/scans/abc/batches/0"),
    ]


def test_a_wrong_token_is_known_before_the_first_file_is_read(state: Path) -> None:
    token = a_token(state, Scope.RELEASES)
    with serving(state) as server:
        with pytest.raises(Denied, match="lacks the scope scan"):
            ServerSink(Server(server.url, token))
        with pytest.raises(Denied, match="not known"):
            ServerSink(Server(server.url, f"{token}x"))


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"scopes": "scan"}', b"<html>"])
def test_something_else_at_that_url_is_told_apart(script: Script, body: bytes) -> None:
    script.replies = [Reply(body=body)]
    with pytest.raises(Unreachable):
        ServerSink(script.server("t"))


def test_a_server_that_refuses_a_batch_ends_the_scan(script: Script) -> None:
    script.replies = [
        Reply(body=b'{"scopes": ["scan"]}'),
        Reply(201, b'{"key": "abc", "number": 1, "next_batch": 0}'),
        Reply(422, b'{"error": "A record is odd."}'),
    ]
    sink = ServerSink(script.server("t"))
    sink.header(HEADER)
    sink.sample(MANY[0], None, None)
    with pytest.raises(BadInput, match="odd"):
        sink.finish(a_summary(MANY[:1]))
    assert [(method, path) for method, path, _, _ in script.asked] == [
        ("GET", "/api/v1/me"),
        ("POST", "/api/v1/scans"),
        ("PUT", "/api/v1/scans/abc/batches/0"),
    ]
