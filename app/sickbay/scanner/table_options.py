"""What a person says of the tables of a data set."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What a person says of the tables of a data set, where guessing would go wrong.

    Attributes:
        path: the column or key that names files.
        label: the column or key of the label.
        text: the column or key of the text.
        delimiter: what stands between two cells.
    """

    path: str | None = None
    label: str | None = None
    text: str | None = None
    delimiter: str | None = None
