"""A scan's records on their way to a server: the sink behind ``sickbay scan --server``.

Records travel in numbered batches; sending one again is free, so a lost answer, a lost
connection or a restarted server costs a repeated request and nothing else. What was sent counts
only once the scan is finished; until then the results before it stay in force.
"""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from sickbay.client.http import Server
from sickbay.contract.batch import (
    FULL_BATCH,
    MEDIA_TYPE,
    content_digest,
    ends_batch,
    pack,
    record_lines,
)
from sickbay.contract.errors import BadInput, Denied, NotFound, SickbayError, Unreachable
from sickbay.contract.finding import FileRecord, SampleRecord, ScanRecord, SummaryRecord, to_line
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy

FIRST_PATIENCE = 5.0
"""Seconds for the first contact, before any file is read."""
UPLOAD_PATIENCE = 600.0
"""Seconds for which one request is tried again: a restart, an update, a short outage."""
FINISH_TIMEOUT = 300.0
"""Seconds without a byte while a large scan is put in force, in one transaction."""
SCANS = "/api/v1/scans"
JSON = "application/json"
_OTHER = "The server's answer is not the agreed one; update the older side."


class ServerSink:
    """Sends one scan to a server.

    Making one asks the server whether the token may send scans, so that a wrong URL or token
    is known before hours of work.

    Args:
        server: where to, and with which token.
        patience: seconds for which a request is tried again while the scan is sent.

    Raises:
        Unreachable: nobody answers at that URL.
        Denied: the token is unknown or lacks the scope ``scan``.
    """

    def __init__(self, server: Server, patience: float = UPLOAD_PATIENCE) -> None:
        _greet(server)
        self._server = replace(server, pace=replace(server.pace, patience=patience))
        self._key = ""
        self._known: frozenset[str] = frozenset()
        self._number = 0
        self._lines: list[bytes] = []
        self._size = 0

    def stored_policy(self, dataset: str) -> Policy:
        """Return the data set's own policy; the defaults where it is new.

        Raises:
            Unreachable: the server's answer is none.
        """
        try:
            answer = self._server.get(f"/api/v1/datasets/{quote(dataset, safe='')}/policy")
        except NotFound:
            return Policy()
        value = answer.json()
        try:
            return Policy.from_json(value.get("policy") if isinstance(value, dict) else None)
        except BadInput:
            raise Unreachable(_OTHER) from None

    def header(self, record: ScanRecord) -> None:
        """Begin."""
        answer = self._server.send("POST", SCANS, to_line(record), JSON)
        self._key = _text(answer.json(), "key")
        self._known = _known(answer.json())

    def sample(
        self, record: SampleRecord, thumbnail: bytes | None, stat: tuple[int, int, int] | None
    ) -> None:
        """Take one sample; ``stat`` means nothing on another machine."""
        del stat
        self._take(record.path, pack(record, thumbnail))

    def file(self, record: FileRecord) -> None:
        """Take a file that is no sample and has findings of its own."""
        self._take(record.path, pack(record))

    def finish(self, record: SummaryRecord) -> None:
        """Send what is left, then put the scan in force."""
        self._send()
        slow = replace(self._server, pace=replace(self._server.pace, timeout=FINISH_TIMEOUT))
        slow.send("POST", f"{SCANS}/{self._key}/finish", to_line(record), JSON)

    def abort(self) -> None:
        """Tell the server to forget the scan, if it can be told at once."""
        if self._key:
            hasty = replace(self._server, pace=replace(self._server.pace, patience=0.0))
            with suppress(SickbayError):
                hasty.send("DELETE", f"{SCANS}/{self._key}", b"", MEDIA_TYPE)

    def _take(self, path: SamplePath, lines: bytes) -> None:
        if self._size + len(lines) > FULL_BATCH:
            self._send()
        self._lines.append(lines)
        self._size += len(lines)
        if ends_batch(path.raw):
            self._send()

    def _send(self) -> None:
        if self._lines:
            body = b"".join(self._lines)
            content = content_digest(record_lines(body), {}) if self._known else ""
            if content not in self._known or not self._repeated(content):
                path = f"{SCANS}/{self._key}/batches/{self._number}"
                self._server.send("PUT", path, body, MEDIA_TYPE)
            self._number += 1
            self._lines, self._size = [], 0

    def _repeated(self, content: str) -> bool:
        """Say in short what the scan in force said too, if it still is the one in force."""
        path = f"{SCANS}/{self._key}/repeats/{self._number}"
        try:
            self._server.send("PUT", path, json.dumps({"content": content}).encode(), JSON)
        except NotFound:
            return False
        return True


def _greet(server: Server) -> None:
    first = replace(server, pace=replace(server.pace, patience=FIRST_PATIENCE))
    me = first.get("/api/v1/me").json()
    scopes = me.get("scopes") if isinstance(me, dict) else None
    if not isinstance(scopes, list):
        raise Unreachable("Something else than Sickbay answers there; check the URL.")
    if "scan" not in scopes:
        raise Denied("This token lacks the scope scan; `sickbay token new` makes one that has it.")


def _known(answer: Any) -> frozenset[str]:
    value = answer.get("known") if isinstance(answer, dict) else None
    if not isinstance(value, list):
        return frozenset()
    return frozenset(one for one in value if isinstance(one, str))


def _text(answer: Any, name: str) -> str:
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, str):
        raise Unreachable(_OTHER)
    return value
