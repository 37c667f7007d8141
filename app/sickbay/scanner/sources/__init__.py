"""Layouts: each module here reads one kind of data set and yields its samples in order.

A layout's module has a ``NAME``, a one-line ``SUMMARY``, ``recognise`` (why a folder looks like
it, or nothing) and ``read``, which returns a :class:`Source`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from sickbay.contract.finding import Finding
from sickbay.scanner.trees import Skipped

__all__ = ["Found", "Item", "Noted", "Skipped", "Source"]


@dataclass(frozen=True, slots=True)
class Found:
    """A sample, and what is needed to check it.

    Attributes:
        raw: its path below the root; for a row ``data.csv#row=000000002``.
        split: the split it is in, empty where there is none.
        label: its label, empty where there is none.
        kind: which of ``scanner.examine`` checks it.
        side: raw path of the annotation file that is its own.
        given: JSON; what an annotation file of many samples says of it.
        listed: raw path and item of the file that names it: what is missing is reported there.
        findings: what is wrong already by the annotation file alone.
        labels: the class of each of its objects, where it has several; else ``label`` counts.
    """

    raw: bytes
    split: str = ""
    label: str = ""
    kind: str = "picture"
    side: bytes | None = None
    given: Any = None
    listed: tuple[bytes, str] | None = None
    findings: tuple[Finding, ...] = ()
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """An annotation or list file that has findings of its own."""

    raw: bytes
    findings: tuple[Finding, ...]


Item: TypeAlias = Found | Skipped | Noted


class Source(Protocol):
    """The samples of one data set."""

    classes: tuple[str, ...]
    """Names of the classes, as far as known; whole once ``items`` has ended."""

    def items(self) -> Iterator[Item]:
        """Yield everything in ascending order of raw path, each path once."""
        ...
