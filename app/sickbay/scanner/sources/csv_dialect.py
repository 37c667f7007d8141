"""How a table is written: its delimiter, its escapes, and whether its first row is a header."""

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from sickbay.scanner.csv_cells import Dialect, Unbalanced, cells, cells_of_line, physical
from sickbay.scanner.sources.columns import looks_like_number, looks_like_picture
from sickbay.scanner.sources.csv_rows import CsvRows

HEAD_BYTES = 1 << 16
_ROWS = 50
_DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|"}


def sniff(head: bytes, suffix: str, delimiter: str | None = None) -> Dialect:
    """Guess how a table is written from its first bytes.

    Of several delimiters that cut the rows into equally many cells the one that its name stands
    for wins, then the comma.

    Args:
        head: its first bytes.
        suffix: ``.csv`` or ``.tsv``.
        delimiter: the delimiter, where it is known.
    """
    text = head.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    whole = text[: text.rfind("\n") + 1] or text
    escapes = (None, "\\") if '\\"' in whole else (None,)
    known = delimiter or _DELIMITERS[suffix]
    candidates = [Dialect(one, escape) for one in known for escape in escapes]
    best = max(candidates, key=lambda dialect: _agreement(whole, dialect))
    plain = Dialect("\t", quoted=False)
    bare = best.delimiter == "\t" and _faults(head, plain) < _faults(head, best)
    return plain if bare else best


def _faults(head: bytes, dialect: Dialect) -> int:
    """Count the rows whose cells are not as many as the first row's; the last may be cut."""
    read = CsvRows(io.BytesIO(head), dialect)
    first = read.header()
    width = len(first.cells) if first is not None else 0
    widths = [len(row.cells) for row in read.rows(width)]
    return sum(one != width for one in (widths[:-1] if len(head) == HEAD_BYTES else widths))


def _agreement(text: str, dialect: Dialect) -> float:
    """Share of rows that have as many cells as most have, at least two; 0 where most have one."""
    widths = Counter(_width(line, dialect) for line in islice(_filled(text), _ROWS))
    width, count = max(widths.items(), key=lambda pair: pair[1], default=(0, 0))
    return count / widths.total() if width > 1 else 0.0


def _filled(text: str) -> Iterable[str]:
    return (line for line in physical(text) if line.strip("\r\n"))


def _width(line: str, dialect: Dialect) -> int:
    try:
        return len(cells([line], dialect))
    except Unbalanced:
        pass
    try:
        return len(cells_of_line(line, dialect))
    except Unbalanced:
        return 0


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows names columns: it holds no data as those below it do.

    That is, no path of a picture, and no number in a column of numbers.
    """
    first, rest = rows[0], rows[1:]
    if any(looks_like_picture(cell) for cell in first):
        return False
    return not any(
        looks_like_number(cell) and _all_numbers(rest, at) for at, cell in enumerate(first)
    )


def _all_numbers(rows: Sequence[Sequence[str]], at: int) -> bool:
    values = [row[at] for row in rows if len(row) > at]
    return bool(values) and all(looks_like_number(value) for value in values)
