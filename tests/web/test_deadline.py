"""The real server, its sockets, and clients that mean no good."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from tests.serving import Serving, serving

from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.database.schema import open_database

PATIENCE = 30.0
"""Seconds after which a test calls a connection open for ever; the server closes at 10."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    state = tmp_path_factory.mktemp("state")
    with serving(state) as running:
        yield running


@pytest.fixture(scope="module")
def token(server: Serving) -> str:
    database = open_database(server.log.parent / "sickbay.db")
    with closing(database):
        return database.writing(lambda session: tokens.create(session, "ci", [Scope.SCAN]))


def connected(server: Serving) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def answer(server: Serving, request: bytes) -> bytes:
    """Send raw bytes, return everything until the server closes."""
    with connected(server) as connection:
        connection.sendall(request)
        return _rest(connection)


def _rest(connection: socket.socket) -> bytes:
    """Read until the server closes, or resets what it wants no more of."""
    pieces: list[bytes] = []
    with suppress(ConnectionResetError):
        pieces.extend(iter(lambda: connection.recv(65536), b""))
    return b"".join(pieces)


def status(raw: bytes) -> int:
    return int(raw.split(b" ", 2)[1]) if raw else 0


@pytest.mark.parametrize(
    ("request_line", "headers", "expected"),
    [
        (b"GET /healthz HTTP/1.1", b"Host: 127.0.0.1\r\nConnection: close\r\n", 200),
        (b"GET /healthz HTTP/1.0", b"", 400),
        (b"GET /healthz HTTP/1.1", b"", 400),
        (b"GET /healthz HTTP/1.1", b"Host: a/?x=\r\nConnection: close\r\n", 400),
        (b"GET /healthz HTTP/1.1", b"Host: evil\r\nHost: 127.0.0.1\r\n", 400),
        (b"GET @evil.example HTTP/1.1", b"Host: 127.0.0.1\r\nConnection: close\r\n", 404),
        (b"GET http://evil.example/ HTTP/1.1", b"Host: 127.0.0.1\r\nConnection: close\r\n", 404),
        (b"_HELPER /login HTTP/1.1", b"Host: 127.0.0.1\r\nConnection: close\r\n", 405),
        (b"GET /healthz HTTP/1.1", b"Host: 127.0.0.1\r\n folded\r\nX Y: 1\r\n", 400),
        (b"POST /login HTTP/1.1", b"Host: 127.0.0.1\r\nContent-Length: -1\r\n", 400),
        (
            b"POST /login HTTP/1.1",
            b"Host: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
            400,
        ),
    ],
)
def test_an_odd_request_gets_a_plain_refusal(
    server: Serving, request_line: bytes, headers: bytes, expected: int
) -> None:
    raw = answer(server, request_line + b"\r\n" + headers + b"\r\n")
    assert status(raw) == expected
    assert b"evil" not in raw


def test_a_length_and_chunks_at_once_smuggle_nothing(server: Serving) -> None:
    raw = answer(
        server,
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n"
        b"Host: 127.0.0.1\r\nConnection: close\r\n\r\n",
    )
    assert status(raw) in {400, 422}
    assert raw.count(b"HTTP/1.1 200") <= 1


def test_endless_headers_are_cut_off(server: Serving) -> None:
    raw = answer(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * (1 << 17))
    assert status(raw) in {0, 400}


def test_a_request_that_never_ends_is_given_up(server: Serving, token: str) -> None:
    head = f"POST /api/v1/scans HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    beginnings = [
        b"",
        b"GET /heal",
        b"GET /healthz HTTP/1.1\r\nHost: 127",
        f"{head}Content-Length: 1000\r\n\r\n{{".encode(),
        f"{head}Transfer-Encoding: chunked\r\n\r\n1\r\n[".encode(),
    ]
    connections = [connected(server) for _ in beginnings]
    for connection, said in zip(connections, beginnings, strict=True):
        connection.sendall(said)
    for connection in connections:
        with connection:
            assert status(_rest(connection)) in {0, 400}


def test_an_endless_body_is_cut_at_the_limit_and_the_connection_closed(
    server: Serving, token: str
) -> None:
    head = (
        f"POST /api/v1/scans HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"10000\r\n" + b"[" * 0x10000 + b"\r\n"
    sent = 0
    with connected(server) as connection:
        connection.sendall(head.encode())
        try:
            while sent < 200 << 20:
                connection.sendall(chunk)
                sent += 0x10000
        except OSError:
            pass  # the server closed its side, which is the point
    assert sent < 20 << 20
    assert json.loads(_healthy(server)) == {"status": "ok"}


def test_many_silent_connections_do_not_keep_others_out(server: Serving) -> None:
    silent = [connected(server) for _ in range(300)]
    try:
        assert json.loads(_healthy(server)) == {"status": "ok"}
    finally:
        for connection in silent:
            connection.close()


def test_the_answer_does_not_say_which_server_it_is(server: Serving) -> None:
    raw = answer(server, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert b"\r\nserver:" not in raw.lower()


def _healthy(server: Serving) -> bytes:
    raw = answer(server, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    return raw.partition(b"\r\n\r\n")[2]


def test_a_log_of_all_this_holds_no_secret(server: Serving, token: str) -> None:
    written = server.log.read_text()
    assert token not in written
    assert server.secret not in written
