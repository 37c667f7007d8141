"""What is usual in the set, and who is like whom: all that its checks ask."""

from functools import lru_cache

import numpy as np

from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole.copies import SHOWN, Group
from sickbay.scanner.checks.whole.first_pass import FirstPass
from sickbay.scanner.checks.whole.near import Neighbours, Spots
from sickbay.scanner.checks.whole.nearest import Near, Nearest
from sickbay.scanner.checks.whole.numbers import NONE, Runs, column, repeated
from sickbay.scanner.checks.whole.sizes import UsualSize

_GROUPS = 256  # remembered while their members come by
_PATHS = 4096  # likewise: what looks alike names the same few


class SetFacts:
    """Takes over the first pass, frees its columns one after another, and answers by number."""

    def __init__(self, first: FirstPass, policy: Policy, most: int) -> None:
        self.names = first.names
        self.split_names = first.split_names
        self.usual_mode = next(
            (mode for mode, count in first.modes.items() if 2 * count > first.modes.total()), None
        )
        self.usual_size = UsualSize.of(first.pixels(), policy.odd_size_factor)
        self.usual_shapes = first.shapes.usual()
        first.free_measures()
        self._splits = column(first.splits, np.uint16)
        self._labels = column(first.labels, np.uint64)
        self._contents = _contents(first)
        self._alike = _alike(first)
        first.free_keys()
        self._nearest = self._compared(first, policy, most)
        first.free_hashes()
        self._copies = lru_cache(_GROUPS)(self._copies_of)
        self._named = lru_cache(_GROUPS)(self._named_alike)

    def copies(self, number: int) -> dict[str, Group]:
        """The samples with this one's content by split, itself included; none where it is alone."""
        group = int(self._contents.of[number])
        return {} if group == NONE else self._copies(group)

    def _copies_of(self, group: int) -> dict[str, Group]:
        members = self._contents.group(group)
        splits = self._splits[members]
        return {
            self.split_names[split]: Group.of(members[splits == split], self._labels, self.names)
            for split in np.unique(splits).tolist()
        }

    def alike(self, number: int, path: str) -> list[str]:
        """Other names that differ from this one in case only."""
        group = int(self._alike.of[number])
        return [] if group == NONE else [one for one in self._named(group) if one != path][:SHOWN]

    def _named_alike(self, group: int) -> list[str]:
        members = self._alike.group(group)[: SHOWN + 1].tolist()
        return [self.names.path(number) for number in members]

    def near(self, number: int) -> Near | None:
        """The pictures that look almost like this one."""
        if self._nearest is None:
            return None
        return self._nearest.of(number, max(1, len(self.copies(number))))

    def _compared(self, first: FirstPass, policy: Policy, most: int) -> Nearest | None:
        if not any(first.hashed) or policy.severity_of("image.near-duplicate") is None:
            return None
        spots = Spots.of_samples(first, self._contents)
        first.free_hashes()
        return Nearest(
            lru_cache(_PATHS)(self.names.path),
            self.split_names,
            self._splits,
            self._contents,
            spots,
            Neighbours.of_spots(spots, self._contents, policy.near_duplicate_distance, most),
        )


def _contents(first: FirstPass) -> Runs:
    halves = column(first.contents, np.uint64).reshape(-1, 2)
    splits = column(first.splits, np.uint16)
    return repeated((halves[:, 0], halves[:, 1]), splits, (halves[:, 0] | halves[:, 1]) != 0)


def _alike(first: FirstPass) -> Runs:
    keys = column(first.folded, np.uint64)
    return repeated((keys,), keys, keys != 0)
