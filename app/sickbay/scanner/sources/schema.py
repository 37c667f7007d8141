"""Which keys the objects of a file have, and of which type their values are.

The rules: a key belongs to a file if at most one object in twenty lacks it (one, where there are
fewer than twenty, of at least four). A value's type is that of more than three in four of the
values of its key, or of all but one. ``null`` stands for no value and is right anywhere; whole
numbers and others are one type. Keys that few objects have, and types that divide a key more
evenly, are how the file is: the latter is said once, of the file.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.scanner.excerpt import excerpt

_FEWEST = 4
_LACKING = 0.05
_USUAL = 0.75
_MOST_KEYS = 1000  # of a file; with more, keys are data
_TYPES = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_NULL = "null"


class Schema:
    """Keys and types of the objects of one file, counted once."""

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()
        self._keys: dict[str, Counter[str]] = {}
        self._usual: dict[str, str] = {}
        self._needed: dict[str, None] = {}
        self._row = ""

    def note(self, value: Any) -> None:
        """Count one line's value."""
        self._rows[_TYPES[type(value)]] += 1
        if isinstance(value, dict) and len(self._keys) <= _MOST_KEYS:
            for key, inner in value.items():
                self._keys.setdefault(key, Counter())[_TYPES[type(inner)]] += 1

    def settle(
        self, others: Container[str | None] = (), optional: Container[str | None] = ()
    ) -> None:
        """Find out what is usual.

        Args:
            others: keys that are judged elsewhere.
            optional: keys that no object needs.
        """
        for key in [key for key in self._keys if key in others]:
            del self._keys[key]
        self._row = self._rows.most_common(1)[0][0] if self._rows else ""
        if len(self._keys) > _MOST_KEYS:
            return
        objects = self._rows[_TYPES[dict]]
        few = max(1.0, objects * _LACKING) if objects >= _FEWEST else 0.0
        for key, types in self._keys.items():
            if objects - types.total() <= few and key not in optional:
                self._needed[key] = None
            usual, count = _most(types)
            if _is_usual(count, types.total() - types[_NULL]):
                self._usual[key] = usual

    def is_mostly(self, key: str, kind: type) -> bool:
        """Whether more than half of the objects have a value of a type under a key."""
        types = self._keys.get(key, Counter())
        return types[_TYPES[kind]] * 2 > self._rows[_TYPES[dict]]

    def divided(self) -> Iterator[str]:
        """Say of which keys the values are of several types, none of them usual."""
        for key, types in self._keys.items() if len(self._keys) <= _MOST_KEYS else ():
            if key not in self._usual and key in self._needed and types.total() > types[_NULL]:
                kinds = ", ".join(
                    f"{kind} {count:,} times" for kind, count in sorted(types.items())
                )
                yield f"The field {excerpt(key)[:80]!r} is not of one type: {kinds}."

    def check(self, value: Any) -> Finding | None:
        """Say in what a line differs from the rest: the first thing."""
        kind = _TYPES[type(value)]
        if kind != self._row:
            return _mismatch(
                f"The line is {kind}, most lines are {self._row}.", "", kind, self._row
            )
        if not isinstance(value, dict):
            return None
        return self._check_types(value) or self._check_keys(value)

    def _check_types(self, value: Mapping[str, Any]) -> Finding | None:
        for key, inner in value.items():
            found, usual = _TYPES[type(inner)], self._usual.get(key, _NULL)
            if _NULL not in {found, usual} and found != usual:
                message = f"The field {excerpt(key)[:80]!r} is {found}, usually it is {usual}."
                return _mismatch(message, key, found, usual)
        return None

    def _check_keys(self, value: Mapping[str, Any]) -> Finding | None:
        for key in self._needed:
            if key not in value:
                message = f"The field {excerpt(key)[:80]!r} is missing; other lines have it."
                return _mismatch(message, key, "nothing", self._usual.get(key, "there"))
        return None


def _is_usual(count: int, filled: int) -> bool:
    """Whether a type is that of nearly all values; of three values one may be another."""
    alone = filled - count == 1 and count > 1
    return alone or count > _USUAL * filled


def _most(types: Counter[str]) -> tuple[str, int]:
    filled = [(kind, count) for kind, count in types.most_common() if kind != _NULL]
    return filled[0] if filled else (_NULL, 0)


def _mismatch(message: str, key: str, found: str, usual: str) -> Finding:
    detail = {"field": excerpt(key), "found": found, "usual": usual}
    return Finding.of("annotation.schema-mismatch", "", message, None, **detail)
