"""Logging in with a link, and out again.

The link's secret travels in the fragment, which browsers send to nobody; a small script on the
login page, or the reader by pasting, puts it into a form. The session is a new one at each
login, so that a cookie planted before is worth nothing after.
"""

from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sickbay.accounts import sessions
from sickbay.contract.errors import Denied
from sickbay.web.body_limit import up_to
from sickbay.web.identity import Viewer, cookie_name, is_secure, public
from sickbay.web.pages.plain import LoginPage
from sickbay.web.render import page
from sickbay.web.site import Here, Site
from sickbay.web.strict_body import FormFields

router = APIRouter()

MAX_FORM = 4096
"""Bytes of the login form: one link."""


@router.get("/login")
@public
def show(request: Request) -> HTMLResponse:
    """Show the field for a login link."""
    return page(request, "login.html", LoginPage())


@router.post("/login", dependencies=[up_to(MAX_FORM)])
@public
def enter(request: Request, site: Here, form: FormFields) -> Response:
    """Use a link up and begin a session; a link that is not good gets the form again."""
    link = form.get("link", [""])[0].strip().rpartition("#")[2]
    before = request.cookies.get(cookie_name(request, site), "")
    try:
        secret = site.database.writing(
            lambda session: sessions.log_in(session, link, replacing=before)
        )
    except Denied as error:
        problem = LoginPage(problem=error.sentence)
        return page(request, "login.html", problem, status_code=HTTPStatus.FORBIDDEN)
    answer = RedirectResponse("/", status_code=HTTPStatus.SEE_OTHER)
    _set_cookie(answer, request, site, secret)
    return answer


@router.post("/logout")
def leave(request: Request, site: Here, _who: Viewer) -> Response:
    """End the session, here and in the browser."""
    secret = request.cookies.get(cookie_name(request, site), "")
    site.database.writing(lambda session: sessions.end(session, secret))
    answer = RedirectResponse("/login", status_code=HTTPStatus.SEE_OTHER)
    answer.delete_cookie(cookie_name(request, site), secure=is_secure(request, site), httponly=True)
    return answer


def _set_cookie(answer: Response, request: Request, site: Site, secret: str) -> None:
    answer.set_cookie(
        cookie_name(request, site),
        secret,
        max_age=int(sessions.LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=is_secure(request, site),
    )
