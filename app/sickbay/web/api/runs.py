"""Runs over HTTP: opened, listed, and read as charts and points."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse

from sickbay.contract.opening import opening_from_json
from sickbay.database import Database
from sickbay.runs import charts, find, series, view
from sickbay.runs.opening import open_run
from sickbay.runs.state import RunState
from sickbay.web.identity import EventsToken, Viewer
from sickbay.web.parameters import INT64_MOST
from sickbay.web.site import Here
from sickbay.web.strict_body import JsonObject

router = APIRouter()

_API = "/api/v1/runs"
RunKey = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
SeriesName = Annotated[str, Query(min_length=1, max_length=255)]
Numbers = Annotated[list[Annotated[int, Query(ge=0, le=INT64_MOST)]] | None, Query(max_length=512)]


@router.post(_API)
def opened(site: Here, _who: EventsToken, body: JsonObject) -> dict[str, Any]:
    """Open or resume a run."""
    opening = opening_from_json(body)
    answer = site.database.writing(lambda session: open_run(session, opening))
    return replace(answer, url=f"/runs/{answer.run}").to_json()


@router.get(_API)
def listed(
    site: Here,
    _who: Viewer,
    after: Annotated[int | None, Query(ge=1, le=INT64_MOST)] = None,
    size: Annotated[int, Query(ge=1, le=find.MOST_ROWS)] = 50,
    state: RunState | None = None,
    text: Annotated[str, Query(max_length=200)] = "",
) -> JSONResponse:
    """List runs, the one launched last first."""
    with site.database.reading() as session:
        page = find.runs(session, after=after, size=size, state=state, text=text)
    return JSONResponse(_plain(asdict(page)))


@router.get(_API + "/{run}")
def described(site: Here, _who: Viewer, run: RunKey) -> JSONResponse:
    """Describe a run, its attempts and their ranks."""
    with site.database.reading() as session:
        found = view.view(session, run)
    return JSONResponse(_plain(asdict(found)))


@router.get(_API + "/{run}/series")
def names(site: Here, _who: Viewer, run: RunKey, attempt: Numbers = None) -> dict[str, Any]:
    """List the series of a run's newest attempt, or of those asked for."""
    with site.database.reading() as session:
        return {"series": [asdict(one) for one in series.names(session, run, attempt)]}


@router.get(_API + "/{run}/chart")
def chart(
    site: Here,
    _who: Viewer,
    run: RunKey,
    name: Annotated[SeriesName, Query(alias="series")],
    *,
    attempt: Numbers = None,
    rank: Numbers = None,
    by: charts.Axis = "step",
    since: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    until: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    buckets: Annotated[int, Query(ge=charts.LEAST_BUCKETS, le=charts.MOST_BUCKETS)] = 1000,
    mean: bool = False,
) -> JSONResponse:
    """Return a series over a range, as buckets that keep every extreme."""
    with site.database.reading() as session:
        found = charts.chart(
            session,
            run,
            name,
            attempts=attempt,
            ranks=rank,
            by=by,
            since=since,
            until=until,
            buckets=buckets,
            mean=mean,
        )
    return JSONResponse(found.to_json())


@router.get(_API + "/{run}/points.csv")
def points(
    site: Here,
    _who: Viewer,
    run: RunKey,
    name: Annotated[SeriesName, Query(alias="series")],
    attempt: Numbers = None,
    rank: Numbers = None,
) -> Response:
    """Stream every point of a series as CSV."""
    with site.database.reading() as session:
        view.found(session, run)
    lines = _csv(site.database, run, name, attempt, rank)
    headers = {"Content-Disposition": f'attachment; filename="{run}-points.csv"'}
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


def _csv(
    database: Database,
    run: str,
    name: str,
    attempts: list[int] | None,
    ranks: list[int] | None,
) -> Iterator[bytes]:
    """Read on one snapshot for as long as the download takes."""
    with database.reading() as session:
        yield from series.csv_lines(session, run, name, attempts=attempts, ranks=ranks)


def _plain(value: Any) -> Any:
    """Return a value with moments as text, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value
