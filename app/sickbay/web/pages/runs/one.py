"""One run: is it alive, the curve, and where it broke."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from sickbay.database.tables import now
from sickbay.runs import charts, find, series
from sickbay.runs.charts import Chart, Curve
from sickbay.runs.failures.find import GroupRow, groups
from sickbay.runs.find import RunRow
from sickbay.runs.samples.course import ReportView, reports
from sickbay.runs.series import SeriesView
from sickbay.runs.state import DEAD_AFTER, STALLED_AFTER, RunState
from sickbay.runs.view import AttemptView, RankView, RunView, view
from sickbay.web.identity import Viewer, Who
from sickbay.web.pages.runs.drawing import NOTHING, Drawing, draw, number
from sickbay.web.pages.runs.groups import OPEN_MOST, GroupCard, card_of, title_of
from sickbay.web.pages.runs.happened import Event, happened
from sickbay.web.pages.runs.place import Key, around
from sickbay.web.pages.runs.spikes import spikes
from sickbay.web.pages.runs.strip import RANKS_MOST, Strip, strip
from sickbay.web.pages.shell import Shell
from sickbay.web.parameters import INT64_MOST
from sickbay.web.render import page
from sickbay.web.security import CHART_POLICY
from sickbay.web.site import Here

router = APIRouter()

_BUCKETS = 500
"""Of the curve that is drawn without a script, and that tells what happened."""
_ATTEMPTS_MOST = 8
"""Attempts that are drawn, the newest."""
_RANKS_MOST = 16
"""Ranks that are named where a point is not finite; of more, their number says enough."""
_OTHERS_MOST = 100
"""Runs offered for comparison."""
_LAG_SECONDS = 5
"""A clock this far off moves what is drawn over time."""


@dataclass(frozen=True, slots=True)
class AttemptCard:
    """One launch, with what was recorded of it as names and values."""

    view: AttemptView
    facts: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    silent: tuple[RankView, ...]
    lagging: tuple[RankView, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """``run/run.html``."""

    shell: Shell
    run: RunView
    row: RunRow
    attempts: tuple[AttemptCard, ...]
    series: tuple[SeriesView, ...]
    chosen: SeriesView | None
    drawing: Drawing | None
    value: str
    pace: str
    events: tuple[Event, ...]
    cards: tuple[GroupCard, ...]
    more: tuple[tuple[GroupRow, str], ...]
    others: tuple[tuple[str, str], ...]
    bokeh: str
    reports: tuple[ReportView, ...]
    strip: Strip | None
    """The samples of the step that the query names."""
    query: str = ""
    """Of the queue, which a run's page has none of."""

    @property
    def newest(self) -> AttemptCard:
        """The attempt that the head of the page tells of."""
        return self.attempts[0]

    @property
    def silence_s(self) -> float:
        """Seconds since the server last heard of the newest attempt."""
        return round((now() - self.newest.view.heartbeat_at).total_seconds(), 1)

    @property
    def silence_most_s(self) -> float:
        """Seconds of silence after which its state is another; 0 where it stays as it is."""
        limits = {RunState.LIVE: STALLED_AFTER, RunState.STALLED: DEAD_AFTER}
        return limits.get(self.run.state, timedelta()).total_seconds()

    @property
    def csv(self) -> str:
        """The address of every point of the chosen series."""
        query = urlencode({"series": self.chosen.name if self.chosen else ""})
        return f"/api/v1/runs/{self.run.key}/points.csv?{query}"

    @property
    def drawn(self) -> tuple[int, ...]:
        """The attempts that the chart shows, the newest first."""
        return tuple(one.view.number for one in self.attempts[:_ATTEMPTS_MOST])


@router.get("/runs/{run}")
def show_run(
    request: Request,
    site: Here,
    me: Viewer,
    *,
    run: Key,
    wanted: Annotated[str, Query(alias="series", max_length=255)] = "",
    step: Annotated[int | None, Query(ge=-INT64_MOST, le=INT64_MOST)] = None,
    attempt: Annotated[int | None, Query(ge=1, le=INT64_MOST)] = None,
    rank: Annotated[int | None, Query(ge=0, le=RANKS_MOST)] = None,
) -> Response:
    """Show one run; the series is that of the query, else the run's own main one."""
    asked = None if step is None else Asked(step, attempt, rank)
    with site.database.reading() as session:
        shown = read(session, me, run, wanted, asked)
    answer = page(request, "run/run.html", shown)
    answer.headers["Content-Security-Policy"] = CHART_POLICY
    return answer


@dataclass(frozen=True, slots=True)
class Asked:
    """A step whose samples are asked for; of the newest attempt where none is said."""

    step: int
    attempt: int | None
    rank: int | None


def read(session: Session, me: Who, key: str, wanted: str, asked: Asked | None = None) -> RunPage:
    """Read what the page of a run shows, with the samples of a step where one is asked for.

    Raises:
        NotFound: there is no such run.
    """
    run = view(session, key)
    row = find.row(session, key)
    numbers = [one.number for one in run.attempts][:_ATTEMPTS_MOST]
    known = series.names(session, key, numbers)
    chosen = _chosen(known, wanted or row.main)
    chart = _chart(session, key, chosen, numbers)
    found = groups(session, key)
    return RunPage(
        shell=around(session, me, run),
        run=run,
        row=row,
        attempts=tuple(map(_card, run.attempts)),
        series=tuple(known),
        chosen=chosen,
        drawing=_drawing(chart, row.attempt),
        value=number(row.last_value),
        pace=_pace(chart, row.attempt),
        events=happened(session, run, chart, _apart(session, chart, chosen, numbers)),
        cards=tuple(card_of(session, run, one.id) for one in found[:OPEN_MOST]),
        more=tuple((one, title_of(one)) for one in found[OPEN_MOST:]),
        others=_others(session, key),
        bokeh=version("bokeh"),
        reports=tuple(reports(session, key)),
        strip=None if asked is None else _strip(session, me, row, asked),
    )


def _strip(session: Session, me: Who, row: RunRow, asked: Asked) -> Strip:
    return strip(
        session,
        row.key,
        attempt=asked.attempt or row.attempt,
        step=asked.step,
        rank=asked.rank,
        may_decide=me.may_decide,
    )


def _chosen(known: Sequence[SeriesView], wanted: str | None) -> SeriesView | None:
    return next((one for one in known if one.name == wanted), known[0] if known else None)


def _chart(session: Session, key: str, chosen: SeriesView | None, attempts: Sequence[int]) -> Chart:
    """Return the whole of a series, ranks together."""
    name = chosen.name if chosen else ""
    return charts.chart(session, key, name, attempts=attempts, buckets=_BUCKETS, mean=True)


def _apart(
    session: Session, whole: Chart, chosen: SeriesView | None, attempts: Sequence[int]
) -> tuple[Curve, ...]:
    """Return a series by rank, where there is something to say of single ones."""
    if chosen is None or not 1 < chosen.ranks <= _RANKS_MOST:
        return ()
    odd = chosen.nan + chosen.pos_inf + chosen.neg_inf
    if not odd and not any(spikes(curve.columns) for curve in whole.curves):
        return ()
    found = charts.chart(session, whole.run, chosen.name, attempts=attempts, buckets=_BUCKETS)
    return found.curves


def _drawing(chart: Chart, newest: int) -> Drawing | None:
    own = [curve.columns for curve in chart.curves if curve.attempt == newest]
    older = [curve.columns for curve in chart.curves if curve.attempt != newest]
    return draw(own[0], older) if own else draw(older[-1], older[:-1]) if older else None


def _pace(chart: Chart, newest: int) -> str:
    """Return steps a second over what is drawn of the newest attempt."""
    columns: Mapping[str, Sequence[Any]] = next(
        (curve.columns for curve in chart.curves if curve.attempt == newest), {}
    )
    if not columns or len(columns["step"]) < 2:  # noqa: PLR2004 (a pace has two ends)
        return NOTHING
    seconds = columns["began"][-1] - columns["began"][0]
    steps = columns["step"][-1] - columns["step"][0]
    return number(steps / seconds) if seconds > 0 else NOTHING


def _others(session: Session, key: str) -> tuple[tuple[str, str], ...]:
    rows = find.runs(session, size=_OTHERS_MOST).rows
    return tuple((row.key, row.name) for row in rows if row.key != key)


def _card(attempt: AttemptView) -> AttemptCard:
    waited = attempt.state in {RunState.LIVE, RunState.STALLED}
    newest = max((rank.heartbeat_at for rank in attempt.ranks), default=attempt.heartbeat_at)
    return AttemptCard(
        view=attempt,
        facts=tuple(
            (name, _flat(values))
            for name, values in (
                ("Configuration", attempt.config),
                ("Environment", attempt.environment),
                ("Seeds", attempt.seeds),
            )
        ),
        silent=tuple(
            rank
            for rank in attempt.ranks
            if waited and rank.ending is None and newest - rank.heartbeat_at > STALLED_AFTER
        ),
        lagging=tuple(rank for rank in attempt.ranks if abs(rank.lag_s) > _LAG_SECONDS),
    )


def _flat(values: Mapping[str, Any], before: str = "") -> tuple[tuple[str, str], ...]:
    """Write nested values as dotted names, as configurations are quoted."""
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            rows.extend(_flat(value, f"{before}{name}."))
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rows.append((before + name, text))
    return tuple(rows)
