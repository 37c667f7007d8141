"""The labels of one column: of which kind most are, and which are not."""

import json
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import isfinite
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.sources.table_rows import shown

MOST_CLASSES = 10_000
"""Names that are kept; with more, a label names no class."""
_NOTHING = frozenset({"none", "null", "na", "n/a", "<na>", "#n/a", "-"})
"""In a column of numbers these stand for no label; among names they may be one."""
_INT64 = 1 << 63
_SHOWN = 60
_SEVERAL, _MEASURED = 2, 0.1  # labels with a fraction, and their share of the numbers
_CLASSES = 0.1  # share of digits among letters, from which on they are classes


class Kind(Enum):
    """Of what kind a label is."""

    MISSING = "nothing"
    WHOLE = "whole numbers"
    NUMBER = "numbers"
    NAME = "names"
    OTHER = "lists or objects"
    ENDLESS = "no finite numbers"


@dataclass(frozen=True, slots=True)
class Label:
    """One label: its kind, what it says as text, and its value where it is a number."""

    kind: Kind
    text: str
    number: float = 0.0


def of_text(text: str) -> Label:
    """Read a label from a cell."""
    bare = text.strip()
    if not bare or bare.lower() == "nan":
        return Label(Kind.MISSING, bare)
    if bare.isdecimal() and bare.isascii():
        return Label(Kind.WHOLE, bare, float(bare))
    try:
        number = float(bare) if "_" not in bare else None
    except ValueError:
        number = None
    if number is None:
        return Label(Kind.NAME, bare)
    if not isfinite(number):
        return Label(Kind.ENDLESS, bare)
    whole = bare.lstrip("+-").isdecimal()
    return Label(Kind.WHOLE if whole else Kind.NUMBER, bare, number)


def of_json(value: Any) -> Label:
    """Read a label from JSON, which says itself of what kind it is."""
    match value:
        case None:
            return Label(Kind.MISSING, "")
        case bool():
            return Label(Kind.NAME, str(value).lower())
        case int():
            return Label(Kind.WHOLE, str(value), float(max(-_INT64, min(value, _INT64))))
        case float():
            return Label(Kind.NUMBER, str(value), value)
        case str():
            return Label(Kind.NAME if value.strip() else Kind.MISSING, value.strip())
        case _:
            return Label(Kind.OTHER, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class Labels:
    """The labels of one column, looked through once to know what is usual.

    Args:
        policy: which classes there are.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._counts: Counter[Kind] = Counter()
        self._single = True
        self._names: set[str] = set()

    def note(self, label: Label) -> None:
        """Count a label."""
        self._counts[label.kind] += 1
        self._single = self._single and len(label.text) <= 1
        if label.kind is Kind.NAME and len(self._names) <= MOST_CLASSES:
            self._names.add(label.text)

    @property
    def classes(self) -> set[str]:
        """Names of the classes; none where labels are numbers, or too many to be classes."""
        names = self._usual is Kind.NAME and len(self._names) <= MOST_CLASSES
        return {shown(name) for name in self._names} if names else set()

    @cached_property
    def _usual(self) -> Kind:
        """What most labels are; numbers count together, and are whole but for a stray one.

        Where several, and not so few, have a fraction, labels are measured: 3 beside 2.5 is right.
        """
        counts = self._counts
        numbers = counts[Kind.WHOLE] + counts[Kind.NUMBER]
        whole = counts[Kind.NUMBER] < max(_SEVERAL, _MEASURED * numbers)
        kinds = {
            Kind.WHOLE if whole else Kind.NUMBER: numbers,
            Kind.NAME: counts[Kind.NAME],
            Kind.OTHER: counts[Kind.OTHER],
        }
        return max(kinds, key=lambda kind: kinds[kind])

    @cached_property
    def _letters(self) -> bool:
        """Whether labels are letters and digits, a class each; a stray one is no class."""
        counts = self._counts
        rarer = min(counts[Kind.WHOLE], counts[Kind.NAME])
        return self._single and rarer >= _CLASSES * counts.total()

    def check(self, label: Label) -> Finding | None:
        """Say what is wrong with a label, beside the others of its column."""
        match label.kind:
            case Kind.MISSING:
                return self._missing()
            case Kind.ENDLESS:
                return _finding("label.malformed", f"{_said(label)} is no finite number.", label)
            case Kind.WHOLE | Kind.NUMBER:
                return self._odd_number(label)
            case Kind.NAME:
                return self._odd_name(label)
            case Kind.OTHER:
                return None if self._usual is Kind.OTHER else self._wrong_type(label)

    def _missing(self) -> Finding | None:
        """Say that there is no label, unless there is none in the whole column."""
        if self._counts[Kind.MISSING] == self._counts.total():
            return None
        return Finding.of("label.missing", "", "The row has no label; others of its column do.")

    def _odd_number(self, label: Label) -> Finding | None:
        usual, count = self._usual, self._policy.class_count
        if usual is Kind.NAME:
            known = label.text in (self._policy.classes or ())
            return None if known or self._letters else self._mixed(label)
        if usual is Kind.OTHER:
            return self._wrong_type(label)
        if not -_INT64 < label.number < _INT64:
            return _finding("label.malformed", f"{_said(label)} does not fit 64 bits.", label)
        if label.kind is Kind.NUMBER and (usual is Kind.WHOLE or count is not None):
            whole = usual is Kind.NUMBER and label.number.is_integer()
            if not whole:
                return self._wrong_type(label)
        if count is not None and not 0 <= label.number < count:
            message = f"{_said(label)} is outside the {count:,} classes, 0 to {count - 1:,}."
            return _finding("label.out-of-range", message, label)
        return None

    def _odd_name(self, label: Label) -> Finding | None:
        classes = self._policy.classes
        if self._usual is Kind.NAME:
            if classes is None or label.text in classes:
                return None
            message = f"{_said(label)} is none of the {len(classes):,} classes."
            return _finding("label.unknown-class", message, label)
        if classes is not None and label.text in classes:
            return None
        if label.text.lower() in _NOTHING:
            return self._missing()
        if self._usual is Kind.OTHER or label.text.isdecimal():
            return self._wrong_type(label)
        return None if self._letters else self._mixed(label)

    def _mixed(self, label: Label) -> Finding:
        kind = "a name" if label.kind is Kind.NAME else "a number"
        message = f"{_said(label)} is {kind}, most of its column are {self._usual.value}."
        return _finding("label.mixed-kinds", message, label)

    def _wrong_type(self, label: Label) -> Finding:
        message = f"{_said(label)} is of another type than most of its column: {self._usual.value}."
        return _finding("label.wrong-type", message, label)


def _said(label: Label) -> str:
    shown = excerpt(label.text)
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
    return f"The label {shown!r}" if label.kind is Kind.NAME else f"The label {shown}"


def _finding(code: str, message: str, label: Label) -> Finding:
    return Finding.of(code, "", message, value=excerpt(label.text))
