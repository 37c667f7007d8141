"""Whether a label is one of the data set's classes."""

import re
from dataclasses import dataclass

from sickbay.contract.finding import Finding
from sickbay.scanner.task import Setup

_SHOWN = 60  # characters of a label in a message
_WHOLE = re.compile(r"[+-]?\d{1,18}(\.0*)?")
_MOST_NAMES = 10  # class names told in a finding


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes as far as known: their names, and how many there are.

    A policy says more than a data set: its names and number go before the layout's own.
    """

    names: tuple[str, ...] = ()
    count: int | None = None

    @classmethod
    def of(cls, setup: Setup) -> "Classes":
        """Return the classes that a scan's policy or its layout names."""
        names = setup.policy.classes or setup.classes
        count = setup.policy.class_count
        return cls(names, len(names) or None if count is None else count)

    def shown(self, number: int) -> str:
        """Return the name of a class by its number, or the number where it has none."""
        return self.names[number] if 0 <= number < len(self.names) else str(number)


def whole_number(text: str) -> int | None:
    """Read a class number as loaders do, ``3`` or ``3.0``; nothing where it is none."""
    return int(float(text)) if _WHOLE.fullmatch(text) else None


def not_a_number(text: str, file: str, item: str | None) -> Finding | None:
    """The class is a name, or a number with a fraction, where numbers are expected."""
    if whole_number(text) is not None:
        return None
    wanted = "of at most 18 digits" if text.isdecimal() else "counted from 0"
    message = f"The class is {_quoted(text)}; it must be a whole number {wanted}."
    return Finding.of("label.wrong-type", file, message, item, label=text[:_SHOWN])


def out_of_range(number: int, classes: Classes, file: str, item: str | None) -> Finding | None:
    """A class number below zero, or not below the number of classes."""
    if number >= 0 and (classes.count is None or number < classes.count):
        return None
    message = f"The class is {number}; {_allowed(classes.count)}."
    return Finding.of(
        "label.out-of-range", file, message, item, label=number, classes=classes.count
    )


def missing(name: str | None, file: str, item: str | None) -> Finding | None:
    """No class is given, or an empty one."""
    if name is not None and name.strip():
        return None
    return Finding.of("label.missing", file, "It has no class.", item)


def unknown(name: str, classes: Classes, file: str, item: str | None) -> Finding | None:
    """The class is none of those that the data set has, where they are known by name."""
    if not classes.names or name in classes.names:
        return None
    message = f"There is no class {_quoted(name)} among the {len(classes.names):,} known."
    known = [one[:_SHOWN] for one in classes.names[:_MOST_NAMES]]
    return Finding.of("label.unknown-class", file, message, item, label=name[:_SHOWN], known=known)


def _allowed(count: int | None) -> str:
    if count is None:
        return "classes are counted from 0"
    return f"there are {count:,} classes, 0 to {count - 1:,}" if count > 1 else "the only one is 0"


def _quoted(text: str) -> str:
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return f"'{''.join(char if char.isprintable() else '?' for char in shown)}'"
