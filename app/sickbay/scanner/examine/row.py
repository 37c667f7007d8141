"""A row of a table or a line of JSON: what is wrong with its texts."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner import rows
from sickbay.scanner.checks import chats, texts
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.csv_cells import Dialect, cells_of_row
from sickbay.scanner.evidence import Examined
from sickbay.scanner.examine import Files
from sickbay.scanner.examine.text import of_fields
from sickbay.scanner.rows import MOST_BYTES, MOST_LINE, LongRow, Row
from sickbay.scanner.task import HASH_ONLY, STRUCTURE, Setup, Task

_MOST = 20  # findings of one row


def examine(_files: Files, task: Task, setup: Setup, care: int) -> Examined:
    """Check a row, all of which came with the task."""
    row = rows.read(task.given)
    if isinstance(row, LongRow):
        found, decoded = _placed(task, setup, [_too_long(row)]), False
        size, digest = row.size, row.sha256
    else:
        data = row.text.encode("utf-8", errors="surrogateescape")
        size, digest = len(data), hashlib.sha256(data).hexdigest()
        decoded = care < HASH_ONLY and setup.depth != STRUCTURE
        found = _placed(task, setup, _found(row, data, setup)) if care < HASH_ONLY else ()
    return Examined(size=size, sha256=digest, format=row.format, findings=found, decoded=decoded)


def _placed(task: Task, setup: Setup, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Say of which row they are."""
    some = list(bounded(findings, _MOST))
    if not some:
        return ()
    file, item = rows.place(task.raw)
    name = SamplePath(file).text
    return setup.policy.applied(replace(finding, file=name, item=item) for finding in some)


def _too_long(row: LongRow) -> Finding:
    message = f"A row of {row.size:,} bytes needs more memory to check than is allowed."
    if row.size >= MOST_LINE:
        message = f"No line ends within {MOST_LINE:,} bytes; the rest of the file is not read."
    return Finding.of("decoder.out-of-memory", "", message, limit=MOST_BYTES)


def _found(row: Row, data: bytes, setup: Setup) -> Iterator[Finding]:
    if not row.text.isascii() and (finding := texts.bad_encoding(data, row.at)) is not None:
        yield finding
    elif row.fields is not None and setup.depth != STRUCTURE:
        yield from _in_line(row, setup) if row.format == "JSONL" else _in_cells(row, setup)


def _in_cells(row: Row, setup: Setup) -> Iterator[Finding]:
    cells = cells_of_row(row.text, Dialect.of(row.cut))
    named = [Field(name, cells[at], main) for name, at, main in row.fields or ()]
    known = {at for _, at, _ in row.fields or ()}
    yield from of_fields(named, setup)
    yield from texts.of_fields(
        Field(f"column {at + 1}", cell, main=False)
        for at, cell in enumerate(cells)
        if at not in known
    )


def _in_line(row: Row, setup: Setup) -> Iterator[Finding]:
    value = json.loads(row.text)
    if not isinstance(value, dict):
        yield from of_fields(list(_texts("", value)), setup)
        return
    main = {name: main for name, _, main in row.fields or ()}
    counted: list[Field] = []
    rest: list[Field] = []
    for key, inner in value.items():
        if key in chats.KEYS and isinstance(inner, list):
            yield from (
                one for one in (chats.malformed(key, inner), chats.blank(key, inner)) if one
            )
            counted += chats.texts(key, inner)
        elif key in main and isinstance(inner, str):
            counted.append(Field(key, inner, main[key]))
        else:
            (counted if key in main else rest).extend(_texts(key, inner))
    yield from of_fields(counted, setup)
    yield from texts.of_fields(rest)


def _texts(name: str, value: object) -> Sequence[Field]:
    """Find all texts in a value, the keys among them too."""
    found, level = [], [value]
    while level:
        inner: list[object] = []
        for one in level:
            if isinstance(one, str):
                found.append(Field(name, one, main=False))
            elif isinstance(one, dict):
                inner += [*one, *one.values()]
            elif isinstance(one, list):
                inner += one
        level = inner
    return found
