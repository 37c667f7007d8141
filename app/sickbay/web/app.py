"""The application: routes put together, behind identity and the checks of ``security``."""

from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles

from sickbay import resources
from sickbay.web import errors, files, health, login
from sickbay.web.api import events, me, policies, releases, runs, scans
from sickbay.web.identity import identify
from sickbay.web.pages import routes
from sickbay.web.security import Guarded
from sickbay.web.site import Site


class Static(StaticFiles):
    """Static files that browsers keep, but ask about: an update shows at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Answer with a file, or with "not modified"."""
        answer = super().file_response(*args, **kwargs)
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def create_app(site: Site) -> FastAPI:
    """Return the application that serves one state."""
    app = FastAPI(
        title="Sickbay",
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[Depends(identify)],
    )
    app.state.site = site
    errors.install(app)
    app.add_middleware(Guarded, settings=site.settings)
    # First of all routes, and the one that asks for itself who is there.
    app.add_route(events.PATH, events.Events(site).told, methods=["POST"])
    for module in (health, login, me, policies, scans, files, routes, releases, runs):
        app.include_router(module.router)
    app.mount("/static", Static(directory=resources.folder("static")), name="static")
    return app


__all__ = ["Site", "create_app"]
