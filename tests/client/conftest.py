"""A server that answers what a test tells it to."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sickbay.client.http import Pace, Server


@dataclass(slots=True)
class Reply:
    """One scripted answer; ``cut`` closes the connection after that many bytes of the body."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass(slots=True)
class Script:
    """Answers in order, the last one for ever; what was asked; what the client waited."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def server(self, token: str | None = None, patience: float = 60.0) -> Server:
        """A client whose clock moves only by what it waits."""
        pace = Pace(5.0, patience, sleep=self.waited.append, clock=lambda: sum(self.waited))
        return Server(self.url, token, pace)


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.asked.append((self.command, self.path, headers, body))
            reply = script.next()
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(reply.body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 (the base class's names)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture
def script() -> Iterator[Script]:
    """A scripted server on loopback."""
    made = Script()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(made))
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()
