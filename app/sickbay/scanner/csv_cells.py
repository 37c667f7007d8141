"""One row of a table taken apart, as Python's csv does, but for what it passes in silence."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_ALONE = re.compile(r"\r(?!\n?\Z)")
_PLAIN = "0"
_MOST_CHARACTERS = 1 << 24


class Unbalanced(Exception):
    """A quote is opened and not closed, or something stands between a quote and a delimiter."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table is written.

    Attributes:
        delimiter: stands between two cells.
        escape: stands before a quote that is one; nothing where quotes are doubled.
        quoted: whether quotes mean anything; in many TSV files they are characters like others.
    """

    delimiter: str = ","
    escape: str | None = None
    quoted: bool = True

    @property
    def cut(self) -> str:
        """All of it in one text."""
        return self.delimiter + (self.escape or "" if self.quoted else _PLAIN)

    @classmethod
    def of(cls, cut: str) -> "Dialect":
        """Read what ``cut`` gave."""
        rest = cut[1:]
        return cls(cut[0], quoted=False) if rest == _PLAIN else cls(cut[0], rest or None)


def cells(lines: Iterable[str], dialect: Dialect) -> list[str]:
    """Take apart the first row of some lines, each with its line feed.

    Raises:
        Unbalanced: see there.
    """
    return _read(lines, dialect, strict=True)


def cells_of_line(line: str, dialect: Dialect) -> list[str]:
    """Take apart one line, leniently: a quote within a cell is a character like others.

    Raises:
        Unbalanced: a quote is opened and not closed.
    """
    if '"' not in line or not dialect.quoted:
        return line.rstrip("\n").removesuffix("\r").split(dialect.delimiter)
    made = _read([line.rstrip("\n") + "\n"], dialect, strict=False)
    if made and made[-1].endswith("\n"):
        raise Unbalanced
    return made


def cells_of_row(text: str, dialect: Dialect) -> list[str]:
    """Take apart a row that was found whole, of one line or several."""
    if not dialect.quoted or ('"' not in text and dialect.escape is None):
        return text.split(dialect.delimiter)
    try:
        return cells(physical(text) if "\n" in text else [text], dialect)
    except Unbalanced:
        return cells_of_line(text, dialect)


def physical(text: str) -> Iterator[str]:
    """Cut a text at line feeds alone; each line keeps its own."""
    return (line for line in re.split(r"(?<=\n)", text) if line)


def _read(lines: Iterable[str], dialect: Dialect, *, strict: bool) -> list[str]:
    """Let csv read; it takes a carriage return within a cell for an end, which is none."""
    csv.field_size_limit(_MOST_CHARACTERS)
    plain = (_ALONE.sub(" ", line) if "\r" in line else line for line in lines)
    try:
        return next(
            csv.reader(
                plain, delimiter=dialect.delimiter, escapechar=dialect.escape, strict=strict
            ),
            [],
        )
    except csv.Error:
        raise Unbalanced from None
