"""A data set's policy: shown to everybody, changed by reviewers, with its history."""

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from sickbay.contract.defects import DEFECTS
from sickbay.contract.errors import BadInput, Conflict
from sickbay.contract.policy import Policy
from sickbay.quarantine import data_sets, policies
from sickbay.web.identity import Reviewer, Viewer
from sickbay.web.language import _
from sickbay.web.pages.form import Form
from sickbay.web.pages.policy import reading
from sickbay.web.pages.policy.views import policy_page
from sickbay.web.parameters import DataSetName
from sickbay.web.render import page
from sickbay.web.site import Here
from sickbay.web.strict_body import FormFields

router = APIRouter()


@router.get("/datasets/{name}/policy")
def show(request: Request, site: Here, me: Viewer, name: DataSetName) -> Response:
    """Show the policy and the form that changes it."""
    with site.database.reading() as session:
        shown = policy_page(session, me, name)
    return page(request, "policy/policy.html", shown)


@router.post("/datasets/{name}/policy")
def change(
    request: Request, site: Here, me: Reviewer, name: DataSetName, fields: FormFields
) -> Response:
    """Set the policy, or say why not and keep what was typed."""
    form = Form(fields)
    expected = form.number("version")
    with site.database.reading() as session:
        data_set = data_sets.find(session, name).id
        present = policies.read(session, data_set).policy
    try:
        wanted = Policy() if form.one("act") == "reset" else reading.read(form, present)
        site.database.writing(
            lambda session: policies.change(
                session, data_set, wanted, expected=expected, by=me.name
            )
        )
    except (BadInput, Conflict) as error:
        status = (
            HTTPStatus.CONFLICT if isinstance(error, Conflict) else HTTPStatus.UNPROCESSABLE_ENTITY
        )
        sentence = error.sentence if status is not HTTPStatus.CONFLICT else _lost(error.sentence)
        chosen = {code: form.one(f"severity-{code}") for code in DEFECTS}
        with site.database.reading() as session:
            shown = policy_page(
                session,
                me,
                name,
                fields=reading.typed(fields),
                chosen=chosen,
                problem=sentence,
            )
        return page(request, "policy/policy.html", shown, status_code=status)
    return RedirectResponse(f"/datasets/{name}/policy", HTTPStatus.SEE_OTHER)


def _lost(sentence: str) -> str:
    """Say beside a conflict whose values the form holds, and what saving it once more does."""
    more = _("Below is what you typed; to save it now replaces that change, told under Changes.")
    return f"{sentence} {more}"
