"""Whether two splits differ in labels, picture sizes or brightness more than chance explains.

Labels: total variation, half the sum of the differences between two splits' shares. Sizes and
brightness: Kolmogorov-Smirnov, the largest difference between two splits' distribution functions.
Both go from 0 (alike) to 1 (nothing in common) and tell by how large a part of one split the other
differs. A finding needs two things: a distance above the policy's threshold, beyond what chance
would give on average; and one that chance exceeds in less than one comparison of 10,000, however
the data are distributed. Those bounds are McDiarmid's inequality for the total variation (one
sample more or less changes it by 1/n), and that of Dvoretzky, Kiefer and Wolfowitz for two samples
(Wei and Dudley 2012, with their constant e, which holds for samples of any size). Small splits
therefore need a large difference: at 100 samples each the distance must exceed 0.32 and 0.36.
Both suppose that samples fall into splits one by one; frames of one film do not.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import e, log, sqrt

import numpy as np

from sickbay.contract.finding import Finding
from sickbay.scanner.checks.whole.first_pass import FirstPass
from sickbay.scanner.checks.whole.numbers import Column, column

FALSE_ALARMS = 1e-4  # of one comparison
_LEAST = 30  # samples of a split
_SPLITS = 8  # the largest are compared: 28 pairs


@dataclass(frozen=True, slots=True)
class Numbers:
    """One number a sample, NaN where unknown, and how to speak of it."""

    name: str
    noun: str
    values: Column
    shown: Callable[[float], str]


def total_variation(one: Mapping[str, int], other: Mapping[str, int]) -> tuple[float, float, float]:
    """Compare two counts of labels.

    Returns:
        The distance, what chance gives at most on average, and what it may add to that.
    """
    labels = sorted(one.keys() | other.keys())
    counts = np.array([[side.get(label, 0) for label in labels] for side in (one, other)])
    sums = counts.sum(axis=1)
    distance = float(np.abs(counts[0] / sums[0] - counts[1] / sums[1]).sum() / 2)
    share, scatter = counts.sum(axis=0) / sums.sum(), float((1 / sums).sum())
    average = float(np.sqrt(share * (1 - share) * scatter).sum() / 2)
    return distance, average, sqrt(scatter * log(1 / FALSE_ALARMS) / 2)


def kolmogorov_smirnov(one: Column, other: Column) -> tuple[float, float]:
    """Compare two columns of numbers, sorted.

    Returns:
        The distance, and what chance may give.
    """
    ends = np.concatenate((one, other))
    below = (np.searchsorted(side, ends, side="right") / len(side) for side in (one, other))
    distance = float(np.abs(np.subtract(*below)).max())
    return distance, sqrt(log(e / FALSE_ALARMS) * (1 / len(one) + 1 / len(other)) / 2)


def label_drift(table: Mapping[str, Mapping[str, int]], threshold: float) -> Iterator[Finding]:
    """Compare the label shares of each two splits."""
    sizes = {split: sum(counts.values()) for split, counts in table.items()}
    for pair in combinations(sorted(_largest(sizes)), 2):
        one, other = (table[split] for split in pair)
        distance, average, chance = total_variation(one, other)
        if distance - average > max(threshold, chance):
            measure = ("total variation", distance, threshold, average + chance)
            yield _drift(("labels", "label shares"), measure, pair, _largest_change(one, other))


def _largest_change(one: Mapping[str, int], other: Mapping[str, int]) -> str:
    """Name the label whose share differs most."""
    sums = sum(one.values()), sum(other.values())
    shares = {
        label: (one.get(label, 0) / sums[0], other.get(label, 0) / sums[1])
        for label in sorted(one.keys() | other.keys())
    }
    label = max(shares, key=lambda name: abs(shares[name][0] - shares[name][1]))
    return f"{label[:80]!r} is {shares[label][0]:.1%} and {shares[label][1]:.1%}"


def picture_drift(first: FirstPass, threshold: float) -> Iterator[Finding]:
    """Compare picture sizes and brightness of each two splits."""
    if len(first.split_names) < 2:  # noqa: PLR2004 (splits)
        return
    sides = np.sqrt(first.pixels()).astype(np.float32)
    sides[sides == 0] = np.nan
    brightness = column(first.brightness, np.float32)
    for numbers in (
        Numbers("sizes", "picture sizes", sides, lambda side: f"{side:.0f} pixels a side"),
        Numbers("brightness", "brightness", brightness, lambda grey: f"{grey:.0f} of 255"),
    ):
        splits = column(first.splits, np.uint16)
        yield from number_drift(numbers, splits, first.split_names, threshold)


def number_drift(
    numbers: Numbers, splits: Column, names: Sequence[str], threshold: float
) -> Iterator[Finding]:
    """Compare the distributions of one number in each two splits."""
    known = ~np.isnan(numbers.values)
    sizes = np.bincount(splits[known], minlength=len(names))
    parts = {
        split: np.sort(numbers.values[known & (splits == names.index(split))])
        for split in _largest(dict(zip(names, sizes.tolist(), strict=True)))
    }
    for pair in combinations(sorted(parts), 2):
        distance, chance = kolmogorov_smirnov(*(parts[split] for split in pair))
        if distance > max(threshold, chance):
            one, other = (numbers.shown(float(np.median(parts[split]))) for split in pair)
            measure = ("Kolmogorov-Smirnov", distance, threshold, chance)
            example = f"the median is {one} and {other}"
            yield _drift((numbers.name, numbers.noun), measure, pair, example)


def _largest(sizes: Mapping[str, int]) -> list[str]:
    """The largest splits that are large enough to compare."""
    enough = sorted(split for split in sizes if sizes[split] >= _LEAST)
    return sorted(enough, key=lambda split: -sizes[split])[:_SPLITS]


def _drift(
    what: tuple[str, str],
    measure: tuple[str, float, float, float],
    pair: tuple[str, str],
    example: str,
) -> Finding:
    (name, noun), (distance, value, threshold, chance) = what, measure
    one, other = (split or "the samples without a split" for split in pair)
    message = (
        f"The {noun} of {one} and {other} differ: {distance} is {value:.2f}, "
        f"above {threshold:.2f}; {example}."
    )
    return Finding.of(
        "set.drift",
        "",
        message,
        None,
        of=name,
        splits=list(pair),
        distance=distance,
        value=round(value, 4),
        threshold=threshold,
        chance=round(chance, 4),
    )
