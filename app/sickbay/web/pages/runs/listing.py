"""The list of runs: what lives, what broke, where each stands."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from sickbay.quarantine import data_sets
from sickbay.runs import find
from sickbay.runs.find import RunRow
from sickbay.runs.state import RunState
from sickbay.web.identity import Viewer
from sickbay.web.pages.runs.drawing import Drawing, draw, number
from sickbay.web.pages.runs.place import around
from sickbay.web.pages.shell import Shell
from sickbay.web.parameters import INT64_MOST
from sickbay.web.render import page
from sickbay.web.site import Here

router = APIRouter()
SIZE = 50


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list."""

    row: RunRow
    spark: Drawing | None
    value: str
    data_set_known: bool


@dataclass(frozen=True, slots=True)
class RunsPage:
    """``run/runs.html``."""

    shell: Shell
    lines: tuple[RunLine, ...]
    total: int
    state: RunState | None
    text: str
    first_page: bool
    next: str
    server: str

    @property
    def filtered(self) -> bool:
        """Whether something was asked for that may hide runs."""
        return bool(self.state or self.text or not self.first_page)


@router.get("/runs")
def list_runs(
    request: Request,
    site: Here,
    me: Viewer,
    *,
    state: RunState | None = None,
    text: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[int | None, Query(ge=1, le=INT64_MOST)] = None,
) -> Response:
    """List the runs, the one launched last first."""
    with site.database.reading() as session:
        found = find.runs(session, after=after, size=SIZE, state=state, text=text)
        known = {card.name for card in data_sets.cards(session)}
        shown = RunsPage(
            shell=around(session, me),
            lines=tuple(line(row, known) for row in found.rows),
            total=found.total,
            state=state,
            text=text,
            first_page=after is None,
            next=_next(state, text, found.next_after),
            server=str(request.base_url).rstrip("/"),
        )
    return page(request, "run/runs.html", shown)


def line(row: RunRow, known: set[str]) -> RunLine:
    """Put a run into a line."""
    spark = draw(row.spark) if row.spark else None
    return RunLine(row, spark, number(row.last_value), row.dataset in known)


def _next(state: RunState | None, text: str, after: int | None) -> str:
    if after is None:
        return ""
    pairs = {"state": state.value if state else "", "text": text, "after": str(after)}
    return "/runs?" + urlencode({key: value for key, value in pairs.items() if value})
