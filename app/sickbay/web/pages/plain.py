"""Page objects of the two pages that need no data set: login and error."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class LoginPage:
    """``login.html``: the field for a login link.

    ``problem`` is one plain sentence on why the last link did not work. The form posts its one
    field ``link``: the whole link, or only the secret behind its ``#``.
    """

    problem: str | None = None
    shell: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class Link:
    """A way on from an error."""

    href: str
    words: str


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """``error.html``: what happened, what is safe, how to go on. Never the input, no trace."""

    status_code: int
    title: str
    sentence: str
    at: datetime
    safe: str = ""
    request_id: str = ""
    links: tuple[Link, ...] = (Link("/", "Overview"),)
    shell: ClassVar[None] = None
