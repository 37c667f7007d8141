"""One line of JSON, read strictly, with the place of its fault."""

import json
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.strict_json import MAX_DEPTH


class Malformed(Exception):
    """Why a line is no JSON that can be used, the character where that shows, and its code."""

    def __init__(self, why: str, at: int = 0, code: str = "annotation.malformed") -> None:
        super().__init__(why, at)
        self.why, self.at, self.code = why, at, code


def loads(text: str) -> Any:
    """Read one value.

    Raises:
        Malformed: it is no JSON; or it holds NaN or an infinity, a key twice, half of a surrogate
            pair, or is nested deeper than 64 levels.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed(f"is no JSON: {_plain(error.msg)}", error.pos) from None
    except BadInput as error:
        raise Malformed(str(error)) from None
    except RecursionError:
        raise Malformed(_TOO_DEEP) from None
    except ValueError:  # Python reads no integer of more than some thousand digits
        raise Malformed("holds a number of too many digits") from None
    _refuse_deep_or_odd(value, escapes="\\u" in text and _is_text(text))
    return value


_TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels"


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:].removesuffix(" at")


def _refuse_constant(name: str) -> float:
    raise BadInput(f"holds {name}, which is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadInput("holds a key twice in one object")
    return made


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def _refuse_deep_or_odd(value: Any, *, escapes: bool) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
                inner += one if escapes else ()
            elif isinstance(one, list):
                inner += one
            elif escapes and isinstance(one, str) and not _is_text(one):
                raise Malformed("holds half of a surrogate pair", code="text.bad-encoding")
        if inner and depth >= MAX_DEPTH + 1:
            raise Malformed(_TOO_DEEP)
        level = inner


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
