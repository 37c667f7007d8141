"""The near copies of one picture, by name."""

from collections.abc import Callable
from dataclasses import dataclass

from sickbay.scanner.checks.whole.copies import SHOWN
from sickbay.scanner.checks.whole.near import Neighbours, Spots
from sickbay.scanner.checks.whole.numbers import NONE, Column, Runs


@dataclass(frozen=True, slots=True)
class Near:
    """The nearest others of one picture: how many, and the first few with their distances.

    ``across`` is the nearest in another split: path, split and distance in bits. ``cut`` says
    that there may be more, because too much of the set looks alike.
    """

    count: int
    others: tuple[tuple[str, int], ...]
    across: tuple[str, str, int] | None
    cut: bool


@dataclass(frozen=True, slots=True)
class Nearest:
    """Looks near copies up; copies of the same content are left out."""

    path: Callable[[int], str]
    split_names: list[str]
    splits: Column
    contents: Runs
    spots: Spots
    neighbours: Neighbours

    def of(self, number: int, placed: int) -> Near | None:
        """Return what is near to a sample.

        Args:
            number: of the sample.
            placed: in how many splits its content stands.
        """
        spot = int(self.spots.of[number])
        if spot == NONE:
            return None
        count = self.spots.count(spot) + int(self.neighbours.counts[spot]) - placed
        if count < 1:
            return None
        return Near(
            count,
            tuple((self.path(one), bits) for one, bits in self._others(number, spot)),
            self._across(number, spot),
            bool(self.neighbours.cut[spot]),
        )

    def _others(self, number: int, spot: int) -> list[tuple[int, int]]:
        """Samples of other contents and their distance, nearest first."""
        near = [(spot, 0), *self.neighbours.near(spot)]
        named = [(one, bits) for at, bits in near for one in self.spots.on(at, SHOWN + 1)]
        return [(one, bits) for one, bits in named if not self._same(one, number)][:SHOWN]

    def _across(self, number: int, spot: int) -> tuple[str, str, int] | None:
        found = self.neighbours.elsewhere(spot)
        if found is None:
            return None
        others = [one for one in self.spots.on(found[0], 2) if not self._same(one, number)]
        if not others:
            return None
        return self.path(others[0]), self.split_names[self.splits[others[0]]], found[1]

    def _same(self, one: int, other: int) -> bool:
        """Whether two samples have one content."""
        group = int(self.contents.of[one])
        return one == other or (group != NONE and group == int(self.contents.of[other]))
