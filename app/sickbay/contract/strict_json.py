"""JSON as it is allowed in at the door.

Refused: NaN and infinities, integers outside 64 bits, lone surrogates, NUL, duplicate keys,
nesting over 64 levels. Error sentences never repeat the input.
"""

import json
from collections.abc import Iterator
from typing import Any

from sickbay.contract.errors import BadInput

MAX_DEPTH = 64
_INT64 = 1 << 63


def loads(data: bytes) -> Any:
    """Parse one JSON value from UTF-8 bytes.

    Raises:
        BadInput: it is not JSON, or holds something from the list above.
    """
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_int64,
            object_pairs_hook=_unique,
        )
    except UnicodeDecodeError as error:
        raise BadInput(f"The JSON is not UTF-8: bad byte at offset {error.start}.") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"The JSON cannot be read: {error.msg} at character {error.pos}.") from None
    except RecursionError:
        raise BadInput(f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    _refuse_deep_or_odd(value, escapes="\\u" in text)
    return value


def _refuse_constant(name: str) -> float:
    raise BadInput(f"The JSON holds {name}; write non-finite numbers as strings.")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise BadInput("The JSON holds a number too large for a 64-bit float.")
    return number


def _int64(digits: str) -> int:
    if len(digits) > 20 or not -_INT64 <= (number := int(digits)) < _INT64:  # noqa: PLR2004 (sign and 19 digits)
        raise BadInput("The JSON holds an integer outside 64 bits.")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadInput("The JSON holds the same key twice in one object.")
    return made


def _refuse_deep_or_odd(value: Any, *, escapes: bool) -> None:
    """Walk the value level by level; strings can only be odd where the text had escapes."""
    level, depth = [value], 0
    while level:
        if (depth := depth + 1) > MAX_DEPTH:
            raise BadInput(f"The JSON is nested deeper than {MAX_DEPTH} levels.")
        if escapes:
            for text in (item for item in level if isinstance(item, str)):
                _refuse_odd_text(text)
        level = [child for item in level for child in _children(item)]


def _children(item: Any) -> Iterator[Any]:
    if isinstance(item, dict):
        yield from item
        yield from item.values()
    elif isinstance(item, list):
        yield from item


def _refuse_odd_text(text: str) -> None:
    if "\x00" in text:
        raise BadInput("The JSON holds a NUL character.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("The JSON holds half of a surrogate pair.") from None
