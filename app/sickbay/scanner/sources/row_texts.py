"""Texts of rows as their table's reader sees them, which no child does: those beside pictures."""

from collections.abc import Iterator, Sequence
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.scanner.checks import texts
from sickbay.scanner.checks.texts import Field
from sickbay.scanner.excerpt import excerpt

_CAPTIONS = {"text", "texts", "caption", "captions", "prompt"}
"""What a picture's row says in words; without a label it is all that is to be learnt."""


def captions(columns: Sequence[tuple[str, int]], label: object) -> list[tuple[str, int]]:
    """Return the columns that hold captions; where there are labels, a blank one is no fault."""
    if label is not None:
        return []
    return [one for one in columns if _key(one[0]) in _CAPTIONS]


def of_listed(text: str, at: int, fields: Sequence[Field]) -> Iterator[Finding]:
    """Say what is wrong with the row of a picture: its bytes, or a caption that says nothing.

    Args:
        text: the row; bytes that are not UTF-8 are surrogates.
        at: offset of its first byte in the file.
        fields: its captions.
    """
    finding = undecoded(text, at)
    if finding is not None:
        yield finding
        return
    yield from (finding for field in fields if (finding := texts.empty(field)) is not None)


def undecoded(text: str, at: int) -> Finding | None:
    """Say that a row or header is not UTF-8, without a guess at what it is: there may be many."""
    if text.isascii():
        return None
    data = text.encode("utf-8", errors="surrogateescape")
    return texts.bad_encoding(data, at, guess=False)


def lacking(
    value: dict[str, Any], fields: Sequence[tuple[str, int, bool]], needed: Sequence[str]
) -> Finding | None:
    """Say that an object has null, or nothing, where most others have its main text.

    Args:
        value: the object.
        fields: name, number and whether a row is nothing without it, of each text.
        needed: names of the keys under which most objects have a text.
    """
    for name, _, main in fields:
        if not main or name not in needed or value.get(name) is not None:
            continue
        if name in value:
            said = f"The field {excerpt(name)[:80]!r} is null; most lines have a text there."
            return Finding.of("text.empty", "", said, None, field=excerpt(name))
        said = f"The field {excerpt(name)[:80]!r} is missing; most lines have a text there."
        return Finding.of("annotation.schema-mismatch", "", said, None, field=excerpt(name))
    return None


def _key(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
