"""One way to write a JSON value, so that the same content always has the same digest.

UTF-8 without a byte-order mark, keys sorted, no spaces, no floats, integers below 2^53. As every
key is ASCII, this is what RFC 8785 prescribes, and ``orjson`` with sorted keys agrees as well.
"""

import json
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring as _quoted
from typing import Any

from sickbay.contract.errors import BadInput

MOST_EXACT = 1 << 53
"""Integers from here on are not exact in the doubles of RFC 8785's readers."""

_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def row(keys: Iterable[str], values: Iterable[int | str | Sequence[str]]) -> bytes:
    """Return a flat object as one canonical line.

    Written out by hand, at half the time of ``json``: a release has as many rows as samples. That
    the keys are sorted and the integers exact is the caller's business.
    """
    fields = [f'"{key}":{_written(value)}' for key, value in zip(keys, values, strict=True)]
    return f"{{{','.join(fields)}}}\n".encode()


def _written(value: int | str | Sequence[str]) -> str:
    if type(value) is str:
        return _quoted(value)
    return str(value) if type(value) is int else _encode(value)


def document(value: Any) -> bytes:
    """Return a nested value as one canonical line.

    Raises:
        BadInput: it holds a float, an integer of 2^53 or more, or a key that is not ASCII.
    """
    _refuse_inexact(value)
    return _encode(value).encode("utf-8") + b"\n"


def _refuse_inexact(value: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.isascii():
                raise BadInput("A key that is not ASCII cannot stand in a release.")
            _refuse_inexact(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_inexact(item)
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) >= MOST_EXACT):
        raise BadInput("A float or an integer of 2^53 or more cannot stand in a release.")
