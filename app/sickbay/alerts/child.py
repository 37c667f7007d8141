"""The process that sends one message: ``python -m sickbay.alerts.child``.

It reads one JSON object from standard input: ``url``, and ``title`` and ``body`` unless the URL
is only to be looked at. It writes one: ``{"sent": true}``, or ``{"sent": false, "reason": …}``.
A process of its own, because a receiver may answer without end, or never, and libraries that
speak to it may log or keep what they should not: whoever started it ends it.
"""

import json
import logging
import re
import sys
from typing import Any

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
    asked = json.load(sys.stdin)
    logger = logging.getLogger("apprise")
    logger.propagate = False
    logger.addHandler(reasons := Reasons())
    json.dump(_send(asked, reasons), sys.stdout)


def _send(asked: dict[str, Any], reasons: Reasons) -> dict[str, Any]:
    import apprise  # noqa: PLC0415 (takes a second: only the child pays)

    asset = apprise.AppriseAsset(
        app_id="Sickbay",
        app_desc="Sickbay",
        http_redirects=False,
        allow_templates=False,  # they would read files of the server
    )
    target = apprise.Apprise.instantiate(asked["url"], asset=asset)
    if not isinstance(target, apprise.NotifyBase):
        return {"sent": False, "reason": "the address is not understood"}
    if "body" not in asked:
        return {"sent": True}
    sent = target.notify(
        body=asked["body"],
        title=asked["title"],
        notify_type=apprise.NotifyType(asked["type"]),
        body_format=apprise.NotifyFormat.TEXT,
    )
    return {"sent": True} if sent else {"sent": False, "reason": _reason(reasons.said)}


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
