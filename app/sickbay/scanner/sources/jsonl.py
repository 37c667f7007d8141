"""JSON lines: each line a sample, or each picture that a line names."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from types import NoneType
from typing import Any

from sickbay.contract.defects import Severity
from sickbay.contract.errors import BadInput, SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.chats import KEYS
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.checks.wide import encoding_of
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.rows import LongRow, Row
from sickbay.scanner.sources import json_line, labels, row_texts, table_rows
from sickbay.scanner.sources.columns import Column, roles
from sickbay.scanner.sources.folders import SPLITS
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.sources.json_line import Malformed
from sickbay.scanner.sources.labels import Labels
from sickbay.scanner.sources.lines import Line, bare, lines, some
from sickbay.scanner.sources.listed import Listed
from sickbay.scanner.sources.schema import Schema
from sickbay.scanner.sources.table_rows import TableRow, is_list, shown, split_of, with_detail
from sickbay.scanner.table_options import TableOptions
from sickbay.scanner.trees import Tree

NAME = "jsonl"
SUMMARY = "JSON lines: each line is a sample (text, chat), or names a picture (metadata.jsonl)"
SUFFIXES = {".jsonl", ".ndjson"}
_FORMAT = "JSONL"
_HEAD = 4096  # bytes that show an encoding


class JsonLines:
    """One file of JSON lines, looked through once.

    Args:
        tree: the data set.
        raw: the file.
        policy: which classes there are.
        options: keys that a person named.
        pictures: whether lines may name pictures.
    """

    word = "line"

    def __init__(
        self,
        tree: Tree,
        raw: bytes,
        policy: Policy,
        options: TableOptions,
        *,
        pictures: bool = True,
    ) -> None:
        self.raw = raw
        self.notes: list[Finding] = []
        self._tree = tree
        self._options = options
        self._pictures = pictures
        self._labels = Labels(policy)
        self._schema = Schema()
        self._path: str | None = None
        self._label: str | None = None
        self._split: str | None = None
        self._fields: list[tuple[str, int, bool]] = []
        self._needed: list[str] = []
        self._whole = False
        self._chats = False
        self._look()

    @property
    def names_pictures(self) -> bool:
        """Whether its lines name pictures."""
        return self._path is not None and not self._chats

    @property
    def shows_pictures(self) -> bool:
        """Whether its lines are conversations about a picture each."""
        return self._path is not None and self._chats

    @property
    def classes(self) -> set[str]:
        """Names of classes among its labels."""
        return self._labels.classes

    def rows(self) -> Iterator[TableRow]:
        """Read the lines; blank ones are none."""
        if self._whole:
            return
        split = split_of(self.raw)
        with self._tree.open(self.raw) as file:
            for line in _filled(lines(file)):
                yield self._row(line, split)

    def _look(self) -> None:
        """Look through the file: what is usual."""
        try:
            with self._tree.open(self.raw) as file:
                if self._is_utf8(file.read(_HEAD)):
                    file.seek(0)
                    self._look_at(_filled(lines(file)))
        except BadInput:
            raise
        except (SickbayError, OSError) as error:
            self._whole = True
            self.notes.append(table_rows.unreadable(self.raw, error))

    def _is_utf8(self, start: bytes) -> bool:
        if not start:
            self._note("file.empty", "The file has no bytes.")
        elif (encoding := encoding_of(start)) is not None:
            message = f"Byte {start[0]:02X} at offset 0 is not UTF-8; it may be {encoding}."
            self._note("text.bad-encoding", message, byte=0, encoding=encoding)
        else:
            return True
        self._whole = True
        return False

    def _look_at(self, filled: Iterator[Line]) -> None:
        first = some(filled, _size)
        values = [value for line in first if (value := _value(line)) is not _BROKEN]
        self._whole = _is_one_value(first, values)
        if self._whole:
            message = "The file is one JSON value over several lines, not one value a line."
            self._note("annotation.malformed", message, line=1)
            return
        if not first:
            self._note("annotation.malformed", "The file holds blank lines only.")
        self._choose([value for value in values if isinstance(value, dict)])
        for value in chain(values, filter(_is_sound, map(_value, filled))):
            self._schema.note(value)
            if self._label is not None and isinstance(value, dict):
                self._labels.note(labels.of_json(value.get(self._label)))
        self._schema.settle({self._label}, {self._path} if self._chats else ())
        self._needed = [name for name, _, _ in self._fields if self._schema.is_mostly(name, str)]
        for message in self._schema.divided():
            self._note("annotation.schema-mismatch", message, severity=Severity.WARN)

    def _choose(self, values: list[dict[str, Any]]) -> None:
        """Say what the keys are for, by the first lines."""
        keys = list(dict.fromkeys(key for value in values for key in value))
        columns = [Column(key, [_cell(value.get(key)) for value in values]) for key in keys]
        found = roles(columns, self._options, SamplePath(self.raw).text)
        chats = any(isinstance(value.get(key), list) for value in values for key in KEYS)
        self._chats = chats and self._options.path is None
        if found.path is not None and self._pictures:
            self._path = keys[found.path]
        self._label = None if found.label is None else keys[found.label]
        self._split = None if found.split is None else keys[found.split]
        self._fields = [(keys[at], at, main) for at, main in found.texts]

    def _row(self, line: Line, split: str) -> TableRow:
        if line.sha256:
            given = LongRow(_FORMAT, line.size, line.sha256).to_json()
            return TableRow(line.number, given, split=split, findings=self._unread(line))
        text = bare(line.data).decode("utf-8", errors="surrogateescape")
        try:
            value = json_line.loads(text)
        except Malformed as error:
            given = Row(_FORMAT, text, line.at).to_json()
            finding = _malformed(error, text, line)
            return TableRow(line.number, given, split=split, findings=[finding])
        given = Row(_FORMAT, text, line.at, "", self._fields).to_json()
        return self._value_row(value, given, text, line, split)

    def _value_row(
        self, value: Any, given: list[Any], text: str, line: Line, split: str
    ) -> TableRow:
        findings, label = [self._schema.check(value)], ""
        known = value if isinstance(value, dict) else {}
        findings += self._texts(known, text, line.at) if findings == [None] else []
        if self._label is not None and known:
            read = labels.of_json(known.get(self._label))
            label = shown(read.text)
            findings.append(self._labels.check(read))
        if self._split is not None:
            split = SPLITS.get(_cell(known.get(self._split)).strip().lower(), split)
        path = None if self._path is None else _path(known.get(self._path))
        placed = [_at(one, text, line) for one in findings if one is not None]
        return TableRow(line.number, given, path, label, split, placed)

    def _texts(self, known: dict[str, Any], text: str, at: int) -> list[Finding | None]:
        """Check the texts that a line lacks, and those of a line whose picture is the sample."""
        lacking = row_texts.lacking(known, self._fields, self._needed)
        if lacking is not None or not self.names_pictures:
            return [lacking]
        named = [(name, number) for name, number, _ in self._fields]
        kept = row_texts.captions(named, self._label)
        given = [(name, known.get(name)) for name, _ in kept]
        fields = [Field(name, value) for name, value in given if isinstance(value, str)]
        return list(row_texts.of_listed(text, at, fields))

    def _unread(self, line: Line) -> list[Finding]:
        """Of a line that is a sample its child says that it is too long."""
        if not self.names_pictures:
            return []
        message = f"A line of {line.size:,} bytes is too long to be read."
        place = {"line": line.number, "byte": line.at}
        return [Finding.of("annotation.malformed", "", message, None, **place)]

    def _note(
        self, code: str, message: str, severity: Severity | None = None, **detail: Any
    ) -> None:
        finding = Finding.of(code, SamplePath(self.raw).text, message, None, **detail)
        self.notes.append(replace(finding, severity=severity or finding.severity))


_BROKEN = object()


def _filled(read: Iterable[Line]) -> Iterator[Line]:
    return (line for line in read if line.sha256 or line.data.strip())


def _value(line: Line) -> Any:
    """Read a line's value, ``_BROKEN`` where it has none."""
    try:
        return _BROKEN if line.sha256 else json_line.loads(line.text)
    except Malformed:
        return _BROKEN


def _is_sound(value: Any) -> bool:
    return value is not _BROKEN


def _size(line: Line) -> int:
    return len(line.data)


def _is_one_value(first: list[Line], values: list[Any]) -> bool:
    """Whether lines are parts of one value: the first only begins one, and most are none."""
    broken = len(first) - len(values)
    return broken > 1 and broken > len(first) / 2 and _only_begins(first[0].text.strip())


def _only_begins(text: str) -> bool:
    try:
        json_line.loads(text)
    except Malformed as error:
        return text[:1] in {"{", "["} and error.at >= len(text) - 1
    return False


def _cell(value: Any) -> str:
    """Write a value as a cell would: a text as it is, a picture as its path."""
    return _path(value) or ("" if isinstance(value, (list, dict, NoneType)) else str(value))


def _path(value: Any) -> str:
    """Return the path that a value is, or that a picture has as Hugging Face writes it."""
    inner = value.get("path") if isinstance(value, dict) else value
    return inner if isinstance(inner, str) else ""


def _at(finding: Finding, text: str, line: Line) -> Finding:
    place = {"line": line.number, "byte": line.at, "excerpt": excerpt(text)}
    return with_detail(finding, place)


def _malformed(error: Malformed, text: str, line: Line) -> Finding:
    before = text[: error.at].encode("utf-8", errors="surrogateescape")
    return Finding.of(
        error.code,
        "",
        f"The line {error.why}.",
        line=line.number,
        byte=line.at + len(before),
        excerpt=excerpt(text, error.at),
    )


def read(tree: Tree, policy: Policy, options: TableOptions | None = None) -> Listed:
    """Read the JSON lines below a root, and the pictures they name."""
    chosen = options or TableOptions()
    found = table_rows.find(tree, SUFFIXES)
    return Listed(tree, [JsonLines(tree, raw, policy, chosen) for raw in found])


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of JSON lines: there are some, where lists lie."""
    found = [raw for raw in glimpse.files() if is_list(raw, SUFFIXES)]
    return table_rows.holding(found, "JSON lines")
