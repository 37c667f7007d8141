"""CSV and TSV: each row a sample, or each picture that a row names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain

from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.checks.wide import encoding_of
from sickbay.scanner.csv_cells import Dialect
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.rows import LongRow, Row
from sickbay.scanner.sources import csv_dialect, labels, lines, row_texts, table_rows
from sickbay.scanner.sources.columns import Column, Roles, roles
from sickbay.scanner.sources.csv_rows import CsvRow, CsvRows
from sickbay.scanner.sources.folders import SPLITS
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.ids import Ids
from sickbay.scanner.sources.labels import Labels
from sickbay.scanner.sources.listed import Listed
from sickbay.scanner.sources.table_rows import TableRow, is_list, shown, split_of
from sickbay.scanner.table_options import TableOptions
from sickbay.scanner.trees import Tree

NAME = "csv"
SUMMARY = "CSV or TSV: each row is a sample, or names a picture and its label"
SUFFIXES = {".csv", ".tsv"}


class CsvTable:
    """One table, looked through once.

    Raises:
        BadInput: it lacks a column that a person named.
    """

    word = "row"
    shows_pictures = False

    def __init__(
        self, tree: Tree, raw: bytes, policy: Policy, options: TableOptions, ids: Ids | None = None
    ) -> None:
        self.raw = raw
        self.notes: list[Finding] = []
        self._tree = tree
        self._options = options
        self._ids = ids or Ids(tree)
        self._by_id = False
        self._labels = Labels(policy)
        self._dialect, self._width = Dialect(), 0
        self._names: list[str] | None = None
        self._roles = Roles()
        self._rows = 0
        self._look()

    @property
    def names_pictures(self) -> bool:
        """Whether its rows name pictures."""
        return self._roles.path is not None

    @property
    def classes(self) -> set[str]:
        """Names of classes among its labels."""
        return self._labels.classes

    def rows(self) -> Iterator[TableRow]:
        """Read the rows."""
        if not self._rows:
            return
        fields = [(self._name(at), at, main) for at, main in self._roles.texts]
        name, split = SamplePath(self.raw).suffix[1:].upper(), split_of(self.raw)
        with self._open() as read:
            if self._names is not None:
                read.header()
            for number, row in enumerate(read.rows(self._width), 1):
                yield self._row(number, row, split, name, fields)

    def _look(self) -> None:
        """Look through the file: what is where, and what is usual."""
        try:
            with self._tree.open(self.raw) as file:
                head = file.read(csv_dialect.HEAD_BYTES)
            if self._is_table(head):
                with self._open() as read:
                    self._look_at(read)
        except BadInput:
            raise
        except (SickbayError, OSError) as error:
            self.notes.append(table_rows.unreadable(self.raw, error))

    def _is_table(self, head: bytes) -> bool:
        """Look at the first bytes; say whether there is more to look at."""
        if not head:
            self._note("file.empty", "The file has no bytes.")
            return False
        if (encoding := encoding_of(head)) is not None:
            message = f"Byte {head[0]:02X} at offset 0 is not UTF-8; it may be {encoding}."
            self._note("text.bad-encoding", message, byte=0, encoding=encoding)
            return False
        suffix = SamplePath(self.raw).suffix
        self._dialect = csv_dialect.sniff(head, suffix, self._options.delimiter)
        return True

    @contextmanager
    def _open(self) -> Iterator[CsvRows]:
        with self._tree.open(self.raw) as file:
            yield CsvRows(file, self._dialect)

    def _look_at(self, read: CsvRows) -> None:
        first = read.header()
        if first is None:
            self._note("annotation.malformed", "The table holds blank lines only.")
            return
        self._width = len(first.cells)
        some = lines.some(read.rows(self._width), _size)
        filled = [row.cells for row in (first, *some) if row.cells]
        asked = self._options.path or self._options.label or self._options.text
        if asked or not first.cells or csv_dialect.has_header(filled):
            self._names = first.cells
            self._look_at_header(first)
        columns = [
            Column(name, [row.cells[at] for row in some if len(row.cells) > at])
            for at, name in enumerate(self._names or [""] * self._width)
        ]
        where = SamplePath(self.raw).text
        self._roles = roles(columns, self._options, where, self._id_column)
        self._count(
            chain(some if self._names is not None else [first, *some], read.rows(self._width))
        )

    def _id_column(self, columns: Sequence[Column]) -> int | None:
        """Find the column of ids of pictures, where none holds their paths."""
        found = self._ids.column([column.values for column in columns])
        self._by_id = found is not None
        return found

    def _look_at_header(self, first: CsvRow) -> None:
        if first.fault or first.line.sha256:
            why = first.fault or "is too long to be read"
            self._note("annotation.malformed", f"The header {why}.", line=first.line.number)
        undecoded = row_texts.undecoded(first.text, first.line.at)
        if undecoded is not None:
            self.notes.append(replace(undecoded, file=SamplePath(self.raw).text))
        twice = [name for name, count in Counter(first.cells).items() if count > 1 and name]
        if twice:
            message = f"The header has the column {excerpt(twice[0])[:80]!r} more than once."
            self._note("annotation.schema-mismatch", message, line=first.line.number)

    def _count(self, read: Iterable[CsvRow]) -> None:
        """Count cells and kinds of labels."""
        widths: Counter[int] = Counter()
        label = self._roles.label
        for row in read:
            self._rows += 1
            widths[len(row.cells)] += 1
            if label is not None and len(row.cells) == self._width:
                self._labels.note(labels.of_text(row.cells[label]))
        if not self._rows:
            self._note("annotation.malformed", "The table has no rows below its header.")
            return
        usual, count = widths.most_common(1)[0]
        if usual != self._width and count > self._rows / 2 and usual:
            message = f"The header has {_cells(self._width)}, most rows have {usual:,}."
            self._note("annotation.schema-mismatch", message)
            self._width = usual

    def _row(
        self, number: int, row: CsvRow, split: str, name: str, fields: list[tuple[str, int, bool]]
    ) -> TableRow:
        if row.line.sha256:
            given = LongRow(name, row.line.size, row.line.sha256).to_json()
            return TableRow(number, given, split=split, findings=self._unread(row))
        whole = len(row.cells) == self._width
        cut, known = self._dialect.cut, fields if whole else None
        given = Row(name, row.text, row.line.at, cut, known).to_json()
        if not whole:
            return TableRow(number, given, split=split, findings=[self._fault(row)])
        return self._whole_row(number, row, split, given)

    def _whole_row(self, number: int, row: CsvRow, split: str, given: Sequence[object]) -> TableRow:
        findings, label, at = [], "", self._roles
        if at.label is not None and at.label < len(row.cells):
            read = labels.of_text(row.cells[at.label])
            label = shown(read.text)
            if (finding := self._labels.check(read)) is not None:
                findings.append(self._at(finding, row))
        if at.split is not None:
            split = SPLITS.get(row.cells[at.split].strip().lower(), split)
        path = None if at.path is None else row.cells[at.path].strip()
        path = self._ids.path(path) if self._by_id and path else path
        findings += self._beside_picture(row)
        return TableRow(number, list(given), path, label, split, findings)

    def _beside_picture(self, row: CsvRow) -> list[Finding]:
        """Check the texts of a row whose picture is the sample: no child sees them."""
        if not self.names_pictures:
            return []
        named = [(self._name(at), at) for at, _ in self._roles.texts]
        kept = row_texts.captions(named, self._roles.label)
        fields = [Field(name, row.cells[at]) for name, at in kept]
        return [self._at(one, row) for one in row_texts.of_listed(row.text, row.line.at, fields)]

    def _unread(self, row: CsvRow) -> list[Finding]:
        """Of a row that is a sample its child says that it is too long."""
        if not self.names_pictures:
            return []
        message = f"A row of {row.line.size:,} bytes is too long to be read."
        return [self._at(Finding.of("annotation.malformed", "", message), row)]

    def _fault(self, row: CsvRow) -> Finding:
        if row.fault is not None:
            finding = Finding.of("annotation.malformed", "", f"The row {row.fault}.")
        else:
            message = f"The row has {_cells(len(row.cells))}, the table has {self._width:,}."
            finding = Finding.of("annotation.schema-mismatch", "", message)
        return self._at(finding, row)

    def _at(self, finding: Finding, row: CsvRow) -> Finding:
        line = row.line
        place = {"line": line.number, "byte": line.at, "excerpt": excerpt(row.text)}
        return table_rows.with_detail(finding, place)

    def _note(self, code: str, message: str, **detail: object) -> None:
        name = SamplePath(self.raw).text
        self.notes.append(Finding.of(code, name, message, None, **detail))

    def _name(self, at: int) -> str:
        name = self._names[at] if self._names and at < len(self._names) else ""
        return excerpt(name)[:80] or f"column {at + 1}"


def _size(row: CsvRow) -> int:
    return len(row.text)


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def read(tree: Tree, policy: Policy, options: TableOptions | None = None) -> Listed:
    """Read the tables below a root, and the pictures they name."""
    found = table_rows.find(tree, SUFFIXES)
    chosen, ids = options or TableOptions(), Ids(tree)
    return Listed(tree, [CsvTable(tree, raw, policy, chosen, ids) for raw in found])


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of tables: there is one, at the top or in a split."""
    found = [raw for raw in glimpse.files() if is_list(raw, SUFFIXES)]
    return table_rows.holding(found, "rows")
