"""All routes of the pages, as one router."""

from fastapi import APIRouter

from sickbay.web.pages import decide, files, listing, overview, queue, releases, sample
from sickbay.web.pages.alerts import routes as alerts
from sickbay.web.pages.policy import routes as policy
from sickbay.web.pages.runs import routes as runs

router = APIRouter()
for one in (overview, files, policy, queue, listing, sample, decide, releases, runs, alerts):
    router.include_router(one.router)
