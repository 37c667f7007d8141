"""The quarantine list as a file: one row for each sample, as TSV for people, JSONL for programs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from sickbay.database import Database
from sickbay.quarantine import data_sets
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.listing import ListedRow, rows
from sickbay.web.identity import Viewer
from sickbay.web.pages.address import of_pairs
from sickbay.web.parameters import DataSetName
from sickbay.web.site import Here

router = APIRouter()

_COLUMNS = tuple(field.name for field in fields(ListedRow))
_FORMULA = frozenset("=+-@\t\r")
"""First characters that make a spreadsheet run a cell (owasp.org, CSV Injection)."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_BLOCK = 500
"""Rows handed over at once."""


@router.get("/datasets/{name}/review.tsv")
def tsv(request: Request, site: Here, _me: Viewer, name: DataSetName) -> StreamingResponse:
    """Send what the query's filter matches; without one, everything that is not clean."""
    lines = (_cells(asdict(row)) for row in _rows(site.database, name, _asked(request, name)))
    head = "\t".join(_COLUMNS) + "\n"
    return _file(_after(head, lines), "text/tab-separated-values", f"{name}-quarantine.tsv")


@router.get("/datasets/{name}/review.jsonl")
def jsonl(request: Request, site: Here, _me: Viewer, name: DataSetName) -> StreamingResponse:
    """Send the same as one JSON object a line."""
    lines = (_object(asdict(row)) for row in _rows(site.database, name, _asked(request, name)))
    return _file(lines, "application/jsonl", f"{name}-quarantine.jsonl")


def _asked(request: Request, name: str) -> Filter | None:
    pairs = request.query_params.multi_items()
    return of_pairs(name, pairs).chosen if pairs else None


def _rows(database: Database, name: str, chosen: Filter | None) -> Iterator[ListedRow]:
    """Read the rows on one snapshot, held open while they are sent."""
    with database.reading() as session:
        found = data_sets.find(session, name)
        yield from rows(session, found.id, chosen)


def _file(lines: Iterator[str], media_type: str, filename: str) -> StreamingResponse:
    """Send lines as a download; a data set's name needs no quoting.

    The first block is read at once, so that an error is still answered as one.
    """
    blocks = _blocks(lines)
    first = next(blocks, "")
    return StreamingResponse(
        _after(first, blocks),
        media_type=f"{media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )


def _after(first: str, rest: Iterable[str]) -> Iterator[str]:
    yield first
    yield from rest


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    block: list[str] = []
    for line in lines:
        block.append(line)
        if len(block) == _BLOCK:
            yield "".join(block)
            block = []
    yield "".join(block)


def _cells(row: dict[str, Any]) -> str:
    return "\t".join(_cell(row[name]) for name in _COLUMNS) + "\n"


def _cell(value: Any) -> str:
    """Write one cell: one line, and nothing that a spreadsheet would run."""
    text = _text(value)
    if text[:1] in _FORMULA and not isinstance(value, int):
        text = f"'{text}"
    return text.translate(_ESCAPES)


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat(timespec="seconds")
        case tuple() | list():
            return " ".join(_text(one) for one in value)
        case _:
            return str(value)


def _object(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=_text) + "\n"
