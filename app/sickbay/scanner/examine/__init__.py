"""Kinds of samples: each module here checks one kind, in the child that may die of it."""

from collections.abc import Callable, Iterable
from typing import BinaryIO, Protocol, TypeAlias

from sickbay.contract.finding import Finding
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.task import Setup, Task


class Files(Protocol):
    """The files that a task may read, by raw path."""

    def read(self, raw: bytes) -> tuple[Examined, bytes | None]:
        """Read a file once: its facts and bytes, or a finding and no bytes."""
        ...

    def open(self, raw: bytes) -> BinaryIO:
        """Open a file that is too large to read at once.

        Raises:
            SickbayError: one of those of :mod:`sickbay.contract.inside`.
        """
        ...


Examiner: TypeAlias = Callable[[Files, Task, Setup, int], Examined]
"""Checks one task with a degree of care and returns what was found."""
Annotations: TypeAlias = Callable[[Files, Task, Setup, Evidence], Iterable[Finding]]
"""Checks what is said of a picture against what its decoder found."""
