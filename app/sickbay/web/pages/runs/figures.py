"""What the chart is drawn with: figures without data, and Bokeh's own script."""

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from sickbay.contract.errors import NotFound
from sickbay.web.identity import Viewer, public

router = APIRouter()

_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}
"""The address names the version, so what is there never changes."""


@router.get("/runs/figures/{release}/{across}-{up}.json")
def figure(
    _me: Viewer, release: str, across: Literal["step", "time"], up: Literal["linear", "log"]
) -> Response:
    """Return the figure of one kind: over steps or time, with a linear or logarithmic axis."""
    from sickbay.web import charts  # noqa: PLC0415 (Bokeh takes a second to load)

    _must_be_ours(release)
    return Response(charts.figure(across, up), media_type="application/json")


@router.get("/static/bokeh/{release}/bokeh.min.js")
@public
def script(release: str) -> Response:
    """Return the browser's half of Bokeh, from the installed package."""
    _must_be_ours(release)
    spec = find_spec("bokeh")
    if spec is None or spec.origin is None:
        raise NotFound("Bokeh is not installed.")
    path = Path(spec.origin).parent / "server" / "static" / "js" / "bokeh.min.js"
    return FileResponse(path, media_type="text/javascript", headers=_KEPT)


def _must_be_ours(release: str) -> None:
    if release != version("bokeh"):
        raise NotFound("There is nothing at this address.")
