"""Templates: one environment, one frozen page object for each template.

A template that names something its page object lacks is an error (``StrictUndefined``), every
value is escaped, and what people or files are called is isolated from the sentence around it.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sickbay import resources
from sickbay.database.tables import now
from sickbay.web.language import _, ngettext

_MINUTE, _HOUR, _DAY = (timedelta(minutes=1), timedelta(hours=1), timedelta(days=1))
_KILO = 1000
_SHORT_HASH = 12
_ROW = re.compile(r"(?P<file>.+)#(?P<word>row|line)=(?P<number>[0-9]{9,18})", re.DOTALL)


def page(request: Request, template: str, page: object, status_code: int = 200) -> HTMLResponse:
    """Render one page.

    Args:
        request: what is answered; a template may ask it for nothing but its address.
        template: path below ``templates/``.
        page: the frozen object the template reads, as ``page``.
        status_code: of the answer.
    """
    html = environment().get_template(template).render(page=page, address=request.url.path)
    return HTMLResponse(html, status_code=status_code, headers={"Cache-Control": "no-store"})


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the environment that every template is rendered in."""
    made = Environment(
        loader=FileSystemLoader(resources.folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"],
    )
    made.install_gettext_callables(  # type: ignore[attr-defined]  # added by the extension
        _, ngettext, newstyle=True
    )
    made.globals |= {"api": api, "data_set": data_set, "runs": runs, "static": static}
    made.filters |= {
        "ago": ago,
        "bytesize": bytesize,
        "isolated": isolated,
        "moment": moment,
        "shorthash": shorthash,
        "tail": tail,
        "thousands": thousands,
    }
    return made


def static(name: str) -> str:
    """Return the address of a static file."""
    return f"/static/{name}"


def data_set(name: str) -> str:
    """Return the address of a data set's pages."""
    return f"/datasets/{quote(name, safe='')}"


def runs(key: str = "") -> str:
    """Return the address of a run's pages, or of the list of all."""
    return f"/runs/{quote(key, safe='')}" if key else "/runs"


def api(name: str) -> str:
    """Return the address of a data set for programs."""
    return f"/api/v1/datasets/{quote(name, safe='')}"


def thousands(number: int) -> str:
    """Write a whole number with separators: ``46,903``."""
    return f"{number:,}"


def bytesize(number: int) -> str:
    """Write a size in steps of 1000: ``412 kB``; the exact number belongs beside it."""
    size = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < _KILO:
            return f"{number:,} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= _KILO
    return f"{size:,.1f} TB"


def shorthash(digest: str) -> str:
    """Return the first twelve digits: enough to know a release by, and to ask for it."""
    return digest[:_SHORT_HASH]


def isolated(text: str) -> Markup:
    """Wrap what people or files are called, so that it cannot turn the text around it."""
    return Markup("<bdi>{}</bdi>").format(text)


def tail(path: str) -> str:
    """Return the last two parts of a path, of a row its number first: what tells tiles apart."""
    last = "/".join(path.rsplit("/", 2)[-2:])
    row = _ROW.fullmatch(last)
    return last if row is None else f"{row['word']} {int(row['number'])}, {row['file']}"


def ago(at: datetime) -> Markup:
    """Write a moment relative to now, up to a day; the exact time is in ``title``."""
    return _time(at, _distance(at, now() - at))


def moment(at: datetime) -> Markup:
    """Write a moment as date and time (UTC)."""
    return _time(at, _date(at))


def _time(at: datetime, words: str) -> Markup:
    exact = at.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact.isoformat(timespec="seconds"), f"{exact:%Y-%m-%d %H:%M:%S} UTC", escape(words)
    )


def _distance(at: datetime, past: timedelta) -> str:
    if past < _MINUTE:
        return _("just now")
    if past < _HOUR:
        return _("%d min ago") % (past // _MINUTE)
    if past < _DAY:
        return _("%d h ago") % (past // _HOUR)
    return _date(at)


def _date(at: datetime) -> str:
    return f"{at.astimezone(UTC):%d %b %Y, %H:%M}".lstrip("0")
