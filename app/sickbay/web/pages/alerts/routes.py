"""Alerts: rules, channels with a button to test each, and the log of what was sent."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from sickbay.alerts import channels, rules
from sickbay.alerts.addresses import FORMS, address
from sickbay.alerts.messages import write_test
from sickbay.alerts.post import Post
from sickbay.alerts.rules import Draft
from sickbay.alerts.tables import ChannelKind, RuleKind
from sickbay.contract.errors import BadInput, Conflict
from sickbay.web.identity import Admin
from sickbay.web.pages.alerts.views import (
    RuleTyped,
    alerts_page,
    channel_page,
    message_page,
    rule_page,
)
from sickbay.web.pages.form import Form
from sickbay.web.parameters import INT64_MOST
from sickbay.web.render import page
from sickbay.web.site import Here
from sickbay.web.strict_body import FormFields

router = APIRouter(prefix="/alerts")

Id = Annotated[int, Path(ge=1, le=INT64_MOST)]
_DIGITS = 19  # fewer always fit into 64 bits
_UNFIT = HTTPStatus.UNPROCESSABLE_ENTITY
_AGAIN_S = 2
"""Seconds after which a browser asks again how a message fares."""


@router.get("")
def show_alerts(
    request: Request,
    site: Here,
    me: Admin,
    before: Annotated[int | None, Query(ge=1, le=INT64_MOST)] = None,
) -> Response:
    """Show rules, channels and the log."""
    with site.database.reading() as session:
        shown = alerts_page(session, me, site.settings.base_url, before)
    return page(request, "alerts/alerts.html", shown)


@router.get("/channels/new")
def new_channel(request: Request, site: Here, me: Admin, kind: str) -> Response:
    """Show the form of one kind of channel."""
    form = FORMS[channels.kind_of(kind)]
    with site.database.reading() as session:
        shown = channel_page(session, me, form, {})
    return page(request, "alerts/channel.html", shown)


@router.post("/channels")
def add_channel(request: Request, site: Here, me: Admin, fields: FormFields) -> Response:
    """Make a channel, or say what is wrong with what was typed."""
    form = Form(fields)
    kind = channels.kind_of(form.one("kind"))
    values = {one.name: form.one(f"field-{one.name}") for one in FORMS[kind].fields}
    name = form.one("name")
    try:
        if kind is ChannelKind.APPRISE:
            _check_address(values["url"])
        site.database.writing(
            lambda session: channels.create(
                session, name=name, kind=kind, values=values, by=me.name
            )
        )
    except (BadInput, Conflict) as error:
        with site.database.reading() as session:
            typed = {**values, "name": name}
            shown = channel_page(session, me, FORMS[kind], typed, error.sentence)
        return page(request, "alerts/channel.html", shown, _UNFIT)
    return _back()


@router.post("/channels/{channel_id}/test")
def send_test(site: Here, me: Admin, channel_id: Id, _fields: FormFields) -> Response:
    """Send a message to a channel; its own page shows how it fares."""
    with site.database.reading() as session:
        channels.channel(session, channel_id)
    message = site.database.writing(
        lambda session: write_test(session, channel_id, site.settings.base_url, me.name)
    )
    return RedirectResponse(f"/alerts/messages/{message}", HTTPStatus.SEE_OTHER)


@router.post("/channels/{channel_id}/remove")
def remove_channel(site: Here, _me: Admin, channel_id: Id, _fields: FormFields) -> Response:
    """Remove a channel, and its secrets with it."""
    site.database.writing(lambda session: channels.remove(session, channel_id))
    return _back()


@router.get("/messages/{message_id}")
def show_message(request: Request, site: Here, me: Admin, message_id: Id) -> Response:
    """Show how one message fares."""
    with site.database.reading() as session:
        shown = message_page(session, me, message_id)
    answer = page(request, "alerts/message.html", shown)
    if shown.under_way:
        answer.headers["Refresh"] = str(_AGAIN_S)
    return answer


@router.get("/rules/new")
def new_rule(request: Request, site: Here, me: Admin, kind: str) -> Response:
    """Show the form of one kind of rule."""
    with site.database.reading() as session:
        shown = rule_page(session, me, rules.kind_of(kind))
    return page(request, "alerts/rule.html", shown)


@router.post("/rules")
def add_rule(request: Request, site: Here, me: Admin, fields: FormFields) -> Response:
    """Make a rule, or say what is wrong with what was typed."""
    form = Form(fields)
    kind = rules.kind_of(form.one("kind"))
    typed = RuleTyped(
        data_set=form.one("data-set"),
        only=tuple(fields.get("only", ())),
        channels=tuple(fields.get("channel", ())),
        threshold=form.one("threshold"),
        window=form.one("window"),
    )
    try:
        draft = _draft(kind, typed)
        site.database.writing(lambda session: rules.create(session, draft, by=me.name))
    except BadInput as error:
        with site.database.reading() as session:
            shown = rule_page(session, me, kind, typed, error.sentence)
        return page(request, "alerts/rule.html", shown, _UNFIT)
    return _back()


@router.post("/rules/{rule_id}/pause")
def pause_rule(site: Here, _me: Admin, rule_id: Id, _fields: FormFields) -> Response:
    """Let a rule look no more."""
    site.database.writing(lambda session: rules.pause(session, rule_id))
    return _back()


@router.post("/rules/{rule_id}/resume")
def resume_rule(site: Here, _me: Admin, rule_id: Id, _fields: FormFields) -> Response:
    """Let a rule look again."""
    site.database.writing(lambda session: rules.resume(session, rule_id))
    return _back()


@router.post("/rules/{rule_id}/remove")
def remove_rule(site: Here, _me: Admin, rule_id: Id, _fields: FormFields) -> Response:
    """Remove a rule."""
    site.database.writing(lambda session: rules.remove(session, rule_id))
    return _back()


def _back() -> Response:
    return RedirectResponse("/alerts", HTTPStatus.SEE_OTHER)


def _check_address(url: str) -> None:
    """Refuse an address that apprise does not know; those we build, it does."""
    outcome = Post().check(address(ChannelKind.APPRISE, {"url": url}))
    if not outcome.accepted:
        raise BadInput(f"Nothing can be sent there: {outcome.words}. Check what you copied.")


def _draft(kind: RuleKind, typed: RuleTyped) -> Draft:
    return Draft(
        kind=kind,
        channels=_numbers(typed.channels, "channel"),
        data_set=typed.data_set,
        only=typed.only,
        threshold=_numbers([typed.threshold or "0"], "number")[0],
        window_minutes=_numbers([typed.window], "window")[0],
    )


def _numbers(texts: Sequence[str], what: str) -> list[int]:
    for text in texts:
        if not (text.isascii() and text.isdecimal() and len(text) < _DIGITS):
            raise BadInput(f"The {what} must be a whole number.")
    return [int(text) for text in texts]
