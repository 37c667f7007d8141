"""Whatever a training script holds, as plain JSON of bounded size, with secrets taken out."""

import dataclasses
import itertools
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sickbay.contract.fields import number_to_json

HIDDEN, TOO_LARGE, TOO_DEEP = "(hidden)", "(too large)", "(too deep)"
_MOST_DEPTH, _MOST_ITEMS, _MOST_TEXT, _MOST_KEY = 8, 1000, 2000, 200
_MOST_VALUES = 20_000
"""Values in all: objects that hold one another are a tree without end."""
_INT64 = 1 << 63
_SECRET = re.compile(
    r"(?:^|[_\-.])(?:password|passwd|pwd|secret|token|credentials?|api[_\-.]?key|access[_\-.]?key|"
    r"private[_\-.]?key|auth)(?:$|[_\-.])",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"sickbay_\w+|hf_\w{20,}|sk-[\w-]{16,}|gh[pousr]_\w{20,}|AKIA\w{16}|xox[abp]-[\w-]{10,}|"
    r"eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*"
)
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")


@dataclasses.dataclass(slots=True)
class _Room:
    """How many more values are read."""

    left: int = _MOST_VALUES


def text(value: str, most: int) -> str:
    """Return text that can travel: no half characters, no NUL; too long a one keeps both ends."""
    sound = value.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    if len(sound) <= most:
        return sound
    return f"{sound[: most // 3]}\n…\n{sound[-(most - most // 3 - 3) :]}"


def without_secrets(value: str) -> str:
    """Return text in which logins in URLs and well-known forms of tokens are hidden."""
    return _SECRET_VALUE.sub(HIDDEN, _LOGIN.sub(f"{HIDDEN}@", value))


def names_secret(name: str) -> bool:
    """Whether a setting of this name is better not shown; ``tokenizer`` and ``max_tokens`` are."""
    return _SECRET.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)) is not None


def plain(value: Any, most_bytes: int) -> dict[str, Any]:
    """Return a mapping, namespace or dataclass as JSON of at most so many bytes.

    What cannot be JSON becomes its text; what is too deep, too long or too much is cut.
    """
    made = _plain(value, _MOST_DEPTH, _Room())
    if not isinstance(made, dict):
        made = {"value": made}
    return _cut(made, most_bytes)


def _cut(made: dict[str, Any], most_bytes: int) -> dict[str, Any]:
    """Replace the largest values by a remark until the rest fits."""
    left = len(json.dumps(made))
    by_size = sorted(made, key=lambda name: len(json.dumps(made[name])), reverse=True)
    for name in by_size:
        if left <= most_bytes:
            return made
        left -= len(json.dumps(made[name])) - len(json.dumps(TOO_LARGE))
        made[name] = TOO_LARGE
    return made if left <= most_bytes else {}


def _as_mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
    if hasattr(value, "__dict__") and not callable(value):
        return vars(value)
    return value


def _plain(value: Any, depth: int, room: _Room) -> Any:
    """Return a value as JSON; whatever a foreign object's own methods do, this returns."""
    room.left -= 1
    try:
        return _sound(value, depth, room)
    except Exception:  # noqa: BLE001 (a setting that cannot be read must not cost the others)
        return f"({type(value).__name__})"


def _sound(value: Any, depth: int, room: _Room) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < _INT64 else str(value)[:_MOST_TEXT]
    if isinstance(value, float):
        return number_to_json(float(value))
    if isinstance(value, str):
        return without_secrets(text(value, _MOST_TEXT))
    if room.left <= 0:
        return TOO_LARGE
    return _nested(value, depth, room) if depth else TOO_DEEP


def _nested(value: Any, depth: int, room: _Room) -> Any:
    value = _as_mapping(value) if not hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        pairs = itertools.islice(value.items(), max(0, min(_MOST_ITEMS, room.left)))
        return dict(_setting(name, item, depth, room) for name, item in pairs)
    if isinstance(value, list | tuple | set | frozenset):
        items = itertools.islice(value, max(0, min(_MOST_ITEMS, room.left)))
        return [_plain(item, depth - 1, room) for item in items]
    if isinstance(value, os.PathLike):
        return text(os.fsdecode(value), _MOST_TEXT)
    return _odd(value, room)


def _setting(name: Any, item: Any, depth: int, room: _Room) -> tuple[str, Any]:
    try:
        key = str(name)
    except Exception:  # noqa: BLE001 (as above)
        key = f"({type(name).__name__})"
    shown = isinstance(item, int | float | None)
    hidden = names_secret(key) and not shown
    return text(key, _MOST_KEY), HIDDEN if hidden else _plain(item, depth - 1, room)


def _odd(value: Any, room: _Room) -> Any:
    """Return a foreign number as one, everything else as its text."""
    with suppress(Exception):
        if getattr(value, "size", None) == 1 and hasattr(value, "tolist"):
            return _plain(value.tolist(), 1, room)
    return without_secrets(text(str(value), _MOST_TEXT))
