"""The catalogue of finding codes: what each means, how bad it is, what to do.

A code is ``family.defect``. ``block`` holds the sample for a decision, ``warn`` is shown beside
it, ``note`` is a remark on something unusual but valid. ``sickbay codes`` prints this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from sickbay.contract.catalogue import annotations, contents, files, pictures, sets, training
from sickbay.contract.errors import BadInput


class Severity(StrEnum):
    """How bad a finding is; declared worst first."""

    BLOCK = "block"
    WARN = "warn"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst; sorts findings worst first."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Defect:
    """One code of the catalogue."""

    code: str
    severity: Severity
    meaning: str
    advice: str

    @property
    def family(self) -> str:
        """The part before the dot."""
        return self.code.partition(".")[0]


_ROWS = (
    *files.ROWS,
    *pictures.ROWS,
    *annotations.ROWS,
    *contents.ROWS,
    *sets.ROWS,
    *training.ROWS,
)

DEFECTS: Mapping[str, Defect] = MappingProxyType(
    {row.code: Defect(row.code, Severity(row.severity), row.meaning, row.advice) for row in _ROWS}
)


def defect(code: str) -> Defect:
    """Return the catalogue's entry for ``code``.

    Raises:
        BadInput: the catalogue has no such code.
    """
    try:
        return DEFECTS[code]
    except KeyError:
        raise BadInput(
            f"There is no finding code {code[:80]!r}; `sickbay codes` lists them."
        ) from None
