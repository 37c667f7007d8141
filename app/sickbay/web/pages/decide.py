"""Acts of a reviewer: decide on one, on many, on all that match; replace; undo.

Each answers a script with JSON (``said``, ``batch``, ``samples``, ``next``) and a plain form
with a redirect to where the work goes on; what stood in the way is told on the page it came from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from sickbay.contract.errors import Conflict, IllegalMove, Refused
from sickbay.quarantine import data_sets
from sickbay.quarantine.decisions.decide import Act, Pick, decide, decide_all
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.decisions.undo import undo
from sickbay.quarantine.queue.sample import SampleView
from sickbay.quarantine.queue.sample import view as read_sample
from sickbay.quarantine.scan_facts import Judged, judged
from sickbay.web.body_limit import up_to
from sickbay.web.errors import wants_page
from sickbay.web.identity import Reviewer, Who
from sickbay.web.pages import outcome, queue, sample
from sickbay.web.pages.address import Address, of_query
from sickbay.web.pages.form import Form
from sickbay.web.pages.outcome import Onward
from sickbay.web.pages.replacement import MAX_REPLACEMENT, UnfitFile, accept
from sickbay.web.pages.sample import Kept, Refusal
from sickbay.web.parameters import DataSetName, SampleId
from sickbay.web.render import page
from sickbay.web.site import Here, Site
from sickbay.web.strict_body import FormFields, Upload

router = APIRouter(prefix="/datasets/{name}")
_TOLD = (Conflict, IllegalMove, UnfitFile)
"""Refusals that are told on the page the act came from."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One act as it was asked for."""

    request: Request
    site: Site
    me: Who
    here: Address
    form: Form

    def write(self, act: Callable[[Session, int], Act]) -> Act:
        """Carry the act out on the data set; return once it is committed."""

        def in_data_set(session: Session) -> Act:
            return act(session, data_sets.find(session, self.here.data_set).id)

        return self.site.database.writing(in_data_set)

    @property
    def why(self) -> dict[str, str]:
        """Reason, note and reviewer, as every verb takes them."""
        return {
            "reason": self.form.one("reason"),
            "note": self.form.one("note"),
            "reviewer": self.me.name,
        }


def _asked(
    request: Request, site: Here, me: Reviewer, name: DataSetName, fields: FormFields
) -> Asked:
    form = Form(fields)
    return Asked(request, site, me, of_query(name, form.one("query")), form)


def _uploaded(
    request: Request, site: Here, me: Reviewer, name: DataSetName, upload: Upload
) -> Asked:
    return _asked(request, site, me, name, {key: [one] for key, one in upload.fields.items()})


AskedByForm = Annotated[Asked, Depends(_asked)]
AskedWithFile = Annotated[Asked, Depends(_uploaded)]


@router.post("/samples/{sample_id}/decision")
def decision(asked: AskedByForm, sample_id: SampleId) -> Response:
    """Decide on one sample, as the version the reviewer saw."""
    pick, action = Pick(sample_id, asked.form.number("version")), asked.form.action()
    try:
        act = asked.write(lambda session, key: decide(session, key, [pick], action, **asked.why))
    except _TOLD as error:
        return _refused_one(asked, sample_id, error)
    return _done_one(asked, sample_id, act)


@router.post(
    "/samples/{sample_id}/replacement",
    dependencies=[up_to(MAX_REPLACEMENT + (1 << 16))],
)
def replacement(asked: AskedWithFile, upload: Upload, sample_id: SampleId) -> Response:
    """Check an uploaded file; where it is sound, let it stand for the sample's."""
    pick = Pick(sample_id, asked.form.number("version"))
    try:
        facts = accept(asked.site, upload.data, *_judged(asked, sample_id))
        act = asked.write(_repair(pick, facts, asked))
    except _TOLD as error:
        return _refused_one(asked, sample_id, error)
    return _done_one(asked, sample_id, act)


def _repair(pick: Pick, facts: Facts, asked: Asked) -> Callable[[Session, int], Act]:
    return lambda session, key: repair(session, key, pick, facts, **asked.why)


def _judged(asked: Asked, sample_id: int) -> tuple[SampleView, Judged]:
    """Return the sample, and how the scan in force judged it."""
    with asked.site.database.reading() as session:
        data_set_id = data_sets.find(session, asked.here.data_set).id
        return read_sample(session, data_set_id, sample_id), judged(session, data_set_id)


@router.post("/decisions")
def decisions(asked: AskedByForm) -> Response:
    """Decide on the ticked samples, or on all that match the query if they are still as many."""
    try:
        act = asked.write(_many(asked))
    except _TOLD as error:
        return _refused_many(asked, error)
    return _done(asked, act, Onward(asked.here.grid))


def _many(asked: Asked) -> Callable[[Session, int], Act]:
    action = asked.form.action()
    if asked.form.one("all"):
        expected = asked.form.number("all")
        chosen = asked.here.chosen
        return lambda session, key: decide_all(session, key, chosen, expected, action, **asked.why)
    picks = asked.form.picks()
    return lambda session, key: decide(session, key, picks, action, **asked.why)


@router.post("/undo")
def take_back(asked: AskedByForm) -> Response:
    """Undo one act, wherever its samples are by now in the queue."""
    batch, me = asked.form.one("batch"), asked.me.name
    try:
        act = asked.write(lambda session, key: undo(session, key, batch, reviewer=me))
    except _TOLD as error:
        return _refused_many(asked, error)
    onward = _back_at(asked.here, act, asked.form)
    return _done(asked, act, onward)


def _back_at(here: Address, act: Act, form: Form) -> Onward:
    """Return to the sample that came back, or to the grid the undo was asked from."""
    if act.count == 1 and form.one("from") != "grid":
        return Onward(here.sample(act.moved[0].id))
    first = f"#s{act.moved[0].id}" if act.moved else ""
    return Onward(f"{here.grid}{first}")


def _done(asked: Asked, act: Act, onward: Onward) -> Response:
    return outcome.done(asked.request, asked.site, asked.me, asked.here, act=act, onward=onward)


def _done_one(asked: Asked, sample_id: int, act: Act) -> Response:
    onward = outcome.after_decision(asked.site, asked.here, sample_id)
    return _done(asked, act, onward)


def _refused_one(asked: Asked, sample_id: int, error: Refused) -> Response:
    if not wants_page(asked.request):
        return outcome.refused_json(asked.site, asked.here, [sample_id], error)
    refusal = Refusal(
        outcome.problem_of(error),
        Kept(asked.form.one("reason"), asked.form.one("note")),
        outcome.status_of(error),
    )
    return sample.answer(
        asked.request, asked.site, asked.me, asked.here, sample_id=sample_id, refusal=refusal
    )


def _refused_many(asked: Asked, error: Refused) -> Response:
    if not wants_page(asked.request):
        ids = [pick.id for pick in asked.form.picks()]
        return outcome.refused_json(asked.site, asked.here, ids, error)
    with asked.site.database.reading() as session:
        shown = queue.view(session, asked.me, asked.here, error.sentence)
    return page(asked.request, "queue/queue.html", shown, outcome.status_of(error))
