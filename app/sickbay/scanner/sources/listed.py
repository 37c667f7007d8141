"""Samples of a data set whose rows are in tables: the rows, or the pictures that they name."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

from sickbay.contract.defects import Severity
from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner import rows, wire
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.formats import PICTURE_SUFFIXES
from sickbay.scanner.rows import Row
from sickbay.scanner.sources import Found, Item, Noted, Skipped
from sickbay.scanner.sources.joined import Joined, Place
from sickbay.scanner.sources.named import Named, Names
from sickbay.scanner.sources.table_rows import Table, TableRow, is_metadata
from sickbay.scanner.trees import Entry, Tree

NOT_LISTED = "picture that no row names"
NO_PART = "neither a list nor named by one"
_ONE_ROW_EACH = 0.9
"""Share of rows with a picture of their own, from which on two rows of one contradict another."""


def no_part(entry: Entry | Skipped) -> Skipped:
    """What no row says anything of."""
    if isinstance(entry, Skipped):
        return entry
    picture = SamplePath(entry.raw).suffix in PICTURE_SUFFIXES
    return Skipped(entry.raw, NOT_LISTED if picture else NO_PART)


class Listed:
    """Samples of some tables, and the rest of the tree.

    Args:
        tree: the data set.
        tables: its lists, each looked through already.
        other: what anything else is.
    """

    def __init__(
        self,
        tree: Tree,
        tables: Sequence[Table],
        other: Callable[[Entry | Skipped], Item] = no_part,
    ) -> None:
        self.classes: tuple[str, ...] = tuple(sorted({c for one in tables for c in one.classes}))
        self._tree = tree
        self._other = other
        self._tables = list(tables)
        self._findings = {table.raw: list(table.notes) for table in tables}
        self._states = {table.raw: _state(tree, table.raw) for table in tables}

    def items(self) -> Iterator[Item]:
        """Yield everything in order of raw path."""
        if not any(table.names_pictures or table.shows_pictures for table in self._tables):
            yield from self._with_rows(map(self._other, self._tree.entries()), None)
            return
        with closing(Joined(self._tree)) as joined:
            names = Names(joined, self._tree.where)
            for number, table in enumerate(self._tables):
                if table.names_pictures:
                    said = self._said_by(number, table, joined, names)
                    self._findings[table.raw] += bounded(said)
                elif table.shows_pictures:
                    self._shown_by(number, table, joined, names)
            pictures = _Pictures(joined, self._tables)
            yield from self._with_rows(map(pictures.item, joined.places()), names)

    def _with_rows(self, items: Iterator[Item], names: Names | None) -> Iterator[Item]:
        """Put rows where their paths sort: after their table, and before what sorts after them."""
        tables = {table.raw: table for table in self._tables}
        heap: list[_Rows] = []
        for item in items:
            yield from _until(heap, item.raw)
            table = tables.get(item.raw)
            if table is None:
                yield item
                continue
            if self._findings[table.raw]:
                yield Noted(table.raw, tuple(self._findings[table.raw]))
            if not table.names_pictures:
                _push(heap, _Rows(_row_sample(table, row, names) for row in self._rows(table)))
        yield from _until(heap, None)

    def _rows(self, table: Table) -> Iterator[TableRow]:
        """Read the rows, and one more that says so where the file changed meanwhile."""
        number = 0
        try:
            for row in table.rows():
                number = row.number
                yield row
            changed = _state(self._tree, table.raw) != self._states[table.raw]
        except (SickbayError, OSError):  # it is gone, or the disk fails
            changed = True
        if changed:
            message = "The file changed while it was read; scan again."
            given = Row("CSV", "").to_json()
            yield TableRow(number + 1, given, findings=[Finding.of("file.changed", "", message)])

    def _shown_by(self, number: int, table: Table, joined: Joined, names: Names) -> None:
        """Note which pictures rows show; they are samples beside the rows."""
        for row in self._rows(table):
            named = _named(names, row.path, table.raw) if row.path else None
            if named is not None and named.lies:
                joined.say(named.raw, [number, row.number, "", row.split, []])

    def _said_by(
        self, number: int, table: Table, joined: Joined, names: Names
    ) -> Iterator[Finding]:
        """Note what rows say of pictures; yield what is wrong with rows that name none."""
        for row in self._rows(table):
            named = None if row.path is None else _named(names, row.path, table.raw)
            placed = [_placed(finding, table, row) for finding in row.findings]
            if named is None:
                yield from placed
            elif named.unsafe is not None:
                shown = {"excerpt": excerpt(row.path or "")}
                said = Finding.of("file.unsafe-path", "", named.unsafe, None, **shown)
                yield _placed(said, table, row)
                yield from placed
            else:
                value = [number, row.number, row.label, row.split, wire.from_findings(placed)]
                joined.say(named.raw, value)


def _named(names: Names, text: str, table: bytes) -> Named:
    """Find a picture; a ``metadata`` file below the top means those of its own folder."""
    folder = SamplePath(table.rpartition(b"/")[0]).text
    if not folder or not is_metadata(table) or text[:1] in {"", "/"}:
        return names.find(text, table)
    own = names.find(f"{folder}/{text}", table)
    if own.lies:
        return own
    other = names.find(text, table)
    return other if other.lies or other.unsafe else own


def _missing(table: Table, row: TableRow, names: Names) -> Iterator[Finding]:
    """Say that the picture a row shows is not there."""
    named = _named(names, row.path or "", table.raw)
    shown = {"excerpt": excerpt(row.path or "")}
    if named.unsafe is not None:
        yield Finding.of("file.unsafe-path", "", named.unsafe, None, **shown)
    elif not named.lies:
        message = "The picture that belongs to it is not there."
        yield Finding.of("file.missing", "", message, None, **shown)


class _Rows:
    """Rows still to come, compared by the first of them."""

    def __init__(self, items: Iterator[Found]) -> None:
        self._items = items
        self.first = next(items, None)

    def __lt__(self, other: "_Rows") -> bool:
        return self.raw < other.raw

    @property
    def raw(self) -> bytes:
        """Raw path of the first."""
        return b"" if self.first is None else self.first.raw

    def advance(self) -> "_Rows":
        """Go on to the next."""
        self.first = next(self._items, None)
        return self


def _push(heap: list[_Rows], some: _Rows) -> None:
    if some.first is not None:
        heappush(heap, some)


def _until(heap: list[_Rows], raw: bytes | None) -> Iterator[Item]:
    """Yield the rows whose paths sort before another."""
    while heap and (raw is None or heap[0].raw < raw):
        some = heappop(heap)
        while some.first is not None and (raw is None or some.first.raw < raw):
            if heap and heap[0] < some:
                break
            yield some.first
            some.advance()
        _push(heap, some)


def _row_sample(table: Table, row: TableRow, names: Names | None) -> Found:
    findings = list(row.findings)
    if names is not None and row.path and table.shows_pictures:
        findings += _missing(table, row, names)
    return Found(
        rows.path(table.raw, table.word, row.number),
        row.split,
        row.label,
        kind="row",
        given=row.given,
        findings=tuple(_placed(finding, table, row) for finding in findings),
    )


def _state(tree: Tree, raw: bytes) -> tuple[int, int, int] | None:
    """Return what changes when somebody writes to a file, where the file system tells."""
    try:
        with tree.open(raw) as file:
            found = os.fstat(file.fileno())
    except (SickbayError, OSError):  # io.UnsupportedOperation, of a file fetched, is one
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _placed(finding: Finding, table: Table, row: TableRow) -> Finding:
    return replace(finding, file=SamplePath(table.raw).text, item=f"{table.word} {row.number}")


class _Pictures:
    """Pictures by what rows say of them."""

    def __init__(self, joined: Joined, tables: Sequence[Table]) -> None:
        self._joined = joined
        self._tables = tables
        self._alone: bool | None = None

    def item(self, place: Place) -> Item:
        """Return the sample at a place, or what else lies there."""
        if not place.said:
            return no_part(place.entry or Skipped(place.raw, NO_PART))
        table, _, label, split, findings = place.said[0]
        contradiction = self._contradiction(place)
        return Found(
            place.raw,
            split,
            label,
            listed=(self._tables[table].raw, self._item(place.said[0])),
            findings=(*wire.to_findings(findings), *contradiction),
        )

    def _item(self, said: Sequence[Any]) -> str:
        return f"{self._tables[said[0]].word} {said[1]}"

    def _contradiction(self, place: Place) -> Iterator[Finding]:
        """Say that another row gives the picture another label, where each has but one row."""
        label = place.said[0][2]
        other = next((said for said in place.said[1:] if said[2] != label), None)
        if other is None or not self._one_row_each():
            return
        file = SamplePath(self._tables[other[0]].raw).text
        message = f"Here the picture has the label {other[2]!r}, before it was {label!r}."
        finding = Finding.of("label.malformed", file, message, self._item(other))
        yield replace(finding, severity=Severity.NOTE)

    def _one_row_each(self) -> bool:
        if self._alone is None:
            counted = "SELECT count(*), count(DISTINCT raw) FROM said"
            rows_in_all, pictures = self._joined.database.execute(counted).fetchone()
            self._alone = pictures >= _ONE_ROW_EACH * rows_in_all
        return self._alone
