"""Failure groups: what it is, where to look, what to do; and one group with its failures."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from sickbay.contract import taxonomy
from sickbay.contract.defects import DEFECTS
from sickbay.contract.errors import NotFound
from sickbay.contract.taxonomy import Verdict
from sickbay.runs.failures import find
from sickbay.runs.failures.find import FailureView, GroupRow, GroupView, SampleCount
from sickbay.runs.view import RunView, view
from sickbay.web.identity import Viewer
from sickbay.web.pages.runs.happened import words_of
from sickbay.web.pages.runs.place import Key, RowId, around
from sickbay.web.pages.shell import Shell
from sickbay.web.render import page
from sickbay.web.site import Here

router = APIRouter()

OPEN_MOST = 10
"""Groups that a run's page carries whole; the others lead to pages of their own."""


@dataclass(frozen=True, slots=True)
class GroupCard:
    """One group, told from the failure that set it off."""

    view: GroupView
    title: str
    severity: str
    verdict: Verdict | None
    where: str
    traceback: str
    samples: tuple[tuple[SampleCount, str], ...]
    """Each with the address of its page, or none where the data set does not know it."""
    review: str
    """The queue of what this kind of failure holds, or nothing."""

    @property
    def row(self) -> GroupRow:
        """Its line in lists."""
        return self.view.row


@dataclass(frozen=True, slots=True)
class GroupPage:
    """``run/group.html``."""

    shell: Shell
    run: RunView
    card: GroupCard
    failures: tuple[FailureView, ...]
    after: int | None


@router.get("/runs/{run}/groups/{group}")
def show_group(
    request: Request, site: Here, me: Viewer, *, run: Key, group: RowId, after: int = 0
) -> Response:
    """Show one group of failures, and the failures in it as they came."""
    size = 50
    with site.database.reading() as session:
        found = view(session, run)
        card = card_of(session, found, group)
        if card.row.run != run:
            raise NotFound("There is no such failure group in this run.")
        rows = find.failures(session, card.row.id, after, size + 1)
        shown = GroupPage(
            shell=around(session, me, found),
            run=found,
            card=card,
            failures=tuple(rows[:size]),
            after=rows[size - 1].id if len(rows) > size else None,
        )
    return page(request, "run/group.html", shown)


def card_of(session: Session, run: RunView, group_id: int) -> GroupCard:
    """Read one group.

    Raises:
        NotFound: there is no such group.
    """
    found = find.group(session, group_id)
    event = found.root.event
    row = found.row
    data_set = next((one.dataset for one in run.attempts if one.data_set_id is not None), None)
    code = f"training.{row.what}"
    defect = DEFECTS.get(code)
    return GroupCard(
        view=found,
        title=title_of(row),
        severity=str(defect.severity) if defect else "block",
        verdict=_verdict(row, event),
        where=_where(event),
        traceback=str(event.get("traceback", "")),
        samples=tuple((one, _page_of(one, data_set)) for one in found.samples),
        review=_review(data_set, code, found),
    )


def title_of(row: GroupRow) -> str:
    """Say what happened: the exception in its own words, or the kind of failure."""
    if row.exception_type:
        return f"{row.exception_type}: {row.message}" if row.message else row.exception_type
    return f"{words_of(row.what)}: {row.message}" if row.message else words_of(row.what)


def _verdict(row: GroupRow, event: Any) -> Verdict | None:
    return taxonomy.classify(
        row.what, row.exception_type, row.message, str(event.get("traceback", ""))
    )


def _where(event: Any) -> str:
    """Say on which machine the root cause was, and in which process of it."""
    words = [str(event["host"])] if event.get("host") else []
    if event.get("worker") is not None:
        words.append(f"loader {event['worker']}")
    return ", ".join(words)


def _page_of(sample: SampleCount, data_set: str | None) -> str:
    if data_set is None or sample.sample_id is None:
        return ""
    return f"/datasets/{data_set}/samples/{sample.sample_id}"


def _review(data_set: str | None, code: str, found: GroupView) -> str:
    if data_set is None or not any(one.sample_id for one in found.samples):
        return ""
    return f"/datasets/{data_set}/review?{urlencode({'status': 'held', 'code': code})}"
