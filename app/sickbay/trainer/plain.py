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
    made = _plain(_as_mapping(value), _MOST_DEPTH)
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


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < _INT64 else str(value)[:_MOST_TEXT]
    if isinstance(value, float):
        return number_to_json(float(value))
    if isinstance(value, str):
        return without_secrets(text(value, _MOST_TEXT))
    return _nested(value, depth) if depth else TOO_DEEP


def _nested(value: Any, depth: int) -> Any:
    value = _as_mapping(value) if not hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        pairs = itertools.islice(value.items(), _MOST_ITEMS)
        return {text(str(name), _MOST_KEY): _value(str(name), item, depth) for name, item in pairs}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth - 1) for item in itertools.islice(value, _MOST_ITEMS)]
    if isinstance(value, os.PathLike):
        return text(os.fsdecode(value), _MOST_TEXT)
    return _odd(value)


def _value(name: str, item: Any, depth: int) -> Any:
    shown = isinstance(item, int | float | None)
    return HIDDEN if names_secret(name) and not shown else _plain(item, depth - 1)


def _odd(value: Any) -> Any:
    """Return a foreign number as one, everything else as its text."""
    with suppress(Exception):
        if getattr(value, "size", None) == 1 and hasattr(value, "tolist"):
            return _plain(value.tolist(), 1)
    with suppress(Exception):
        return without_secrets(text(str(value), _MOST_TEXT))
    return f"({type(value).__name__})"
