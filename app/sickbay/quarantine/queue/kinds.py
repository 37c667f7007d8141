"""What a sample is besides a path: a picture, a row, a text or arrays, and what to show of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sickbay.contract.rows import Row, row_of

MOST_SHOWN = 500
"""Characters of an excerpt."""
_MOST_AXES = 32


class SampleKind(StrEnum):
    """What a reviewer looks at."""

    PICTURE = "picture"
    ROW = "row"
    TEXT = "text"
    ARRAY = "array"


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """What is known of an array that a finding is about."""

    shape: tuple[int, ...] | None
    dtype: str | None


def kind_of(layout: str, row: Row | None) -> SampleKind:
    """Return the kind of a sample of that layout, which is a row of a file or none."""
    if row is not None:
        return SampleKind.ROW
    return {"text": SampleKind.TEXT, "arrays": SampleKind.ARRAY}.get(layout, SampleKind.PICTURE)


def row_and_kind(layout: str, raw_path: bytes) -> tuple[Row | None, SampleKind]:
    """Return which row a sample is, if it is one, and its kind."""
    row = row_of(layout, raw_path)
    return row, kind_of(layout, row)


def excerpt_of(detail: Mapping[str, Any]) -> str | None:
    """Return the place in the text that a finding means, where it brings one."""
    found = detail.get("excerpt")
    return found[:MOST_SHOWN] if isinstance(found, str) and found else None


def array_of(detail: Mapping[str, Any]) -> ArrayFacts | None:
    """Return shape and type of the array that a finding means, where it brings them."""
    found = detail.get("array")
    if not isinstance(found, Mapping):
        return None
    shape, dtype = found.get("shape"), found.get("dtype")
    whole = isinstance(shape, list) and all(type(length) is int for length in shape)
    return ArrayFacts(
        shape=tuple(shape[:_MOST_AXES]) if whole and isinstance(shape, list) else None,
        dtype=dtype[:MOST_SHOWN] if isinstance(dtype, str) else None,
    )
