"""What a server answers: whole answers, files, refusals, and what is worth another try."""

import http.client
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from sickbay.contract.errors import (
    BadInput,
    Conflict,
    Denied,
    NotFound,
    SickbayError,
    StorageFailed,
    Unreachable,
)

MAX_ANSWER = 16 << 20
"""Bytes of an answer that is kept in memory."""
MAX_WAIT = 60.0
"""Seconds that a server may ask to wait at most."""
_MAX_SENTENCE = 500

_ERRORS: dict[int, type[SickbayError]] = {
    HTTPStatus.UNAUTHORIZED: Denied,
    HTTPStatus.FORBIDDEN: Denied,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.INSUFFICIENT_STORAGE: StorageFailed,
}
_REPEATED = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer with a 2xx status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON.

        Raises:
            Unreachable: it is none; something else than Sickbay answers there.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise Unreachable(
                "The server's answer is not JSON; check that the URL is that of Sickbay."
            ) from None


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that arrived whole: its size in bytes, SHA-256 in hex, and the answer's headers."""

    size: int
    sha256: str
    headers: Mapping[str, str]


class Retry(Exception):
    """This try failed in a way that another may not."""

    def __init__(self, error: SickbayError, after: float = 0.0) -> None:
        super().__init__(error.sentence)
        self.error = error
        self.after = after


def headers_of(response: http.client.HTTPResponse) -> dict[str, str]:
    """Return an answer's headers, names in lower case."""
    return {name.lower(): value for name, value in response.getheaders()}


def refusal(response: http.client.HTTPResponse) -> Exception:
    """Return what an answer other than 2xx means: final, or worth another try."""
    said = _said(response.read(MAX_ANSWER))
    sentence = said or (
        f"The server answered with status {response.status}; check that the URL is that of Sickbay."
    )
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        kind = _ERRORS.get(response.status, Unreachable)
        return Retry(kind(sentence), _retry_after(response))
    if response.status in _REPEATED:
        return Retry(Unreachable(sentence), _retry_after(response))
    if response.status < HTTPStatus.BAD_REQUEST:
        return Unreachable("The server sends the request in circles, or nowhere.")
    kind = _ERRORS.get(response.status, BadInput)
    # A proxy's refusal is no word on what was sent, but for its size: events would be dropped.
    ours = said is not None or response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return Unreachable(sentence) if kind is BadInput and not ours else kind(sentence)


def _said(body: bytes) -> str | None:
    """Return the server's sentence, safe to print on a terminal; nothing where it says none."""
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        said = str(json.loads(body)["error"])
        return "".join(char if char.isprintable() else " " for char in said)[:_MAX_SENTENCE]
    return None


def _retry_after(response: http.client.HTTPResponse) -> float:
    """Return the seconds a server asks to wait; a date or nonsense counts as nothing."""
    value = response.headers.get("Retry-After", "")
    return min(float(value), MAX_WAIT) if value.isdecimal() else 0.0
