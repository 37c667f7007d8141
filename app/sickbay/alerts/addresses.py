"""What each kind of channel asks for, and the address that is built from it.

Nobody needs to know the form of an apprise URL: a channel has a few labelled fields, most of
them to be copied from where the other side shows them. A URL is built when a message is sent
and is never stored, shown or logged.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from sickbay.alerts.tables import ChannelKind
from sickbay.contract.errors import BadInput

MAX_FIELD = 2000
"""Characters of a field."""
PLAIN = {"format": "text", "overflow": "split"}
"""What the server writes is text, nothing in it is markup; what is too long for a service comes
in parts rather than not at all."""

_MAIL = re.compile(r"[^@\s,;<>\"']+@[A-Za-z0-9.-]+")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SECURITY = {"starttls": "587", "ssl": "465", "none": "25"}
_ON_THIS_MACHINE = frozenset(
    {"dbus", "kde", "qt", "glib", "gnome", "macosx", "windows", "syslog", "file"}
)
"""Schemes that would act on the server itself rather than send."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a channel's form.

    ``secret`` ones are stored apart and never shown again; ``choices`` pairs a value with its
    words.
    """

    name: str
    label: str
    hint: str = ""
    secret: bool = False
    needed: bool = True
    choices: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of channel is called, and what it asks for."""

    kind: ChannelKind
    label: str
    fields: tuple[Field, ...]
    address: Callable[[Mapping[str, str]], str]


def address(kind: ChannelKind, values: Mapping[str, str]) -> str:
    """Return the apprise URL of a channel; it holds secrets.

    Raises:
        BadInput: a field is missing or not what it must be; the sentence names it, not its value.
    """
    form = FORMS[kind]
    for field in form.fields:
        value = values.get(field.name, "")
        if field.needed and not value:
            raise BadInput(f"{form.label} needs the field “{field.label}”.")
        if len(value) > MAX_FIELD or not value.isprintable():
            raise BadInput(f"The field “{field.label}” is too long or holds control characters.")
        if field.choices and value not in {choice for choice, _words in field.choices}:
            raise BadInput(f"The field “{field.label}” has no such choice.")
    return form.address(values)


def shown(kind: ChannelKind, fields: Mapping[str, str]) -> str:
    """Return what may be shown of where a channel leads."""
    words = [fields.get(field.name, "") for field in FORMS[kind].fields if not field.secret]
    return ", ".join(word for word in words if word)


def _email(values: Mapping[str, str]) -> str:
    host, port = _host_and_port(values["host"], _SECURITY[values["security"]])
    sender = _mails(values["sender"], "From")
    recipients = _mails(values["recipients"], "To")
    if len(sender) > 1:
        raise BadInput("The field “From” takes one address.")
    user, password = values.get("user", ""), values.get("password", "")
    if bool(user) != bool(password):
        raise BadInput("Give both a user and a password, or neither.")
    login = f"{_quoted(user)}:{_quoted(password)}@" if user else ""
    mode = "insecure" if values["security"] == "none" else values["security"]
    # One mail for all: apprise would send one to each of several under "to".
    query = {"smtp": host, "from": sender[0], "to": recipients[0], "mode": mode, **PLAIN}
    if recipients[1:]:
        query["cc"] = ",".join(recipients[1:])
    scheme = "mailto" if mode == "insecure" else "mailtos"
    return f"{scheme}://{login}{host}:{port}/?{_query({**query, 'name': 'Sickbay'})}"


def _webhook(values: Mapping[str, str]) -> str:
    parts = _web_address(values["url"], "Address")
    if parts.fragment or "@" in parts.netloc:
        raise BadInput(
            "The webhook's address must be without a fragment and without user and password; "
            "a key belongs in the field “Bearer token”."
        )
    query = {f"-{name}": value for name, value in parse_qsl(parts.query, keep_blank_values=True)}
    if values.get("token"):
        query["+Authorization"] = f"Bearer {values['token']}"
    scheme = "jsons" if parts.scheme == "https" else "json"
    path = quote(parts.path, safe="/%")
    return f"{scheme}://{parts.netloc}{path}?{_query({**query, **PLAIN})}"


def _slack(values: Mapping[str, str]) -> str:
    parts = _web_address(values["url"], "Webhook URL")
    found = re.fullmatch(r"/services/([A-Za-z0-9]+)/([A-Za-z0-9]+)/([A-Za-z0-9]+)/?", parts.path)
    if parts.hostname != "hooks.slack.com" or found is None:
        raise BadInput(
            "Slack's webhook URL reads https://hooks.slack.com/services/T…/B…/…; copy it whole."
        )
    query = {**PLAIN, "image": "no", "footer": "no"}
    return f"slack://{'/'.join(found.groups())}/?{_query(query)}"


def _feishu(values: Mapping[str, str]) -> str:
    return f"feishu://{_last_part(values['url'], 'open.feishu.cn')}/?{_query(PLAIN)}"


def _dingtalk(values: Mapping[str, str]) -> str:
    token = _key_of(values["url"], "access_token")
    signing = values.get("secret", "")
    if signing and not signing.isalnum():
        raise BadInput("DingTalk's secret has letters and digits only (it begins with SEC).")
    login = f"{signing}@" if signing else ""
    return f"dingtalk://{login}{token}/?{_query(PLAIN)}"


def _wecom(values: Mapping[str, str]) -> str:
    return f"wecombot://{_key_of(values['url'], 'key')}/?{_query(PLAIN)}"


def _apprise(values: Mapping[str, str]) -> str:
    url = values["url"]
    scheme, separator, _rest = url.partition("://")
    if not separator or not _PLAIN_KEY.fullmatch(scheme) or scheme.lower() in _ON_THIS_MACHINE:
        raise BadInput("That is no apprise URL that sends: it reads service://….")
    return url


def _query(values: Mapping[str, str]) -> str:
    """Join values so that apprise reads them as they are: a plus sign stays one."""
    return urlencode(values, quote_via=quote, safe="+")


def _web_address(text: str, label: str) -> SplitResult:
    with suppress(ValueError):
        parts = urlsplit(text)
        if parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1) > 0:
            return parts
    raise BadInput(f"The field “{label}” must be an address that begins with https://.")


def _last_part(text: str, host: str) -> str:
    """Return the token at the end of a webhook's URL; the token alone is taken too."""
    token = text.rstrip("/").rpartition("/")[2]
    if not _PLAIN_KEY.fullmatch(token) or ("/" in text and urlsplit(text).hostname != host):
        raise BadInput(f"The webhook URL begins with https://{host}/; copy it whole.")
    return token


def _key_of(text: str, name: str) -> str:
    """Return the key in a webhook's URL; the key alone is taken too."""
    key = text.partition(f"{name}=")[2].partition("&")[0] or text
    if not _PLAIN_KEY.fullmatch(key):
        raise BadInput(f"The webhook URL ends with {name}=…; copy it whole.")
    return key


def _host_and_port(text: str, usual: str) -> tuple[str, str]:
    host, _colon, port = text.partition(":")
    port = port or usual
    if not _HOST.fullmatch(host) or not (port.isascii() and port.isdecimal()):
        raise BadInput("The mail server is a name, with a port where it is unusual: mail.org:587.")
    return host, port


def _mails(text: str, label: str) -> list[str]:
    found = [part for part in re.split(r"[\s,;]+", text) if part]
    if not found or not all(_MAIL.fullmatch(part) for part in found):
        raise BadInput(f"The field “{label}” must hold e-mail addresses, with commas between.")
    return found


def _quoted(text: str) -> str:
    return quote(text, safe="")


_HOOK = Field("url", "Webhook URL", "Copied whole from the robot's settings.", secret=True)
_FORMS = (
    Form(
        ChannelKind.EMAIL,
        "E-mail",
        (
            Field("recipients", "To", "Addresses, with commas between."),
            Field("host", "Mail server", "smtp.example.org, with :port where it is unusual."),
            Field(
                "security",
                "Security",
                choices=(
                    ("starttls", "STARTTLS (port 587)"),
                    ("ssl", "TLS from the start (port 465)"),
                    ("none", "None (port 25): a relay on this network only"),
                ),
            ),
            Field("user", "User", "As the mail server knows you.", needed=False),
            Field("password", "Password", secret=True, needed=False),
            Field("sender", "From", "The address that messages come from."),
        ),
        _email,
    ),
    Form(
        ChannelKind.WEBHOOK,
        "Webhook",
        (
            Field("url", "Address", "Gets a POST with JSON: title, message, type.", secret=True),
            Field("token", "Bearer token", "Sent as Authorization.", secret=True, needed=False),
        ),
        _webhook,
    ),
    Form(ChannelKind.SLACK, "Slack", (_HOOK,), _slack),
    Form(ChannelKind.FEISHU, "Feishu", (_HOOK,), _feishu),
    Form(
        ChannelKind.DINGTALK,
        "DingTalk",
        (
            _HOOK,
            Field("secret", "Secret", "Where the robot signs: SEC….", secret=True, needed=False),
        ),
        _dingtalk,
    ),
    Form(ChannelKind.WECOM, "WeCom", (_HOOK,), _wecom),
    Form(
        ChannelKind.APPRISE,
        "Any other, by apprise URL",
        (Field("url", "Apprise URL", "service://…, as apprise documents it.", secret=True),),
        _apprise,
    ),
)
FORMS: Mapping[ChannelKind, Form] = {form.kind: form for form in _FORMS}
"""Every kind of channel, in the order that the page offers them."""
