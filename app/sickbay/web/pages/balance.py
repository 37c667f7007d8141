"""Class balance: how many samples of each class there are, and how many are kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WARN_PERCENT = 5.0
"""A class that loses more is warned about; a twentieth is what shifts a small class visibly."""
_LEAST_WIDTH = 1.0
"""Per cent of the bar: a loss is drawn at least that wide, so that it is seen."""
SHOWN_MOST = 50
"""Rows of a table at first: thousands of classes would make a page of megabytes."""


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class. Widths are in per cent of the bar of the largest class."""

    label: str
    all: int
    kept: int
    kept_width: float
    lost_width: float

    @property
    def lost_percent(self) -> float:
        """The part of the class that is not kept."""
        return 100 * (self.all - self.kept) / self.all if self.all else 0.0

    @property
    def warned(self) -> bool:
        """Whether it loses so much that somebody should look."""
        return self.lost_percent > WARN_PERCENT

    @property
    def change(self) -> str:
        """The loss as a signed percentage; a loss below a tenth is not written as none."""
        if self.all == self.kept:
            return "0 %"
        return f"−{self.lost_percent:.1f} %" if self.lost_percent >= 0.05 else "−<0.1 %"  # noqa: PLR2004, RUF001 (half of what one decimal shows; a true minus sign)


@dataclass(frozen=True, slots=True)
class Balance:
    """A table of classes: those that lose most, or every one."""

    rows: tuple[ClassRow, ...]
    total: int

    @property
    def more(self) -> int:
        """How many classes the table leaves out."""
        return self.total - len(self.rows)

    @property
    def long(self) -> bool:
        """Whether it shows more than it would at first."""
        return len(self.rows) > SHOWN_MOST


def table(rows: Sequence[ClassRow], *, whole: bool) -> Balance:
    """Return the table of a page, cut to its first rows unless it is wanted whole."""
    return Balance(tuple(rows if whole else rows[:SHOWN_MOST]), len(rows))


def rows(before: Mapping[str, int], kept: Mapping[str, int]) -> tuple[ClassRow, ...]:
    """Return a row for each class, those that lose most first, then the largest.

    Nothing where there are no labels.
    """
    if not any(before):
        return ()
    most = max(before.values(), default=0)
    every = [_row(label, number, kept.get(label, 0), most) for label, number in before.items()]
    return tuple(sorted(every, key=lambda row: (-row.lost_percent, -row.all, row.label)))


def of_statistics(statistics: Mapping[str, Any]) -> tuple[ClassRow, ...]:
    """Return the rows of a release, from its ``stats.json``."""
    before: dict[str, int] = {}
    kept: dict[str, int] = {}
    for one in _classes(statistics):
        label = str(one["label_name"])
        before[label] = before.get(label, 0) + int(one["before"])
        kept[label] = kept.get(label, 0) + int(one["after"])
    return rows(before, kept)


def _classes(statistics: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for split in statistics["splits"]:
        yield from split["classes"]


def _row(label: str, number: int, kept: int, most: int) -> ClassRow:
    scale = 100 / most if most else 0.0
    lost = (number - kept) * scale
    shown = max(lost, _LEAST_WIDTH) if lost else 0.0
    return ClassRow(label, number, kept, max(min(kept * scale, 99.6 - shown), 0.0), shown)
