"""Samples that are rows of a file: how they are named among paths.

A row's raw path is its file's with ``#row=`` or ``#line=`` and nine digits behind, so that the
order of bytes is the order of the rows. Names of files may look like that too; only in layouts
whose samples are rows does it mean one.
"""

import re
from dataclasses import dataclass

from sickbay.contract.paths import SamplePath

ROW_LAYOUTS = frozenset({"csv", "jsonl", "text"})
"""Layouts whose samples may be rows."""
_ROW = re.compile(rb"(.+)#(row|line)=([0-9]{9,})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """A row, as findings name it: the file's path, and ``row 2`` or ``line 2`` in it."""

    file: str
    item: str


def row_path(file: bytes, word: str, number: int) -> bytes:
    """Return the raw path of a row; ``word`` is ``row`` or ``line``, the number counts from 1."""
    return b"%s#%s=%09d" % (file, word.encode("ascii"), number)


def row_of(layout: str, raw_path: bytes) -> Row | None:
    """Return which row of which file a sample is, or nothing where it is a file itself."""
    found = _ROW.fullmatch(raw_path) if layout in ROW_LAYOUTS else None
    if found is None:
        return None
    return Row(SamplePath(found[1]).text, f"{found[2].decode('ascii')} {int(found[3])}")
