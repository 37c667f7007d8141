"""What every request must pass and every answer carries.

The outermost layer, as plain ASGI: it also covers errors, redirects, static files and answers
that no route gave. It refuses foreign hosts (DNS rebinding), requests made by other sites
(CSRF), and coded bodies; it turns faults into answers; it sets the security headers.
"""

import logging
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import quote

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sickbay.settings import Settings
from sickbay.web.body_limit import limited
from sickbay.web.errors import answer, answer_broken

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_log = logging.getLogger("sickbay.web")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
CHART_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
"""For pages with a chart: Bokeh writes the styles of its own shadow trees, and nothing else."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with it browsers send "Origin: null", which the check below refuses.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Set where an answer does not set them itself."""
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Guarded:
    """The application behind its checks."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._allows = _host_rule(settings.host, settings.public_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request, let the application answer, complete the answer's headers."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            scope["sickbay.request"] = secrets.token_hex(8)
            completed = _Completed(scope, send)
            try:
                await self._handle(scope, receive, completed)
            finally:
                _log_access(scope, completed.status)

    async def _handle(self, scope: Scope, receive: Receive, send: "_Completed") -> None:
        refusal = self._refusal(scope["headers"], scope["method"])
        if refusal is not None:
            await answer(Request(scope), *refusal)(scope, receive, send)
            return
        try:
            await self.app(scope, limited(scope, receive), send)
        except ClientDisconnect:
            _log.info("request %s was broken off", scope["sickbay.request"])
        except Exception:
            _log.exception("request %s failed", scope["sickbay.request"])
            if send.status:
                raise
            await answer_broken(Request(scope))(scope, receive, send)

    def _refusal(self, sent: RawHeaders, method: str) -> tuple[HTTPStatus, str] | None:
        hosts = [value for name, value in sent if name == b"host"]
        if len(hosts) != 1 or not self._allows(hosts[0].decode("latin-1").lower()):
            return HTTPStatus.BAD_REQUEST, (
                "This server does not answer to that host name; open it by its address."
            )
        headers = dict(reversed(sent))
        if headers.get(b"content-encoding", b"identity") != b"identity":
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Bodies are accepted uncompressed only."
        if method not in _SAFE_METHODS and not _from_here(headers):
            return HTTPStatus.FORBIDDEN, "This request came from another site."
        return None


class _Completed:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.status = 0
        self._request_id: str = scope["sickbay.request"]
        self._send = send

    async def __call__(self, message: Message) -> None:
        """Pass one message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            given = {name for name, _ in headers}
            headers += [header for header in _RAW_HEADERS if header[0] not in given]
            headers.append((b"x-request-id", self._request_id.encode()))
            message["headers"] = headers
        await self._send(message)


def _log_access(scope: Scope, status: int) -> None:
    """Write one line a request. Query strings stay out: they may hold what is private."""
    path = quote(scope["path"], safe="/:@!$&'()*+,;=~")
    _log.info("%s %s %s %d", scope["sickbay.request"], scope["method"], path, status)


def _host_rule(bound: str, public_url: str) -> Callable[[str], bool]:
    """Return which ``Host`` headers are allowed.

    Loopback names, the bound name and the public URL's always. Bound to other than loopback, this
    machine's own name and literal addresses as well: rebinding needs a name that an attacker
    chooses.
    """
    bound = f"[{bound.lower()}]" if ":" in bound else bound.lower()
    named = {*LOOPBACK, bound, _name_in(public_url)}
    elsewhere = bound not in LOOPBACK
    if elsewhere:
        named.add(socket.gethostname().lower())

    def allows(host: str) -> bool:
        parts = _HOST.fullmatch(host)
        if parts is None:
            return False
        return parts[1] in named or (elsewhere and _is_address(parts[1]))

    return allows


def _name_in(public_url: str) -> str:
    parts = _HOST.fullmatch(public_url.partition("://")[2])
    return parts[1] if parts else ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _from_here(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a changing request comes from our own pages, or from no browser at all.

    Browsers say where a request comes from in ``Sec-Fetch-Site`` (on TLS and loopback) or in
    ``Origin``. One that carries a cookie and says neither is refused.
    """
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site in {b"same-origin", b"none"}
    origin = headers.get(b"origin")
    if origin is not None:
        return origin.partition(b"://")[2].lower() == headers[b"host"].lower()
    return b"cookie" not in headers
