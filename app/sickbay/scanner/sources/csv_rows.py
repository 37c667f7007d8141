"""Rows of a CSV file with their places; a row that cannot be read costs itself only."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sickbay.scanner.csv_cells import Dialect, Unbalanced, cells, cells_of_line
from sickbay.scanner.rows import MOST_BYTES
from sickbay.scanner.sources.lines import Line, bare, lines

UNBALANCED = "opens a quote that is not closed, or closes one within a cell"
_LEAST_REACH = 1 << 16


@dataclass(frozen=True, slots=True)
class CsvRow:
    """One row.

    Attributes:
        line: its first physical line.
        text: the row without its last line break.
        cells: what it says; empty where it cannot be read.
        fault: why it cannot be read.
    """

    line: Line
    text: str
    cells: list[str]
    fault: str | None = None


class CsvRows:
    """Reads rows one after another; blank lines are none.

    A quote that is never closed would swallow the rest of a file. So a row over several lines
    counts only if it has as many cells as the others; else its first line is the bad row, and
    reading goes on with the next.

    Args:
        file: a file at its start.
        dialect: how it is written.
    """

    def __init__(self, file: BinaryIO, dialect: Dialect) -> None:
        self._lines = lines(file)
        self._back: deque[Line] = deque()
        self._dialect = dialect
        self._reach = MOST_BYTES

    def header(self) -> CsvRow | None:
        """Return the first row, nothing where there is none."""
        return next(self.rows(None), None)

    def rows(self, width: int | None) -> Iterator[CsvRow]:
        """Yield the rows that follow.

        Args:
            width: cells of a row, where that is known.
        """
        while (line := self._next()) is not None:
            if line.sha256:
                yield CsvRow(line, "", [])
            elif line.size:
                yield self._row(line, width)

    def _next(self) -> Line | None:
        return self._back.popleft() if self._back else next(self._lines, None)

    def _row(self, line: Line, width: int | None) -> CsvRow:
        text = line.text
        if '"' not in text or not self._dialect.quoted:
            text = text.rstrip("\n").removesuffix("\r")
            return CsvRow(line, text, text.split(self._dialect.delimiter))
        taken = [line]
        try:
            made = cells(self._following(taken), self._dialect)
        except Unbalanced:
            return self._alone(taken)
        if len(taken) > 1 and width is not None and len(made) != width:
            return self._alone(taken)
        return CsvRow(line, _joined(taken), made)

    def _following(self, taken: list[Line]) -> Iterator[str]:
        """Yield a line's text and those of the lines after it, as far as the row may reach."""
        yield taken[0].text
        size = taken[0].size
        while size < self._reach and (line := self._next()) is not None:
            taken.append(line)
            if line.sha256:
                return
            size += line.size
            yield line.text

    def _alone(self, taken: list[Line]) -> CsvRow:
        """Take the first line for a row of its own, and give back the others.

        The further the search for the closing quote went in vain, the less far the next may go,
        so that a file of such rows takes no longer than its size warrants.
        """
        if sum(line.size for line in taken) > _LEAST_REACH:
            self._reach = max(_LEAST_REACH, self._reach // 2)
        self._back.extendleft(reversed(taken[1:]))
        text = _joined(taken[:1])
        try:
            return CsvRow(taken[0], text, cells_of_line(text, self._dialect))
        except Unbalanced:
            return CsvRow(taken[0], text, [], UNBALANCED)


def _joined(taken: list[Line]) -> str:
    data = bare(b"".join(line.data for line in taken))
    return data.decode("utf-8", errors="surrogateescape")
