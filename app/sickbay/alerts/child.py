"""The process that sends one message: ``python -m sickbay.alerts.child``.

It reads one JSON object from standard input: ``url``, and ``title``, ``body`` and ``type`` unless
the URL is only to be looked at. It writes one: ``{"accepted": …, "words": …}``.
A process of its own, because a receiver may answer without end, or never, and libraries that
speak to it may log or keep what they should not: whoever started it ends it.
"""

import json
import logging
import re
import resource
import sys
from contextlib import suppress
from typing import Any

_REFUSED = "SMTP recipient"
"""How apprise begins to say that a server took a mail, but not for this address."""
MEMORY = 1 << 30
"""Bytes: five times what apprise takes; a receiver may answer without end."""
_CODED = ("dingtalk://", "wecombot://")
_STATUS = re.compile(r"error=(\d{3})\b")
_CODE = re.compile(r"\bcode=(-?\d{1,9})\b")


class Reasons(logging.Handler):
    """Keeps what apprise says went wrong; it is looked through for a number, never shown."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        self.said.append(record.getMessage())


def main() -> None:
    """Do what standard input asks; say on standard output how it went."""
    with suppress(ValueError, OSError):  # not every system lets itself be limited
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asked = json.load(sys.stdin)
    logger = logging.getLogger("apprise")
    logger.propagate = False
    logger.addHandler(reasons := Reasons())
    json.dump(send(asked, reasons), sys.stdout)


def send(asked: dict[str, Any], reasons: Reasons) -> dict[str, Any]:
    """Send what is asked for, or look at its address; return how it went."""
    import apprise  # noqa: PLC0415 (takes a second: only the child pays)

    asset = apprise.AppriseAsset(
        app_id="Sickbay",
        app_desc="Sickbay",
        http_redirects=False,
        allow_templates=False,  # they would read files of the server
    )
    target = apprise.Apprise.instantiate(asked["url"], asset=asset)
    if not isinstance(target, apprise.NotifyBase):
        return {"accepted": False, "words": "the address is not understood"}
    if "body" not in asked:
        return {"accepted": True, "words": "understood"}
    codes = _heed_codes() if asked["url"].startswith(_CODED) else []
    sent = target.notify(
        body=asked["body"],
        title=asked["title"],
        notify_type=apprise.NotifyType(asked["type"]),
        body_format=apprise.NotifyFormat.TEXT,
    )
    if sent and any(codes):
        return {"accepted": False, "words": f"it refused with code {next(filter(None, codes))}"}
    refused = sum(_REFUSED in line for line in reasons.said)
    if sent or refused:
        # A mail that some of its addresses took must not go to them again and again.
        words = f"accepted, but not for {refused} of its addresses" if refused else "accepted"
        return {"accepted": True, "words": words}
    return {"accepted": False, "words": _reason(reasons.said)}


def _heed_codes() -> list[int]:
    """Keep the code in each answer; return where they are kept.

    DingTalk and WeCom refuse with status 200 and a code in the body, which apprise takes for
    success: a robot that wants a keyword would swallow every message.
    """
    import requests  # noqa: PLC0415 (as apprise is)

    codes: list[int] = []

    class Heeding(requests.Session):
        def send(self, request: requests.PreparedRequest, **more: Any) -> requests.Response:
            answer = super().send(request, **more)
            with suppress(ValueError, AttributeError, TypeError):
                codes.append(int(answer.json().get("errcode", 0)))
            return answer

    requests.sessions.Session = Heeding  # type: ignore[misc]  # in this process, for one message
    return codes


def _reason(said: list[str]) -> str:
    """Return why, in words of ours: what the other side answered may hold anything."""
    for line in said:
        if found := _STATUS.search(line):
            return f"it answered with status {found[1]}"
        if found := _CODE.search(line):
            return f"it refused with code {found[1]}"
    return "no connection, or it was refused"


if __name__ == "__main__":
    main()
