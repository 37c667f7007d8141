"""The fields of one JSON object from outside, each taken once and trusted in nothing.

A sentence names the field and what it must be; it never repeats what it was.
"""

import json
import math
from array import array
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from sickbay.contract.errors import BadInput

Choice = TypeVar("Choice", bound=StrEnum)
NOT_FINITE: Mapping[str, float] = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""How a number that JSON cannot hold is written."""
_MOST_WHOLE = (1 << 63) - 1
MAX_COUNT = 1 << 40
"""Of a count of points: sums over causes and tens of thousands of ranks stay within 64 bits."""


def number_to_json(number: float) -> float | str:
    """Return the number, or the word that stands for it where JSON has none."""
    if math.isfinite(number):
        return number
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


class Fields:
    """What is left of one object; every method takes one field out of it."""

    def __init__(self, value: Any, what: str) -> None:
        if not isinstance(value, dict):
            raise BadInput(f"{what} is not a JSON object.")
        self._left = dict(value)
        self._what = what

    def end(self) -> None:
        """Refuse what nobody took.

        Raises:
            BadInput: a field is left that this version does not know.
        """
        if self._left:
            raise BadInput(f"{self._what} has a field that is not known here.")

    def text(self, name: str, most: int, default: str | None = None) -> str:
        """Take a text of at most ``most`` characters."""
        value = self._taken(name, default)
        if not isinstance(value, str) or len(value) > most:
            raise BadInput(f"{name} is not a text of at most {most:,} characters.")
        return value

    def text_or_nothing(self, name: str, most: int) -> str | None:
        """Take a text, or nothing where it is missing, null or empty."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.text(name, most) or None

    def whole(self, name: str, least: int = 0, most: int = _MOST_WHOLE) -> int:
        """Take a whole number from ``least`` to ``most``."""
        value = self._taken(name, None)
        if type(value) is not int or not least <= value <= most:
            wanted = f"at least {least}" if most == _MOST_WHOLE else f"{least:,} to {most:,}"
            raise BadInput(f"{name} is not a whole number of {wanted}.")
        return value

    def whole_or_nothing(self, name: str, least: int = 0) -> int | None:
        """Take a whole number, or nothing where it is missing or null."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.whole(name, least)

    def finite(self, name: str) -> float:
        """Take a number."""
        value = self._taken(name, None)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise BadInput(f"{name} is not a finite number.")
        return float(value)

    def number_or_nothing(self, name: str) -> float | None:
        """Take a number that may be one of the words for NaN and the infinities."""
        value = self._left.pop(name, None)
        return None if value is None else number(value, name)

    def truth(self, name: str) -> bool:
        """Take true or false; missing is false."""
        value = self._taken(name, default=False)
        if not isinstance(value, bool):
            raise BadInput(f"{name} is neither true nor false.")
        return value

    def choice(self, name: str, of: type[Choice]) -> Choice:
        """Take one of the words of an enumeration."""
        value = self._taken(name, None)
        try:
            return of(value)
        except ValueError:
            raise BadInput(f"{name} is none of {', '.join(of)}.") from None

    def mapping(self, name: str, most: int) -> dict[str, Any]:
        """Take an object of at most ``most`` bytes as JSON; missing is empty."""
        value = self._taken(name, {})
        if not isinstance(value, dict) or (value and len(json.dumps(value)) > most):
            raise BadInput(f"{name} is not an object of at most {most:,} bytes.")
        return value

    def counts(self, name: str) -> dict[str, int]:
        """Take an object of a few whole numbers; missing is empty."""
        value = self.mapping(name, 1024)
        if any(type(one) is not int or not 0 <= one <= MAX_COUNT for one in value.values()):
            raise BadInput(f"{name} does not hold whole numbers of 0 to {MAX_COUNT:,} only.")
        return value

    def list(self, name: str, most: int) -> list[Any]:
        """Take a list of at most ``most`` items; missing is empty."""
        value = self._taken(name, [])
        if not isinstance(value, list) or len(value) > most:
            raise BadInput(f"{name} is not a list of at most {most:,} items.")
        return value

    def _taken(self, name: str, default: Any) -> Any:
        value = self._left.pop(name, default)
        if value is None:
            raise BadInput(f"{self._what} lacks {name}.")
        return value


def number(value: Any, name: str) -> float:
    """Return a JSON number, or what a word for NaN or an infinity means.

    Raises:
        BadInput: it is neither.
    """
    if type(value) is int or type(value) is float:
        return float(value)
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    raise BadInput(f"{name} is neither a number nor one of nan, inf, -inf.")


def with_words(items: list[Any]) -> list[Any]:
    """Return numbers of which some are words for NaN or an infinity; others stay as they are."""
    if str not in set(map(type, items)):
        return items
    return [NOT_FINITE.get(item, item) if isinstance(item, str) else item for item in items]


def column(code: str, items: list[Any], name: str) -> "array[Any]":
    """Return JSON numbers as an array of that type code.

    Raises:
        BadInput: one is no number, or does not fit.
    """
    try:
        made = array(code, items)
    except (TypeError, OverflowError):
        raise BadInput(f"{name} holds something that is not such a number.") from None
    if bool in set(map(type, items)):
        raise BadInput(f"{name} holds true or false.")
    return made
