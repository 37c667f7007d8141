"""All routes of the pages, as one router."""

from fastapi import APIRouter

from sickbay.web.pages import decide, listing, overview, queue, releases, sample

router = APIRouter()
for one in (overview, queue, listing, sample, decide, releases):
    router.include_router(one.router)
