"""A reviewer without a browser: logs in with the link, reads the queue, decides, uploads."""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Any

from sickbay.contract.errors import Unreachable

_PICK = re.compile(r'name="pick"[^>]*?value="(\d+):(\d+)"', re.DOTALL)
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Shown:
    """A sample as the queue shows it: its key, and the version a decision refers to."""

    id: int
    version: int


class Reviewer:
    """One logged-in person of a server at ``url``, working on one data set."""

    def __init__(self, url: str, dataset: str) -> None:
        self._url = url
        self._pages = f"/datasets/{dataset}"
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)

    def log_in(self, link: str) -> None:
        """Use the login link up."""
        self._send("/login", _form({"link": link}), "application/x-www-form-urlencoded")

    def held(self, code: str) -> list[Shown]:
        """Return the held samples on the first page of the queue with that finding."""
        page = self._send(f"{self._pages}/review?code={code}").decode("utf-8")
        return [Shown(int(key), int(version)) for key, version in _PICK.findall(page)]

    def get(self, path: str) -> dict[str, Any]:
        """Return what the API answers."""
        answer: dict[str, Any] = json.loads(self._send(path))
        return answer

    def decide(self, sample: Shown, action: str, reason: str = "") -> dict[str, Any]:
        """Decide on one sample; return the server's answer."""
        fields = {"version": str(sample.version), "action": action, "reason": reason}
        return self._act(f"/samples/{sample.id}/decision", fields)

    def undo(self, batch: str) -> dict[str, Any]:
        """Take one act back."""
        return self._act("/undo", {"batch": batch})

    def replace(self, sample: Shown, data: bytes) -> dict[str, Any]:
        """Upload a replacement for a sample's file."""
        body, media_type = _multipart({"version": str(sample.version)}, data)
        path = f"{self._pages}/samples/{sample.id}/replacement"
        answer: dict[str, Any] = json.loads(self._send(path, body, media_type))
        return answer

    def _act(self, path: str, fields: Mapping[str, str]) -> dict[str, Any]:
        body = _form(fields)
        answer = self._send(self._pages + path, body, "application/x-www-form-urlencoded")
        done: dict[str, Any] = json.loads(answer)
        return done

    def _send(self, path: str, body: bytes | None = None, media_type: str = "") -> bytes:
        headers = {"Accept": "application/json", "Origin": self._url}
        if body is not None:
            headers["Content-Type"] = media_type
        request = urllib.request.Request(self._url + path, body, headers)  # noqa: S310 (our own server)
        try:
            with self._opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                data: bytes = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(1000).decode("utf-8", errors="replace")
            raise Unreachable(f"{path} was answered with {error.code}: {said}") from None
        except OSError as error:
            raise Unreachable(f"{path} was not answered: {error}.") from None
        return data


def _form(fields: Mapping[str, str]) -> bytes:
    return urllib.parse.urlencode(fields).encode("ascii")


def _multipart(fields: Mapping[str, str], data: bytes) -> tuple[bytes, str]:
    """Encode fields and one file as a browser's upload form does (RFC 7578)."""
    edge = uuid.uuid4().hex
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="new.jpg"\r\n\r\n'
    body = b"".join([*parts, head.encode(), data, f"\r\n--{edge}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={edge}"
