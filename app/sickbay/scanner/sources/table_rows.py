"""What tables and JSON lines have in common: rows that are samples or name pictures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.inside import Unreadable
from sickbay.contract.paths import SamplePath
from sickbay.scanner.checks.files import CODES
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.sources.folders import MAX_NAME, shown_label, split_named
from sickbay.scanner.trees import Tree

_FOLDERS = {b"data", b"labels", b"annotations", b"annotation", b"metadata", b"meta"}
_NO_LISTS = (b"sample_submission", b"samplesubmission")  # of competitions: their labels are none
_METADATA = b"metadata"  # as Hugging Face calls the list beside the pictures of a folder
_DEPTH = 3
_MOST_FOLDERS = 500  # of one folder that are looked into
_WORD = re.compile(rb"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a list.

    Attributes:
        number: of the row, or of its line.
        given: the row as its child gets it, where the row is a sample.
        path: the picture that it names, where rows name or show pictures.
        label: its label, as records have it.
        split: the split it is in.
        findings: what is wrong with the row itself.
    """

    number: int
    given: list[Any] | None = None
    path: str | None = None
    label: str = ""
    split: str = ""
    findings: Sequence[Finding] = ()


class Table(Protocol):
    """A file of rows, looked through once before its rows are read.

    Attributes:
        raw: its raw path.
        word: what a row of it is called in findings: ``row`` or ``line``.
        names_pictures: whether its rows name pictures, which are the samples then.
        shows_pictures: whether its rows are samples with a picture each.
        classes: names of classes among its labels.
        notes: what is wrong with the file as a whole.
    """

    raw: bytes
    word: str
    notes: list[Finding]

    @property
    def names_pictures(self) -> bool:
        """Whether it does."""
        ...

    @property
    def shows_pictures(self) -> bool:
        """Whether they do."""
        ...

    @property
    def classes(self) -> set[str]:
        """The names."""
        ...

    def rows(self) -> Iterator[TableRow]:
        """Read the rows."""
        ...


def find(tree: Tree, suffixes: set[str]) -> list[bytes]:
    """Find the lists of a data set, in order; see :func:`is_list`."""
    return sorted(_lists(tree, b"", suffixes, 1))


def _lists(tree: Tree, folder: bytes, suffixes: set[str], depth: int) -> Iterator[bytes]:
    folders = []
    for name, is_folder in tree.listing(folder):
        raw = folder + b"/" + name if folder else name
        if is_folder:
            folders.append(raw)
        elif is_list(raw, suffixes):
            yield raw
    for inner in sorted(folders)[:_MOST_FOLDERS] if depth < _DEPTH else ():
        yield from _lists(tree, inner, suffixes, depth + 1)


def is_list(raw: bytes, suffixes: set[str]) -> bool:
    """Whether a file is a list of samples, by its name and place.

    Lists lie at the top, or in folders named for splits or for what lists are; a ``metadata``
    file describes the pictures of its folder, wherever that is. Other tables are left alone: many
    a data set has one a sample.
    """
    *folders, name = raw.split(b"/")
    if SamplePath(name).suffix not in suffixes or name.lower().startswith(_NO_LISTS):
        return False
    known = all(split_named(part) or part.lower() in _FOLDERS for part in folders)
    return known or is_metadata(raw)


def is_metadata(raw: bytes) -> bool:
    """Whether a list describes the pictures of its own folder, as Hugging Face has it."""
    return raw.rpartition(b"/")[2].startswith(_METADATA + b".")


def holding(found: Sequence[bytes], what: str) -> str | None:
    """Say in a clause that some files hold rows, nothing where there are none."""
    if not found:
        return None
    name = excerpt(SamplePath(found[0]).text)
    return (
        f"{name} holds {what}"
        if len(found) == 1
        else f"{name} and {len(found) - 1:,} more hold {what}"
    )


def split_of(raw: bytes) -> str:
    """Return the split that a list is named for, or the nearest folder above it."""
    *folders, name = raw.split(b"/")
    splits = {
        split for word in _WORD.findall(name.rpartition(b".")[0]) if (split := split_named(word))
    }
    if len(splits) == 1:
        return splits.pop()
    return next((split for part in reversed(folders) if (split := split_named(part))), "")


def shown(text: str) -> str:
    """Write a label as records allow."""
    if len(text) <= MAX_NAME and text.isprintable():
        return text
    return shown_label(text[: MAX_NAME + 1].encode("utf-8", errors="surrogateescape"))


def with_detail(finding: Finding, detail: Mapping[str, Any]) -> Finding:
    """Add to a finding's detail."""
    return replace(finding, detail={**finding.detail, **detail})


def unreadable(raw: bytes, error: Exception) -> Finding:
    """Say of a list that it cannot be read, and why."""
    known = CODES.get(type(error)) if isinstance(error, SickbayError) else None
    code, message = known or CODES[Unreadable]
    return Finding.of(code, SamplePath(raw).text, message)
