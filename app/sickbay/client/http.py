"""Requests to a Sickbay server that survive a lost connection and a restart.

What may pass on another try (no connection, time-out, 408, 429, 5xx) is tried again with full
jitter, or after what ``Retry-After`` says, until ``patience`` seconds have passed. Every other
4xx is final, and becomes one of our errors with the server's own sentence.
"""

# Sockets import it at the first connection. On a thread of the kit that would leave a process which
# is forked meanwhile, such as a loader's worker, waiting for that import for ever.
import encodings.idna  # noqa: F401
import hashlib
import http.client
import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, TypeVar
from urllib.parse import SplitResult, urljoin, urlsplit

from sickbay.client.answers import MAX_ANSWER, Answer, Downloaded, Retry, headers_of, refusal
from sickbay.contract.errors import (
    BadInput,
    StorageFailed,
    Unreachable,
)

T = TypeVar("T")

TIMEOUT = 30.0
"""Seconds without a byte before a connection is given up."""
PATIENCE = 60.0
"""Seconds after which a request is not tried again."""
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0
"""Seconds: the most a first pause takes, and any (full jitter below)."""
_CHUNK = 1 << 20
_MAX_REDIRECTS = 3


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient a client is; tests give another clock.

    Attributes:
        timeout: seconds without a byte.
        patience: seconds after which nothing is tried again.
    """

    timeout: float = TIMEOUT
    patience: float = PATIENCE
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Server:
    """One Sickbay server, by URL and token."""

    url: str
    token: str | None = field(default=None, repr=False)
    pace: Pace = Pace()

    def __post_init__(self) -> None:
        parts = _split(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise BadInput("A server's URL looks like http://127.0.0.1:8765.")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise BadInput("The token holds characters that no token has; copy it again.")

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Fetch what lies at a path, following redirects on the same server."""
        return self._patiently(lambda: self._whole("GET", path, b"", headers or {}))

    def send(self, method: str, path: str, body: bytes, media_type: str) -> Answer:
        """Send a body; the same request may arrive twice when an answer is lost."""
        headers = {"Content-Type": media_type}
        return self._patiently(lambda: self._whole(method, path, body, headers))

    def download(self, path: str, target: Path) -> Downloaded:
        """Stream a file to ``target``, begun anew on each try.

        Raises:
            Unreachable: it did not arrive whole within the client's patience.
            StorageFailed: the target cannot be written.
        """
        return self._patiently(lambda: self._to_file(path, target))

    def _patiently(self, attempt: Callable[[], T]) -> T:
        end = self.pace.clock() + self.pace.patience
        most = FIRST_PAUSE
        while True:
            try:
                return attempt()
            except Retry as failed:
                pause = max(failed.after, random.uniform(0, most))  # noqa: S311 (no secret)
                if self.pace.clock() + pause > end:
                    raise failed.error from None
                self.pace.sleep(pause)
                most = min(most * 2, LONGEST_PAUSE)

    def _whole(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        with self._answer(method, path, body, headers) as response:
            data = response.read(MAX_ANSWER + 1)
            if len(data) > MAX_ANSWER:
                raise Unreachable("The server's answer is larger than any of Sickbay's.")
            return Answer(response.status, headers_of(response), data)

    def _to_file(self, path: str, target: Path) -> Downloaded:
        with self._answer("GET", path, b"", {}) as response, _opened(target) as file:
            digest, size = hashlib.sha256(), 0
            while chunk := response.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
                _write(file, chunk, target)
            if response.length:
                raise Retry(Unreachable("The connection broke in the middle of a file."))
            return Downloaded(size, digest.hexdigest(), headers_of(response))

    @contextmanager
    def _answer(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Give an answer with a 2xx status; raise what any other means."""
        url = urljoin(self.url.rstrip("/") + "/", path.lstrip("/"))
        with self._connected(url) as connection:
            response = self._asked(connection, method, url, body, headers)
            for _ in range(_MAX_REDIRECTS):
                if response.status not in _REDIRECTS or method != "GET":
                    break
                url = self._moved(url, response)
                response = self._asked(connection, method, url, body, headers)
            if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
                raise refusal(response)
            yield response

    def _asked(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        parts = _split(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        sent = {"Accept": "application/json", "User-Agent": "sickbay", **headers}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        # A server that refuses early closes its side while the body is still being sent; its
        # answer says why, so it is read all the same.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, target, body=body or None, headers=sent)
        return connection.getresponse()

    def _moved(self, url: str, response: http.client.HTTPResponse) -> str:
        """Return where a redirect leads; the token goes to no other server."""
        response.read(MAX_ANSWER)
        target = urljoin(url, response.headers.get("Location", ""))
        if _split(target)[:2] != _split(url)[:2]:
            raise Unreachable("The server sends the request on to another one; that is refused.")
        return target

    @contextmanager
    def _connected(self, url: str) -> Iterator[http.client.HTTPConnection]:
        connection = self._connection(_split(url))
        try:
            yield connection
        except ssl.SSLCertVerificationError as error:
            raise Unreachable(
                f"{self.url} has no certificate that is trusted here: {error.verify_message}."
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise Retry(Unreachable(_silence(self.url, error))) from error
        finally:
            connection.close()

    def _connection(self, parts: SplitResult) -> http.client.HTTPConnection:
        host = parts.hostname or ""
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port, timeout=self.pace.timeout)
        return http.client.HTTPConnection(host, parts.port, timeout=self.pace.timeout)


_REDIRECTS = {
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
}


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise BadInput("A server's URL looks like http://127.0.0.1:8765.") from None
    return parts


@contextmanager
def _opened(target: Path) -> Iterator[BinaryIO]:
    try:
        file = target.open("wb")
    except OSError as error:
        raise StorageFailed(f"{target} cannot be written: {error.strerror}.") from None
    with file:
        yield file


def _write(file: BinaryIO, chunk: bytes, target: Path) -> None:
    try:
        file.write(chunk)
    except OSError as error:
        raise StorageFailed(f"{target} cannot be written: {error.strerror}.") from None


def _silence(url: str, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{url} does not answer ({reason}). Check the URL, and that `sickbay serve` runs there."
