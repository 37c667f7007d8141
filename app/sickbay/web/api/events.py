"""Events of runs over HTTP: the address that training jobs send to all the time.

A job of five hundred ranks that fails sends five hundred requests at once. So this one address
is served on the event loop, without dependencies to solve or threads to wait for. The loop
touches no database: a batch goes to the writer's turn, which looks at the token once more, and
the answer follows its commit.
"""

import asyncio
import re
from time import monotonic

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from sickbay.accounts.secrets import hashed
from sickbay.accounts.tokens import USED_EVERY
from sickbay.contract.errors import BadInput, NotFound
from sickbay.contract.event_batch import Batch, read_batch, read_lines
from sickbay.runs.ingest import Arrival, arrived, fold_due, hand_in
from sickbay.web.identity import events_token, identify
from sickbay.web.site import Site
from sickbay.web.strict_body import media_type

PATH = "/api/v1/runs/{run}/events"
READ_AT_ONCE = 8 << 10
"""Bytes of a body that is read on the loop, a failure in some 0.2 ms; larger ones in a thread."""
_SEEN_MOST = 1000
_LINES = ("application/x-ndjson", "application/jsonl", "application/ndjson")
_RUN = re.compile(r"[0-9a-f]{16}")
_ATTEMPT = re.compile(r"[1-9][0-9]{0,8}")


class Events:
    """The address, and the tokens that were shown there within the last minute."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen: dict[bytes, tuple[int, float]] = {}

    async def told(self, request: Request) -> JSONResponse:
        """Take a batch of events; the answer comes after the commit."""
        token = await self._token(request)
        body = await request.body()
        if len(body) <= READ_AT_ONCE:
            arrival = _read(request, body, token)
        else:
            arrival = await run_in_threadpool(_read, request, body, token)
        taken = await asyncio.wrap_future(hand_in(self._site.database, arrival))
        if taken.due:
            await run_in_threadpool(fold_due, self._site.database, taken)
        return JSONResponse(taken.receipt().to_json())

    async def _token(self, request: Request) -> int:
        """Return the id of the token that is shown, looked up where it was not seen lately.

        Raises:
            Denied: it is none, or not for events.
        """
        shown = hashed(request.headers.get("authorization", ""))
        token, until = self._seen.get(shown, (0, 0.0))
        if monotonic() >= until:
            token = events_token(await run_in_threadpool(identify, request, self._site))
            if len(self._seen) >= _SEEN_MOST:
                self._seen.clear()
            self._seen[shown] = token, monotonic() + USED_EVERY.total_seconds()
        return token


def _read(request: Request, body: bytes, token: int) -> Arrival:
    """Read a body, and work out all that needs no database."""
    run = request.path_params["run"]
    if not _RUN.fullmatch(run):
        raise NotFound("There is no such run.")
    return arrived(run, _batch(request, body), token=token)


def _batch(request: Request, body: bytes) -> Batch:
    """Read a body as JSON, or as NDJSON with the attempt in the address."""
    sent = media_type(request)
    if sent == "application/json":
        return read_batch(body)
    if sent not in _LINES:
        raise BadInput("The body must be application/json or application/x-ndjson.")
    attempt = request.query_params.get("attempt", "")
    if not _ATTEMPT.fullmatch(attempt):
        raise BadInput("NDJSON needs ?attempt=N in the address.")
    return read_lines(body, int(attempt))
