"""The application: routes put together, behind identity and the checks of ``security``."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.staticfiles import StaticFiles

from sickbay import resources
from sickbay.web import errors, files, health, login
from sickbay.web.api import me, scans
from sickbay.web.identity import identify
from sickbay.web.security import Guarded
from sickbay.web.site import Site


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
    for module in (health, login, me, scans, files, *_later()):
        app.include_router(module.router)
    app.mount("/static", StaticFiles(directory=resources.folder("static")), name="static")
    return app


def _later() -> list[Any]:
    """Modules that are still being built."""
    names = [
        name for name in ("sickbay.web.pages.routes", "sickbay.web.api.releases") if find_spec(name)
    ]
    return [import_module(name) for name in names]


__all__ = ["Site", "create_app"]
