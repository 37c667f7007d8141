"""One row of the catalogue, as its modules write it."""

from typing import NamedTuple


class Row(NamedTuple):
    """A code, its default severity, what it means, and what to do about it."""

    code: str
    severity: str
    meaning: str
    advice: str
