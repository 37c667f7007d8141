"""The other side: a mail server with STARTTLS and login, and a web server, on loopback."""

import email
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "sickbay", "a pass/word: with #signs?"


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for localhost that signs itself; return it and its key."""
    crt, key = folder / "localhost.crt", folder / "localhost.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [*command, "-keyout", str(key), "-out", str(crt)], check=True, capture_output=True
    )
    return crt, key


@dataclass
class Mailbox:
    """What a mail server took; ``refuse`` lets it answer with an error."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    refuse: bool = False
    unknown: str = ""
    """An address that it knows nothing of."""

    async def handle_RCPT(  # noqa: N802 (aiosmtpd's word)
        self, _server: SMTP, _session: Session, envelope: Envelope, to: str, _options: list[str]
    ) -> str:
        if to == self.unknown:
            return "550 no such user"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 (aiosmtpd's word)
        self, _server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.refuse:
            return "451 a secret of the mail server"
        assert isinstance(envelope.content, bytes)
        mail = email.message_from_bytes(envelope.content, policy=default)
        self.mails.append(mail)
        self.recipients.append(list(envelope.rcpt_tos))
        self.encrypted.append(session.ssl is not None)
        return "250 OK"


@contextmanager
def mail_server(crt: Path, key: Path) -> Iterator[Mailbox]:
    """A mail server that takes mail after STARTTLS and login only."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(crt, key)
    box = Mailbox(_free_port())
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=box.port,
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=_login,
    )
    controller.start()
    try:
        yield box
    finally:
        controller.stop()


def _free_port() -> int:
    """Return a port: aiosmtpd cannot choose one by itself."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _login(_server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
    right = isinstance(given, LoginPassword) and (given.login, given.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    return AuthResult(success=right, handled=False)


@dataclass
class Receiver:
    """A web server: what was posted, and how it answers."""

    port: int = 0
    status: int = 200
    location: str = ""
    answer: bytes = b"a secret of the receiver"
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    """Answers wait until it is set."""
    asked: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def web_server() -> Iterator[Receiver]:
    """A web server that keeps what is posted to it."""
    kept = Receiver()
    kept.hold.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            kept.headers.append(dict(self.headers))
            kept.paths.append(self.path)
            kept.asked.set()
            kept.hold.wait()
            self.send_response(kept.status)
            if kept.location:
                self.send_header("Location", kept.location)
            self.send_header("Content-Length", str(len(kept.answer)))
            self.end_headers()
            with suppress(BrokenPipeError):
                self.wfile.write(kept.answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        kept.hold.set()
        server.shutdown()
        thread.join()
        server.server_close()
