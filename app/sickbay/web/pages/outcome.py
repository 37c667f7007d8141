"""What a reviewer's act came to: JSON for a script, a redirect or a page for a form."""

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from sqlalchemy.orm import Session

from sickbay.contract.errors import IllegalMove, Refused
from sickbay.quarantine import data_sets
from sickbay.quarantine.decisions.decide import Act
from sickbay.quarantine.decisions.moves import Moved
from sickbay.quarantine.decisions.recent import of_batch, recent
from sickbay.quarantine.decisions.subjects import subjects
from sickbay.quarantine.queue.place import place
from sickbay.web.errors import wants_page
from sickbay.web.identity import Who
from sickbay.web.language import _
from sickbay.web.pages import words
from sickbay.web.pages.address import Address
from sickbay.web.pages.replacement import UnfitFile
from sickbay.web.pages.sample import Problem
from sickbay.web.pages.shell import said
from sickbay.web.site import Site


@dataclass(frozen=True, slots=True)
class Onward:
    """Where the work goes on: an address of ours, never one that a request named."""

    href: str


def after_decision(site: Site, here: Address, sample_id: int) -> Onward:
    """Return the sample that follows in the queue, or the grid where none does."""
    with site.database.reading() as session:
        data_set_id = data_sets.find(session, here.data_set).id
        following = place(session, data_set_id, here.chosen, sample_id).next
    return Onward(here.grid if following is None else here.sample(following))


def done(
    request: Request, site: Site, me: Who, here: Address, *, act: Act, onward: Onward
) -> Response:
    """Answer an act that was carried out and committed."""
    if wants_page(request):
        return RedirectResponse(onward.href, status_code=HTTPStatus.SEE_OTHER)
    with site.database.reading() as session:
        told = _told(session, me, here, act)
    return JSONResponse(told | {"next": onward.href}, headers={"Cache-Control": "no-store"})


def _told(session: Session, me: Who, here: Address, act: Act) -> dict[str, Any]:
    card = data_sets.card(session, data_sets.find(session, here.data_set).id)
    told = of_batch(session, card.id, act.batch)
    line = said(told) if told else None
    undoable = recent(session, card.id, me.name)
    return {
        "said": {
            "words": line.words if line else words.did_many(act.action, act.count),
            "path": line.path if line else "",
            "because": line.because if line else "",
        },
        "batch": act.batch,
        "undo": undoable.batch if undoable else None,
        "action": act.action,
        "count": act.count,
        "passed_over": act.passed_over,
        "samples": [_state(moved) for moved in act.moved],
        "held": card.held,
    }


def _state(moved: Moved) -> dict[str, Any]:
    return {"id": moved.id, "version": moved.version, "status": moved.status}


def problem_of(error: Refused) -> Problem:
    """Put a refusal into the words of a notice."""
    if isinstance(error, UnfitFile):
        return Problem(
            "block",
            _("The new file is not fit either."),
            error.sentence,
            _("Nothing was changed. Choose another file."),
        )
    if isinstance(error, IllegalMove):
        return Problem("block", _("Not possible."), error.sentence)
    return Problem("warn", _("Not saved: somebody was first."), error.sentence)


def status_of(error: Refused) -> HTTPStatus:
    """Return 422 for a file that is unfit, 409 for what the present state does not allow."""
    if isinstance(error, UnfitFile):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    return HTTPStatus.CONFLICT


def refused_json(site: Site, here: Address, ids: Iterable[int], error: Refused) -> Response:
    """Answer a script whose act was refused, with the present state of what it was about."""
    problem = problem_of(error)
    with site.database.reading() as session:
        found = subjects(session, data_sets.find(session, here.data_set).id, list(ids))
    states = [
        {"id": one.id, "version": one.version, "status": one.standing.status}
        for one in found.values()
    ]
    body = {
        "error": problem.sentence,
        "title": problem.title,
        "kind": problem.kind,
        "advice": problem.advice,
        "samples": states,
    }
    return JSONResponse(body, status_code=status_of(error), headers={"Cache-Control": "no-store"})
