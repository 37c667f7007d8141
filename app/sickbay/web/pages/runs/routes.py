"""All routes of runs' pages, as one router."""

from fastapi import APIRouter

from sickbay.web.pages.runs import figures, groups, listing, one, stream, strip

router = APIRouter()
for part in (figures, listing, one, groups, stream, strip):
    router.include_router(part.router)
