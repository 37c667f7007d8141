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
_NO_INT64 = "The JSON holds an integer outside 64 bits."
_INFINITY = float("inf")
_NUMBERS = {int, float}


def loads(data: bytes) -> Any:
    """Parse one JSON value from UTF-8 bytes.

    Raises:
        BadInput: it is not JSON, or holds something from the list above.
    """
    try:
        text = data.decode("utf-8")
        value = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise BadInput(f"The JSON is not UTF-8: bad byte at offset {error.start}.") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"The JSON cannot be read: {error.msg} at character {error.pos}.") from None
    except ValueError:  # Python reads no integer of more than some thousand digits
        raise BadInput(_NO_INT64) from None
    except RecursionError:
        raise BadInput(f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    _refuse_deep_or_odd(value, escapes="\\u" in text)
    return value


def _refuse_constant(name: str) -> float:
    raise BadInput(f"The JSON holds {name}; write non-finite numbers as strings.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadInput("The JSON holds the same key twice in one object.")
    return made


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def _refuse_deep_or_odd(value: Any, *, escapes: bool) -> None:
    """Walk the value level by level; strings can only be odd where the text had escapes."""
    level, depth = [[value]], 0
    while level:
        if (depth := depth + 1) > MAX_DEPTH:
            raise BadInput(f"The JSON is nested deeper than {MAX_DEPTH} levels.")
        level = [inner for items in level for inner in _inside(items, escapes=escapes) if inner]


def _inside(items: list[Any], *, escapes: bool) -> Iterator[list[Any]]:
    """Check some items, and yield what the containers among them hold.

    Kinds are looked at before items: a long list of numbers costs next to nothing.
    """
    kinds = set(map(type, items))
    if kinds & _NUMBERS:
        _refuse_huge(items if kinds <= _NUMBERS else [n for n in items if type(n) in _NUMBERS])
    if escapes and str in kinds:
        for text in (item for item in items if isinstance(item, str)):
            _refuse_odd_text(text)
    for item in items if kinds & {dict, list} else ():
        if isinstance(item, dict):
            yield [*item, *item.values()]
        elif isinstance(item, list):
            yield item


def _refuse_huge(numbers: list[Any]) -> None:
    """Refuse integers outside 64 bits, and floats that were too large to be any."""
    if _INFINITY in numbers or -_INFINITY in numbers:
        raise BadInput("The JSON holds a number too large for a 64-bit float.")
    if not -_INT64 <= min(numbers) <= max(numbers) < _INT64:
        for number in numbers:
            if type(number) is int and not -_INT64 <= number < _INT64:
                raise BadInput(_NO_INT64)


def _refuse_odd_text(text: str) -> None:
    if "\x00" in text:
        raise BadInput("The JSON holds a NUL character.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("The JSON holds half of a surrogate pair.") from None
