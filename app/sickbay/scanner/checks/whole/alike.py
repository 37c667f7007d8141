"""Pairs of 64-bit hashes that differ in a few bits only, without comparing all with all.

The bits are dealt into ``distance + k`` bands. Two hashes within the distance differ in so few
bits that at least ``k`` bands are equal in both (pigeonhole), so the hashes are sorted once for
each choice of ``k`` bands and compared only where these are equal. Every pair is met under the
first choice of bands that it shares, and counted there only. How large ``k`` should be is
measured on the hashes themselves: few bands make few sorts and many comparisons, many bands the
reverse. Nothing within the distance is missed, unless so many hashes are nearly alike that the
comparisons would exceed a bound; then the hashes concerned are marked as not compared in full.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, count, pairwise
from math import comb

import numpy as np

from sickbay.scanner.checks.whole.numbers import Column

BITS = 64
MOST_COMPARISONS = 1 << 29  # some ten seconds
_PAIR_COST = 8  # comparisons that cost as much as keeping a pair,
_STEP_COST = 1000  # and as one step over few of them
_PART = 1 << 17  # comparisons at a time: a megabyte a temporary column
_SORT_COST = 12  # comparisons that cost as much as sorting one hash; measured at a million
_MOST_K = 4
_MOST_CHOICES = 1000
_SPREAD = tuple((37 * bit + 11) % BITS for bit in range(BITS))  # neighbours are alike: apart


@dataclass(slots=True)
class Pairs:
    """The pairs of one column of hashes within a distance.

    Attributes:
        hashes: 64-bit hashes, ascending.
        distance: bits in which a pair may differ, 0 to 63.
        most: comparisons to make at most; keeping a pair costs as much as several.
        cut: which hashes were not compared with all that they might be near to.
    """

    hashes: Column
    distance: int
    most: int = MOST_COMPARISONS
    cut: Column = field(init=False)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self._left = self.most
        self.cut = np.zeros(len(self.hashes), dtype=np.bool_)

    def __iter__(self) -> Iterator[tuple[Column, Column, Column]]:
        """Yield places of pairs and the bits in which they differ, each pair once.

        Pairs come in parts; within a part no place stands twice on the same side.
        """
        bands, k = _plan(self.hashes, self.distance)
        for number, choice in enumerate(combinations(range(len(bands)), k)):
            shared = _union(bands[band] for band in choice)
            before = [bands[band] for band in range(max(choice, default=0)) if band not in choice]
            order = np.argsort(self.hashes & np.uint64(shared), kind="stable").astype(np.int32)
            spare = self._left - self._left // (comb(len(bands), k) - number)
            for place, step, differing in self._meetings(order, shared, spare):
                near = self._near(differing, before)
                self._left -= _PAIR_COST * len(near)
                if len(near):
                    place, differing = place[near], differing[near]  # noqa: PLW2901 (narrowed)
                    yield order[place], order[place + step], np.bitwise_count(differing)

    def _meetings(
        self, order: Column, shared: int, spare: int
    ) -> Iterator[tuple[Column, int, Column]]:
        """Yield pairs that are equal in the shared bits, as places in the order and their step.

        First neighbours in the order, then those two apart, and so on: where two are no longer
        equal, those further apart are not either. What is ``spare`` is left to later choices.
        """
        values, mask = self.hashes[order], np.uint64(shared)
        active = np.arange(len(values) - 1, dtype=np.int32)
        for step in count(1):
            going = []
            for at in range(0, len(active), _PART):
                place = active[at : at + _PART]
                differing = values[place] ^ values[place + step]
                equal = (differing & mask) == 0
                place, differing = place[equal], differing[equal]
                yield place, step, differing
                going.append(place)
            active = np.concatenate(going) if going else active[:0]
            self._left -= len(active) + _STEP_COST
            active = active[active < len(values) - step - 1]
            if not len(active):
                return
            if self._left < spare:
                self.cut[order[active]] = self.cut[order[active + step + 1]] = True
                return

    def _near(self, differing: Column, before: list[int]) -> Column:
        """Return which pairs are within the distance and not met under an earlier choice."""
        near = np.flatnonzero(np.bitwise_count(differing) <= self.distance)
        for mask in before:
            if not len(near):
                break
            near = near[(differing[near] & np.uint64(mask)) != 0]
        return near


def _plan(hashes: Column, distance: int) -> tuple[list[int], int]:
    """Return the bands, and of how many each choice is: what takes the least work here."""
    plans = [(_bands(distance + k), k) for k in range(_MOST_K + 1) if distance + k <= BITS]
    plans = [plan for plan in plans if comb(len(plan[0]), plan[1]) <= _MOST_CHOICES]
    return min(plans, key=lambda plan: _work(hashes, *plan))


def _work(hashes: Column, bands: list[int], k: int) -> float:
    """Sorts and comparisons, judged by one choice of bands."""
    keys = np.sort(hashes & np.uint64(_union(bands[-k:] if k else ())))
    edges = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    sizes = np.diff(edges, prepend=0, append=len(keys)).astype(np.float64)
    return comb(len(bands), k) * (_SORT_COST * len(keys) + float(sizes @ (sizes - 1)) / 2)


def _bands(number: int) -> list[int]:
    """Deal the bits into so many masks of nearly equal size."""
    edges = [BITS * band // max(number, 1) for band in range(number + 1)]
    return [_union(1 << bit for bit in _SPREAD[one:other]) for one, other in pairwise(edges)]


def _union(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole
