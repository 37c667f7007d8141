"""``sickbay serve``: the server, in one process, on loopback unless told otherwise."""

import fcntl
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from sickbay.cli.state import StateOption, settings, user
from sickbay.contract.errors import BadInput, Refused, StorageFailed
from sickbay.settings import Settings

SHUTDOWN_SECONDS = 8
"""Seconds that requests under way may take once the server is told to stop."""
SWITCH_SECONDS = 0.0005
"""How long a thread that computes may keep the others waiting: the writer gives the interpreter
up with every statement, and at Python's own 5 ms waits for it longer than it works."""
KEEP_ALIVE_SECONDS = 5
_LOCK = "serve.lock"


def serve(
    state: StateOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = None,
) -> None:
    """Serve the review pages and the API until stopped."""
    chosen = settings(state)
    chosen = replace(
        chosen,
        host=chosen.host if host is None else host,
        port=chosen.port if port is None else port,
    )
    with stopping(), running(chosen) as server:
        typer.echo(f"Sickbay serves {chosen.state}")
        typer.echo(f"Log in once, within ten minutes: {server.link()}")
        server.run()


class Running:
    """A server that listens, and is about to answer."""

    def __init__(self, chosen: Settings, listener: socket.socket, site: Any) -> None:
        self.settings = chosen
        self._listener = listener
        self._site = site

    @property
    def url(self) -> str:
        """Where a browser on this machine finds it."""
        return self.settings.local_url

    def link(self) -> str:
        """Return a new login link for the owner."""
        from sickbay.accounts import links, people

        secret = self._site.database.writing(
            lambda session: links.issue(session, people.owner(session, user()))
        )
        return f"{self.settings.base_url}/login#{secret}"

    def run(self) -> None:
        """Answer requests until a signal says stop; what was begun is finished."""
        import uvicorn

        from sickbay.alerts.service import Alerts
        from sickbay.web.app import create_app
        from sickbay.web.deadline import DeadlineProtocol

        config = uvicorn.Config(
            create_app(self._site),
            http=DeadlineProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        sys.setswitchinterval(SWITCH_SECONDS)
        alerts = Alerts(self._site.database, self.settings.base_url)
        alerts.start()
        try:
            uvicorn.Server(config).run(sockets=[self._listener])
        finally:
            alerts.close()


@contextmanager
def stopping() -> Iterator[None]:
    """Let SIGTERM and Ctrl+C end what runs within in good order, and without complaint."""
    signal.signal(signal.SIGTERM, _stopped)
    with suppress(KeyboardInterrupt, _Stopped):
        yield


@contextmanager
def running(chosen: Settings) -> Iterator[Running]:
    """Open the state, take its lock, listen; close all of it in the end.

    Raises:
        Refused: another server uses this state.
        BadInput: the address or port cannot be listened on.
        StorageFailed: the state folder cannot be used.
    """
    from sickbay.blobs import Blobs
    from sickbay.database.schema import open_database
    from sickbay.scanner.engine import processors
    from sickbay.scanner.guard import Guards
    from sickbay.web.site import Site

    os.umask(0o077)
    _log_to_stderr()
    with _alone(chosen.state) as lock, _listening(chosen) as listener:
        bound = replace(chosen, port=listener.getsockname()[1])
        lock.write_text(json.dumps({"pid": os.getpid(), "url": bound.local_url}))
        database = open_database(bound.database)
        guards = Guards(processors())
        try:
            yield Running(bound, listener, Site(bound, database, Blobs(bound.blobs), guards))
        finally:
            guards.close()
            database.close()


def served_at(chosen: Settings) -> str:
    """Return the URL of the server that uses this state, or the one it would have."""
    with suppress(OSError, ValueError, KeyError):
        return str(json.loads((chosen.state / _LOCK).read_text())["url"])
    return chosen.local_url


@contextmanager
def _alone(state: Path) -> Iterator[Path]:
    """Hold the state's lock: two servers on one database would each keep half the truth."""
    path = state / _LOCK
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = path.open("a")
    except OSError as error:
        raise StorageFailed(
            f"The state folder {state} cannot be used: {error.strerror}. Give another with --state."
        ) from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(
                f"Another server uses the state {state}; stop it, or give another --state."
            ) from None
        yield path


@contextmanager
def _listening(chosen: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in chosen.host else socket.AF_INET
    try:
        listener = socket.create_server((chosen.host, chosen.port), family=family)
        # Accepted sockets inherit it; asyncio sets it only where it knows the protocol, and without
        # it every answer waits some 40 ms for the other side's delayed acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise BadInput(
            f"Port {chosen.port} of {chosen.host} cannot be used: {error.strerror}. "
            "Give another with --port."
        ) from None
    with listener:
        if not _is_loopback(chosen.host):
            typer.echo(
                f"Warning: {chosen.host} can be reached from other machines, and plain HTTP can "
                "be read on the way. Safer: listen on 127.0.0.1 and come through an SSH tunnel "
                f"(ssh -L {listener.getsockname()[1]}:127.0.0.1:{listener.getsockname()[1]} …).",
                err=True,
            )
        yield listener


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _log_to_stderr() -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)


class _Stopped(BaseException):
    """SIGTERM came; everything is closed on the way out."""


def _stopped(_number: int, _frame: object) -> NoReturn:
    raise _Stopped
