"""Where a run's pages are: addresses, and what stands around them."""

from typing import Annotated

from fastapi import Path
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.quarantine import data_sets
from sickbay.runs.view import RunView
from sickbay.web.identity import Who
from sickbay.web.pages.shell import Shell, bare, enter, shell
from sickbay.web.parameters import INT64_MOST

Key = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
RowId = Annotated[int, Path(ge=1, le=INT64_MOST)]


def around(session: Session, me: Who, run: RunView | None = None) -> Shell:
    """Return what stands around: the run's data set, or the only one there is, else none."""
    names = [card.name for card in data_sets.cards(session)]
    wanted = next((one.dataset for one in run.attempts if one.dataset), None) if run else None
    name = wanted if wanted in names else names[0] if len(names) == 1 else None
    if name is None:
        return bare(session, me, "runs")
    try:
        return shell(session, me, enter(session, name), "runs")
    except NotFound:
        return bare(session, me, "runs")
