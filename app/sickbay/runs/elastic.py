"""Error files of torch elastic, read as failures.

A process started by ``torchrun`` whose main function is under ``@record`` leaves a JSON file:
``message`` holds the exception's type and text, ``extraInfo`` the stack and the time in seconds.
Where the process died without one, the agent writes the text alone.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from sickbay.contract import strict_json
from sickbay.contract.errors import BadInput
from sickbay.contract.event import MAX_MESSAGE, MAX_NAME, MAX_TRACEBACK, Event, Failure
from sickbay.contract.taxonomy import kind_of
from sickbay.runs.keys import IMPORTED

MAX_FILE = 4 << 20
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*): ")


def failure_of(data: bytes, rank: int, *, found_at: float) -> Event:
    """Return the failure that an error file reports.

    Args:
        data: the file's bytes.
        rank: which process wrote it; the file does not say.
        found_at: seconds since 1970, taken where the file has no time.

    Raises:
        BadInput: it is no such file.
    """
    if len(data) > MAX_FILE:
        raise BadInput(f"An error file has at most {MAX_FILE:,} bytes.")
    outer = strict_json.loads(data)
    if not isinstance(outer, dict) or "message" not in outer:
        raise BadInput("This is no error file of torch elastic: it has no message.")
    inner = outer["message"] if isinstance(outer["message"], dict) else outer
    text = str(inner.get("message", ""))
    extra = inner.get("extraInfo")
    info: Mapping[str, Any] = extra if isinstance(extra, dict) else {}
    time = _time(info.get("timestamp", outer.get("timestamp")), found_at)
    return Event(_seq(data), rank, time, _failure(text, str(info.get("py_callstack", "")), inner))


def _failure(text: str, stack: str, inner: Mapping[str, Any]) -> Failure:
    head = _EXCEPTION.match(text)
    kind = head[1] if head else ""
    message = text[head.end() :] if head else text
    detail = {"source": "torch elastic"}
    if "errorCode" in inner:
        detail["error_code"] = str(inner["errorCode"])[:MAX_NAME]
    return Failure(
        what=kind_of(kind, message, stack),
        exception_type=kind[:MAX_NAME],
        message=message[:MAX_MESSAGE],
        traceback=stack[-MAX_TRACEBACK:],
        detail=detail,
    )


def _seq(data: bytes) -> int:
    return IMPORTED + int.from_bytes(hashlib.blake2b(data, digest_size=7).digest())


def _time(stated: object, otherwise: float) -> float:
    """Return the time in a file, which older versions write as text."""
    try:
        time = float(stated) if isinstance(stated, int | float | str) else otherwise
    except ValueError:
        return otherwise
    return time if abs(time) < float("inf") else otherwise
