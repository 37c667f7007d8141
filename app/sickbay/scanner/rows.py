"""A row of a table or a line of JSON as it goes to the child that checks it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 2 << 20
"""Of a row. A longer one is hashed where it lies, and held: no text for training is as long."""
MOST_LINE = 256 << 20
"""Bytes of a line, as of a file read at once; beyond them the rest of its file is given up."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        format: ``CSV``, ``TSV`` or ``JSONL``.
        text: the row without its line break; bytes that are not UTF-8 are surrogates.
        at: offset of its first byte in the file.
        cut: delimiter, and the escape character where there is one; empty for JSON.
        fields: name, column or key, and whether a row is nothing without it, of each text; nothing
            where the row cannot be taken apart.
    """

    format: str
    text: str
    at: int = 0
    cut: str = ""
    fields: Sequence[tuple[str, int, bool]] | None = None

    def to_json(self) -> list[Any]:
        """Return it as JSON can carry it."""
        return [self.format, self.text, self.at, self.cut, self.fields]

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> "Row":
        """Read what :meth:`to_json` wrote."""
        return cls(*value)


@dataclass(frozen=True, slots=True)
class LongRow:
    """A row too long to be taken apart: its size and the hash of its bytes."""

    format: str
    size: int
    sha256: str

    def to_json(self) -> list[Any]:
        """Return it as JSON can carry it."""
        return [self.format, self.size, self.sha256]


def read(value: Sequence[Any]) -> Row | LongRow:
    """Read what one of the two wrote."""
    return LongRow(*value) if isinstance(value[1], int) else Row.from_json(value)


def place(raw: bytes) -> tuple[bytes, str]:
    """Return the file and the item of a row's raw path.

    >>> place(b"data.csv#row=000000002")
    (b'data.csv', 'row 2')
    """
    file, _, row = raw.rpartition(b"#")
    word, _, number = row.decode("ascii").partition("=")
    return file, f"{word} {int(number)}"


def path(file: bytes, word: str, number: int) -> bytes:
    """Return the raw path of a row; the order of bytes is that of the rows."""
    return b"%b#%b=%09d" % (file, word.encode("ascii"), number)
