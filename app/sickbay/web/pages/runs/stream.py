"""What is new in a run: as server-sent events, or once, for pages that poll."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from sickbay.database import Database
from sickbay.runs.view import found
from sickbay.web.deadline import ENDLESS
from sickbay.web.identity import Viewer
from sickbay.web.live import Ear, Feed, News, changes
from sickbay.web.pages.runs.place import Key
from sickbay.web.parameters import INT64_MOST
from sickbay.web.site import Here

router = APIRouter()

RETRY_MS = 2000
"""How long a browser waits before it connects again."""
LIFE_SECONDS = 600.0
"""Then a stream ends and the browser comes back: who was logged out meanwhile does not."""
Seen = Annotated[int | None, Query(ge=0, le=INT64_MOST)]


def _feed(request: Request, site: Here) -> Feed:
    feed: Feed | None = getattr(request.app.state, "feed", None)
    if feed is None:
        feed = request.app.state.feed = Feed(site.database)
    return feed


async def _seat(
    request: Request, site: Here, me: Viewer, run: Key
) -> AsyncIterator[tuple[Feed, Ear]]:
    """Take a seat before the answer begins, so that a refusal still is one."""
    await run_in_threadpool(_must_exist, site.database, run)
    request.scope[ENDLESS] = True
    feed = _feed(request, site)
    with feed.seat(me.name, run) as ear:
        yield feed, ear


Seat = Annotated[tuple[Feed, Ear], Depends(_seat)]


@router.get("/runs/{run}/live", response_class=EventSourceResponse)
async def live(
    seat: Seat,
    run: Key,  # noqa: ARG001 (the seat is the run's)
    after: Seen = None,
    last_event_id: Annotated[str, Header(max_length=20)] = "",
) -> AsyncIterator[ServerSentEvent]:
    """Stream what is new in a run, from the line that the page saw last."""
    feed, ear = seat
    seen = int(last_event_id) if last_event_id.isascii() and last_event_id.isdigit() else after
    async for news in feed.listen(ear, seen, LIFE_SECONDS):
        yield ServerSentEvent(data=news.to_json(), id=str(news.last), retry=RETRY_MS)


@router.get("/runs/{run}/changes")
def changed(site: Here, _me: Viewer, run: Key, after: Seen = None) -> dict[str, Any]:
    """Return what is new, once: for where a proxy holds streams back."""
    _must_exist(site.database, run)
    news: News = changes(site.database, run, after)
    return news.to_json()


def _must_exist(database: Database, run: str) -> None:
    with database.reading() as session:
        found(session, run)
