"""How each key of a policy is read: strictly, with one sentence for a mistake, naming the key."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Any

from sickbay.contract.defects import Severity, defect
from sickbay.contract.errors import BadInput

MOST_CLASSES = 100_000
MOST_AXES = 32
"""As many as NumPy before 2.0 allows."""
ANY = "*"
"""In a shape: any length."""
CHOICES = (*(severity.value for severity in Severity), "silent")

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[^\x00-\x1f]{1,255}")

Reader = Callable[[str, Any], Any]


def whole(default: int | None, least: int, most: int) -> Any:
    """Declare a whole number of a policy; it may be nothing where nothing is its default."""

    def reads(name: str, value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise BadInput(f"The policy's {name} is not a whole number from {least:,} to {most:,}.")
        return value

    return field(default=default, metadata={"read": reads})


def number(default: float, least: float, most: float) -> Any:
    """Declare a number of a policy."""

    def reads(name: str, value: Any) -> float:
        if (
            type(value) not in {int, float}
            or not math.isfinite(value)
            or not least <= value <= most
        ):
            raise BadInput(f"The policy's {name} is not a number from {least:,} to {most:,}.")
        return float(value) + 0.0  # minus nought is nought

    return field(default=default, metadata={"read": reads})


def read(policy: type[Any], value: Any) -> dict[str, Any]:
    """Read an object into the fields of a policy; null stands for a default that is nothing.

    Raises:
        BadInput: it is no object, a key is unknown, or a value is not allowed.
    """
    if not isinstance(value, Mapping):
        raise BadInput("A policy is not an object of keys and values.")
    known = {one.name: one for one in fields(policy)}
    for name in value:
        if name not in known:
            raise BadInput(_unknown(name, known))
    return {
        name: known[name].metadata["read"](name, given)
        for name, given in value.items()
        if not (given is None and known[name].default is None)
    }


def _unknown(name: Any, known: Mapping[str, Any]) -> str:
    meant = str(name).replace("-", "_")
    hint = f"; it is written {meant}" if meant in known else ""
    return f"A policy has no key {str(name)[:60]!r}{hint}."


def severities(name: str, value: Any) -> dict[str, str]:
    """Read a table of codes: ``"image.dark" = "warn"``, or the same as ``image.dark = "warn"``."""
    if not isinstance(value, Mapping):
        raise BadInput(f"The policy's {name} is not a table of codes.")
    return {code: _severity(code, said) for code, said in sorted(_flat(value).items())}


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for code, said in value.items():
        if isinstance(said, Mapping):
            flat |= {f"{code}.{rest}": one for rest, one in said.items()}
        else:
            flat[code] = said
    return flat


def _severity(code: str, said: Any) -> str:
    defect(code)
    if not isinstance(said, str) or said not in CHOICES:
        raise BadInput(f"The policy's severity of {code} is none of {', '.join(CHOICES)}.")
    return said


def class_names(name: str, value: Any) -> tuple[str, ...]:
    """Read the names of the classes, each once."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_CLASSES:
        raise BadInput(f"The policy's {name} is not a list of 1 to {MOST_CLASSES:,} names.")
    for place, one in enumerate(value, 1):
        if not isinstance(one, str) or not _NAME.fullmatch(one):
            raise BadInput(f"Entry {place:,} of the policy's {name} is not a name in one line.")
    if len(set(value)) != len(value):
        raise BadInput(f"The policy's {name} holds a name twice.")
    return tuple(value)


def sha256(name: str, value: Any) -> str:
    """Read a digest."""
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise BadInput(f"The policy's {name} is not a SHA-256 in hexadecimal.")
    return value


def shape(name: str, value: Any) -> tuple[int | None, ...]:
    """Read a shape: lengths of axes, where ``"*"`` (in JSON also null) is any length."""
    if not isinstance(value, list | tuple) or len(value) > MOST_AXES:
        raise BadInput(f"The policy's {name} is not a list of at most {MOST_AXES} lengths.")
    return tuple(_length(name, one) for one in value)


def _length(name: str, value: Any) -> int | None:
    if value is None or value == ANY:
        return None
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise BadInput(f'The policy\'s {name} holds something else than lengths and "*".')
    return value
