"""How many bytes of a request's body are read at all.

The check sits on the way the body comes in, so nothing that parses one can read past it. A
route that takes more than the default says so with ``dependencies=[up_to(N)]``, which runs once
the identity is known: strangers never get more than the default.
"""

from dataclasses import dataclass
from typing import Any

from fastapi import Depends, Request
from starlette.types import Message, Receive, Scope

from sickbay.contract.errors import BadInput

MAX_BODY = 1 << 20
"""Bytes of a body where its route states no limit of its own."""
_KEY = "sickbay.body"


class TooLarge(BadInput):
    """The body is larger than its route takes."""


@dataclass(slots=True)
class _Limited:
    """The incoming side of one request, counted."""

    receive: Receive
    stated: int
    most: int = MAX_BODY
    seen: int = 0

    async def __call__(self) -> Message:
        self._check(self.stated)
        message = await self.receive()
        self.seen += len(message.get("body", b""))
        self._check(self.seen)
        return message

    def _check(self, size: int) -> None:
        if size > self.most:
            raise TooLarge(f"The body is larger than the {self.most:,} bytes allowed here.")


def limited(scope: Scope, receive: Receive) -> Receive:
    """Return the incoming side of a request, cut at its limit."""
    stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    scope[_KEY] = _Limited(receive, int(stated) if stated.isdigit() else 0)
    made: Receive = scope[_KEY]
    return made


def up_to(most: int) -> Any:
    """Return a dependency that sets the most bytes a route's body may have."""

    async def allow(request: Request) -> None:
        request.scope[_KEY].most = most

    return Depends(allow)
