"""Who asks: deny by default.

:func:`identify` is a dependency of the whole application: a route answers nobody unless a
session cookie or a token says who asks, or its function is marked :func:`public`. What a
route needs beyond that it says in its signature: ``Viewer``, ``Reviewer``, ``Admin``, or one of
the token types. Nothing here looks at a path or a host name: those come from the other side.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from sickbay.accounts import sessions, tokens
from sickbay.accounts.tables import Role, Scope
from sickbay.contract.errors import Busy, Denied, StorageFailed
from sickbay.database import Database
from sickbay.web.site import Here, Site

Route = TypeVar("Route", bound=Callable[..., Any])

_PUBLIC = "_sickbay_answers_everybody"


class Unidentified(Denied):
    """Nobody was named, or the session or token is not known (any more)."""


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who was identified: a person has a role, a token has scopes and its id."""

    name: str
    role: Role | None = None
    scopes: frozenset[Scope] = frozenset()
    token: int | None = None

    @property
    def may_decide(self) -> bool:
        """Whether it is a person who may decide on samples."""
        return self.role is not None and self.role.covers(Role.REVIEWER)


def public(route: Route) -> Route:
    """Mark a route that answers everybody. A test lists them all."""
    setattr(route, _PUBLIC, True)
    return route


def is_public(route: object) -> bool:
    """Whether a route's function is marked as answering everybody."""
    return getattr(route, _PUBLIC, False) is True


def is_secure(request: Request, site: Site) -> bool:
    """Whether the browser speaks TLS: to us, or to the proxy that has the public URL."""
    scheme, _, host = site.settings.public_url.partition("://")
    proxied = scheme == "https" and request.headers.get("host", "").lower() == host
    return proxied or request.url.scheme == "https"


def cookie_name(request: Request, site: Site) -> str:
    """Return the session cookie's name.

    ``__Host-`` binds it to this host and to TLS. Plain HTTP on loopback cannot have that; there
    the port is in the name, since browsers send cookies to every port of a host.
    """
    if is_secure(request, site):
        return "__Host-sickbay"
    return f"sickbay_{site.settings.port}"


def identify(request: Request, site: Here) -> Who | None:
    """Return who asks; nobody only on public routes.

    Raises:
        Unidentified: the route is not public, and no valid session or token was shown.
    """
    if is_public(request.scope.get("endpoint")):
        return None
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    if scheme:
        who = _bearer(site.database, shown.strip()) if scheme.lower() == "bearer" else None
    else:
        who = _visitor(site.database, request.cookies.get(cookie_name(request, site), ""))
    if who is None:
        raise Unidentified(
            "Log in first: `sickbay login-link` prints a link."
            if not scheme
            else "This token is not known, or was revoked; `sickbay token new` makes one."
        )
    return who


def _bearer(database: Database, shown: str) -> Who | None:
    with database.reading() as session:
        bearer = tokens.find(session, shown)
    if bearer is None:
        return None
    if bearer.note_used:
        _note(database, lambda session: tokens.note_used(session, bearer.token_id))
    return Who(f"token {bearer.name}", scopes=bearer.scopes, token=bearer.token_id)


def _visitor(database: Database, secret: str) -> Who | None:
    if not secret:
        return None
    with database.reading() as session:
        visitor = sessions.find(session, secret)
    if visitor is None:
        return None
    if visitor.note_seen:
        _note(database, lambda session: sessions.note_seen(session, visitor.session_id))
    return Who(visitor.name, role=visitor.role)


def _note(database: Database, act: Callable[[Any], None]) -> None:
    """Write a time down; where the disk is full or busy, reading goes on without."""
    with suppress(Busy, StorageFailed):
        database.writing(act)


Anybody = Annotated[Who | None, Depends(identify)]


def _needs(
    role: Role | None = None, scope: Scope | None = None
) -> Callable[[Anybody], Awaitable[Who]]:
    async def check(who: Anybody) -> Who:
        if who is not None and role is not None and who.role is not None and who.role.covers(role):
            return who
        if who is not None and scope is not None and scope in who.scopes:
            return who
        if who is not None and role is None and scope is None:
            return who
        raise Denied(_refusal(role, scope))

    return check


def events_token(who: Who | None) -> int:
    """Return a token's id where it may send what happens in training.

    Raises:
        Denied: it may not, or is no token.
    """
    if who is None or who.token is None or Scope.EVENTS not in who.scopes:
        raise Denied(_refusal(None, Scope.EVENTS))
    return who.token


def _refusal(role: Role | None, scope: Scope | None) -> str:
    wanted = [f"a person who is at least {role.value}"] if role else []
    wanted += [f"a token with the scope {scope.value}"] if scope else []
    return f"This needs {' or '.join(wanted)}."


Known = Annotated[Who, Depends(_needs())]
"""Anybody who was identified."""
Viewer = Annotated[Who, Depends(_needs(Role.VIEWER))]
"""A person; any role."""
Reviewer = Annotated[Who, Depends(_needs(Role.REVIEWER))]
"""A person who may decide."""
Admin = Annotated[Who, Depends(_needs(Role.ADMIN))]
"""A person who may do everything."""
ScanToken = Annotated[Who, Depends(_needs(scope=Scope.SCAN))]
"""A token that may send scans."""
PolicyReader = Annotated[Who, Depends(_needs(Role.VIEWER, Scope.SCAN))]
"""A person, or a token that may send scans."""
EventsToken = Annotated[Who, Depends(_needs(scope=Scope.EVENTS))]
"""A token that may send what happens in training."""
ReleasesToken = Annotated[Who, Depends(_needs(scope=Scope.RELEASES))]
"""A token that may make and read releases."""
ReleaseReader = Annotated[Who, Depends(_needs(Role.VIEWER, Scope.RELEASES))]
"""A person, or a token that may read releases."""
ReleaseMaker = Annotated[Who, Depends(_needs(Role.REVIEWER, Scope.RELEASES))]
"""A person who may decide, or a token that may make releases."""
