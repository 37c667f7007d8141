"""Which pictures look almost the same as which others.

A *spot* is one hash in one split, an *entry* one content on a spot: copies of one file are one
entry, for they are told as duplicates already. Spots are compared, entries counted and named.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sickbay.scanner.checks.whole.alike import Pairs
from sickbay.scanner.checks.whole.first_pass import FirstPass
from sickbay.scanner.checks.whole.numbers import NONE, Column, Runs, changes, column

_KEPT = 4  # nearest spots remembered of each
_FAR = np.uint64((1 << 64) - 1)
_PLACE = np.uint64(32)  # a neighbour is one number: the distance, then 32 bits of its place


@dataclass(slots=True)
class Spots:
    """Distinct hashes by split, and the contents on each.

    Attributes:
        hashes: of each spot, ascending.
        splits: number of the split of each spot.
        of: the spot of each sample, ``NONE`` without a hash.
        entries: the first sample of each content, spot by spot.
        starts: where each spot begins in ``entries``, and where the last ends.
    """

    hashes: Column
    splits: Column
    of: Column
    entries: Column
    starts: Column

    @classmethod
    def of_samples(cls, first: FirstPass, copies: Runs) -> "Spots":
        """Sort the samples by hash, split and content."""
        hashes, splits = column(first.hashes, np.uint64), column(first.splits, np.uint16)
        number = np.arange(len(first), dtype=np.int32)
        contents = np.where(copies.of == NONE, number, copies.of + len(first))
        order = number[column(first.hashed, np.bool_)]
        order = order[np.lexsort((contents[order], splits[order], hashes[order]))]
        spot = changes((hashes[order], splits[order]))
        entry = spot | changes((contents[order],))
        of = np.full(len(first), NONE, dtype=np.int32)
        of[order] = np.cumsum(spot, dtype=np.int32) - 1
        heads, entries = order[spot], order[entry]
        starts = np.append(np.flatnonzero(spot[entry]), len(entries)).astype(np.int32)
        return cls(hashes[heads], splits[heads], of, entries, starts)

    def sizes(self) -> Column:
        """How many entries each spot has."""
        return np.diff(self.starts)

    def count(self, spot: int) -> int:
        """How many entries a spot has."""
        return int(self.starts[spot + 1] - self.starts[spot])

    def on(self, spot: int, most: int) -> list[int]:
        """Return the samples of the first entries of a spot."""
        start = int(self.starts[spot])
        numbers: list[int] = self.entries[start : start + min(most, self.count(spot))].tolist()
        return numbers


@dataclass(slots=True)
class Neighbours:
    """Of each spot: how many entries are near, its nearest spots, and the nearest elsewhere.

    Attributes:
        counts: entries on other spots within the distance.
        nearest: the nearest other spots, as distance and place in one number.
        across: the nearest spot in another split, likewise.
        cut: spots that may have more, because too many hashes are nearly alike.
    """

    counts: Column
    nearest: Column
    across: Column
    cut: Column = field(init=False)

    @classmethod
    def of_spots(cls, spots: Spots, copies: Runs, distance: int, most: int) -> "Neighbours":
        """Find all pairs of spots within the distance, in bounded memory."""
        number = len(spots.hashes)
        found = cls(
            np.zeros(number, dtype=np.int32),
            np.full((number, _KEPT), _FAR),
            np.full(number, _FAR),
        )
        sizes = spots.sizes()
        pairs = Pairs(spots.hashes, distance, most)
        found.cut = pairs.cut
        for left, right, bits in pairs:
            new = ~_copied(spots, copies, sizes, left, right)
            apart = new & (spots.splits[left] != spots.splits[right])
            for one, other in ((left, right), (right, left)):
                key = (bits.astype(np.uint64) << _PLACE) | other.astype(np.uint64)
                found.counts[one] += sizes[other]
                at = one[apart]
                found.across[at] = np.minimum(found.across[at], key[apart])
                _keep(found.nearest, one[new], key[new])
        return found

    def near(self, spot: int) -> Iterator[tuple[int, int]]:
        """Yield the nearest spots and their distance in bits, nearest first."""
        for key in sorted(self.nearest[spot].tolist()):
            if key != _FAR:
                yield _spot(key)

    def elsewhere(self, spot: int) -> tuple[int, int] | None:
        """Return the nearest spot in another split and its distance, if there is one."""
        key = int(self.across[spot])
        return None if key == _FAR else _spot(key)


def _spot(key: int) -> tuple[int, int]:
    return key & ((1 << 32) - 1), key >> 32


def _copied(spots: Spots, copies: Runs, sizes: Column, left: Column, right: Column) -> Column:
    """Which pairs are one content in two splits and nothing else: a copy, not a near one."""
    one, other = (copies.of[spots.entries[spots.starts[side]]] for side in (left, right))
    copied: Column = (one == other) & (one != NONE) & (sizes[left] == 1) & (sizes[right] == 1)
    return copied


def _keep(nearest: Column, spots: Column, keys: Column) -> None:
    """Let each of these spots, all distinct, keep the new key instead of its largest."""
    kept = nearest[spots]
    worst = kept.argmax(axis=1)
    better = np.flatnonzero(keys < kept[np.arange(len(spots)), worst])
    nearest[spots[better], worst[better]] = keys[better]
