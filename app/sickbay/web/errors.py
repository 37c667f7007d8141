"""Errors as answers: one table from error class to HTTP status, one page or short JSON.

An answer carries the error's sentence and the request's id, never the input: an echo would be
a way to make the server write what somebody else put in.
"""

import logging
from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from sickbay.accounts.tokens import Revoked
from sickbay.contract.errors import (
    BadInput,
    Busy,
    Conflict,
    Denied,
    IllegalMove,
    NotFound,
    Refused,
    SickbayError,
    StorageFailed,
)
from sickbay.contract.inside import Unreadable
from sickbay.database.tables import now
from sickbay.web.body_limit import TooLarge
from sickbay.web.identity import Unidentified
from sickbay.web.pages.plain import ErrorPage, Link
from sickbay.web.render import page

_log = logging.getLogger("sickbay.web")

STATUS_OF: dict[type[SickbayError], HTTPStatus] = {
    BadInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotFound: HTTPStatus.NOT_FOUND,
    Refused: HTTPStatus.CONFLICT,
    Conflict: HTTPStatus.CONFLICT,
    IllegalMove: HTTPStatus.CONFLICT,
    Denied: HTTPStatus.FORBIDDEN,
    Unidentified: HTTPStatus.UNAUTHORIZED,
    Revoked: HTTPStatus.UNAUTHORIZED,
    Busy: HTTPStatus.SERVICE_UNAVAILABLE,
    StorageFailed: HTTPStatus.INSUFFICIENT_STORAGE,
    Unreadable: HTTPStatus.NOT_FOUND,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
}
_HEADERS: dict[HTTPStatus, dict[str, str]] = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: {"Connection": "close"},
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "1"},
    HTTPStatus.INSUFFICIENT_STORAGE: {"Retry-After": "30"},
}
_TITLES = {
    HTTPStatus.UNPROCESSABLE_ENTITY: "That cannot be used",
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.CONFLICT: "Not done",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.UNAUTHORIZED: "Not logged in",
    HTTPStatus.METHOD_NOT_ALLOWED: "Not possible here",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Too large",
    HTTPStatus.SERVICE_UNAVAILABLE: "Busy",
    HTTPStatus.INSUFFICIENT_STORAGE: "Nothing can be stored",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something broke",
}
_SENTENCES = {
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not answer that kind of request.",
}
_SAFE = {
    HTTPStatus.INSUFFICIENT_STORAGE: "What was decided before is kept; reading goes on.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "What was decided before is kept.",
}
_LOGIN = (Link("/login", "Log in"),)


def status_of(error: SickbayError) -> HTTPStatus:
    """Return the HTTP status of an error: that of its nearest class in the table."""
    return next(
        (STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )


def install(app: FastAPI) -> None:
    """Let the application answer errors as this module says."""
    app.add_exception_handler(SickbayError, _answer_ours)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)


def wants_page(request: Request) -> bool:
    """Whether a browser asks, for a person to read."""
    return "text/html" in request.headers.get("accept", "")


def answer(request: Request, status: HTTPStatus, sentence: str) -> Response:
    """Return an error's answer: a page for people, short JSON for programs."""
    made = _page(request, status, sentence) if wants_page(request) else None
    if made is None:
        body = {"error": sentence, "request": _request_id(request)}
        made = JSONResponse(body, status_code=status)
    made.headers.update(_HEADERS.get(status, {}))
    return made


def answer_broken(request: Request) -> Response:
    """Return the answer to a fault of ours; its trace is in the log under the request's id."""
    sentence = "Sickbay failed on this request; its log says why, under the request's id."
    try:
        return answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
    except Exception:  # noqa: BLE001 (whatever breaks a page, an answer is due)
        _log.exception("request %s: its error page cannot be made either", _request_id(request))
        return PlainTextResponse(sentence, status_code=HTTPStatus.INTERNAL_SERVER_ERROR)


def _page(request: Request, status: HTTPStatus, sentence: str) -> Response:
    shown = ErrorPage(
        status_code=status,
        title=_TITLES.get(status, status.phrase),
        sentence=sentence,
        at=now(),
        safe=_SAFE.get(status, ""),
        request_id=_request_id(request),
        links=_LOGIN if status is HTTPStatus.UNAUTHORIZED else (Link("/", "Overview"),),
    )
    return page(request, "error.html", shown, status_code=status)


def _request_id(request: Request) -> str:
    return str(request.scope.get("sickbay.request", ""))


async def _answer_ours(request: Request, error: Exception) -> Response:
    if isinstance(error, Unidentified) and request.method == "GET" and wants_page(request):
        return RedirectResponse("/login", status_code=HTTPStatus.SEE_OTHER)
    if not isinstance(error, SickbayError):
        raise error
    return answer(request, status_of(error), error.sentence)


async def _answer_invalid(request: Request, error: Exception) -> Response:
    places = error.errors() if isinstance(error, RequestValidationError) else []
    named = {str(place["loc"][1])[:40] for place in places if len(place["loc"]) > 1}
    known = sorted(quote(name) for name in named)[:5]
    if places and all(place["loc"][0] == "path" for place in places):
        return answer(request, HTTPStatus.NOT_FOUND, _SENTENCES[HTTPStatus.NOT_FOUND])
    sentence = f"These parameters cannot be used: {', '.join(known) or 'the body'}."
    return answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, sentence)


async def _answer_http(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    status = HTTPStatus(code)
    made = answer(request, status, _SENTENCES.get(status, f"{status.phrase}."))
    if isinstance(error, HTTPException):
        made.headers.update(error.headers or {})
    return made
