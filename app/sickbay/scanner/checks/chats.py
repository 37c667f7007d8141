"""What may be wrong with a conversation: a list of messages, each of a role."""

from collections.abc import Iterator, Mapping
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.excerpt import excerpt

KEYS = ("messages", "conversations", "conversation")
"""Keys under which rows keep conversations."""
_ROLE, _CONTENT = ("role", "from"), ("content", "value")
_ROLES = {
    *("system", "user", "assistant", "tool", "function", "developer"),
    *("human", "gpt", "model", "bot", "chatgpt", "bard", "bing"),
    *("observation", "function_call", "ipython", "environment"),
}
_MAY_BE_BLANK = {"system", "developer", "tool", "observation", "function", "ipython"}
_CALLS = ("tool_calls", "function_call")


def malformed(key: str, messages: Any) -> Finding | None:
    """A conversation that chat templates stop on: the first thing wrong with it."""
    if not isinstance(messages, list) or not messages:
        return _mismatch(key, f"The field {key!r} is no list of messages, or an empty one.")
    for number, message in enumerate(messages, 1):
        what = _fault(message)
        if what is not None:
            return _mismatch(key, f"Message {number} of {key!r} {what}.", number)
    return None


def blank(key: str, messages: Any) -> Finding | None:
    """A message of a person or model in which nothing is said."""
    for number, message in enumerate(messages if isinstance(messages, list) else (), 1):
        if not isinstance(message, dict) or any(message.get(call) for call in _CALLS):
            continue
        content = _first(message, _CONTENT)
        if _first(message, _ROLE) not in _MAY_BE_BLANK and content in ("", [], None):
            said = f"Message {number} of {key!r} is empty."
            return Finding.of("text.empty", "", said, field=f"{key}[{number - 1}]")
    return None


def texts(key: str, messages: Any) -> Iterator[Field]:
    """Yield what is said in a conversation."""
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        content = _first(message, _CONTENT) if isinstance(message, dict) else None
        parts = content if isinstance(content, list) else [content]
        for part in parts:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                silent = isinstance(content, list) or _first(message, _ROLE) in _MAY_BE_BLANK
                yield Field(f"{key}[{number}]", text, main=bool(text) and not silent)


def _fault(message: Any) -> str | None:
    if not isinstance(message, dict):
        return "is no object"
    role = _first(message, _ROLE)
    if not isinstance(role, str):
        return "has no role"
    if role.lower() not in _ROLES:
        return f"has the role {excerpt(role)[:40]!r}, which no chat template knows"
    called = any(message.get(call) for call in _CALLS)
    content = _first(message, _CONTENT)
    if isinstance(content, (str, list)) or (content is None and called):
        return None
    return "has no content" if content is None else "has a content that is no text"


def _first(message: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((message[key] for key in keys if key in message), None)


def _mismatch(key: str, message: str, number: int | None = None) -> Finding:
    field = key if number is None else f"{key}[{number - 1}]"
    return Finding.of("annotation.schema-mismatch", "", message, field=field)
