"""Damage that no decoder sees: brightness or colour that shifts within a row of a JPEG and stays.

A JPEG stores the mean of each block as the difference from the block before. One wrong bit
therefore shifts every block that follows, until the next restart marker or the end of the scan.
In the picture that is a step of constant height with a stair in it: from the wrong block to the
right edge it runs along the upper border of its row, and from the left edge to the column of that
block along the border below. Nothing that a camera sees or a person draws has its edges on both
borders, ends them at one column and keeps their height constant over what the picture shows.

Looking is cheap at first: votes on the picture at 1/8, where a block is one pixel. Only where they
allow a stair are the pixels themselves decoded and measured.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]
"""Height x width x channels."""
_Steps: TypeAlias = NDArray[np.int16]
"""Channel x border of rows x column."""
_Votes: TypeAlias = NDArray[np.int8]
_Counts: TypeAlias = NDArray[np.int16]
_Weights: TypeAlias = NDArray[np.float32]

LIKELY, CERTAIN = 0.1, 0.5
"""Certainties from which a stair is worth a warning, and from which it is damage.

Measured with 1,448 files in which one silently flipped byte had spoiled over 5 % of the pixels:
58 % and 33 % of them are above. Of 3,344 clean crops of photos none is above 0.08; of 7,986
textures, drawings and screenshots 18 are above the first, the worst at 0.30.
"""
_FEWEST_ROWS = 2  # of steps: a stair stands in two
_AROUND = range(-2, 2)  # the rows on both sides of a border
_MARGIN = 0.08  # of the width: a stair that close to the side is an ordinary edge
_QUIET = 6  # twice a step of three grey values: differences below vote for nothing
_NOISE = 1.5  # times the mean step: as much votes for nothing either
_TILT = 0.4  # of all votes on two borders
_SUSPICIOUS = 0.55  # of all votes at 1/8
_PLAUSIBLE = 0.3  # of all votes at full size
_LOOKED_AT = 3  # stairs measured in each channel, those with most votes
_TALL_ENOUGH = 0.35  # of the median height; where clipping at black or white takes part of it
_HIGH = 30  # grey values: from there on height says no more
_TEXTURED = 8  # median deviation in grey values: from there on texture says no more


@dataclass(frozen=True, slots=True)
class Shift:
    """One stair: where it begins, in units of the picture it was found in, and its height."""

    row: int
    column: int
    height: float
    certainty: float


def blocks(pixels: Pixels, side: int) -> Pixels:
    """Make a picture of block means where blocks are ``side`` pixels wide."""
    if side == 1:
        return pixels
    down, across = pixels.shape[0] // side, pixels.shape[1] // side
    tiles = pixels[: down * side, : across * side].reshape(
        down, side, across, side, pixels.shape[2]
    )
    means: Pixels = (tiles.sum(axis=(1, 3), dtype=np.uint32) // side**2).astype(np.uint8)
    return means


def suspicious(means: Pixels, unit: tuple[int, int]) -> bool:
    """Whether a picture of block means may hold a stair.

    Args:
        means: one pixel a block.
        unit: blocks in a coded unit, across and down.
    """
    steps = _steps(means.astype(np.int16), unit[1])
    if steps is None:
        return False
    usual = int(np.abs(steps).sum(dtype=np.int64)) / steps.size
    passed = _passed(_votes(steps, max(_QUIET, int(_NOISE * usual))))
    return _tilted(passed) and _likeliest(passed, unit[0]) > _SUSPICIOUS


def _tilted(passed: _Counts) -> bool:
    """Whether two borders together go up or down: every other photo needs no closer look."""
    sums = passed[:, :, -1]
    return bool(np.abs(sums[:, 1:] + sums[:, :-1]).max() > _TILT * passed.shape[2])


def _likeliest(passed: _Counts, across: int) -> float:
    """The largest share of votes that the weaker part of any stair has."""
    upper, lower = _shares(passed, across)
    if not upper.size:
        return 0
    rising, falling = np.minimum(upper, lower).max(), np.maximum(upper, lower).min()
    return max(float(rising), -float(falling))


def find(pixels: Pixels, unit: tuple[int, int]) -> Shift | None:
    """Return the most certain stair of a decoded picture.

    Args:
        pixels: decoded with chroma that is repeated, not interpolated, which would blur steps.
        unit: pixels in a coded unit, across and down.
    """
    steps = _steps(pixels, unit[1])
    if steps is None:
        return None
    weights = _weights(_passed(_votes(steps, _QUIET)), unit[0])
    measured = (
        _measured(pixels, steps, unit, stair)
        for stair in _stairs(weights, pixels.shape[1], unit[0])
    )
    return max(measured, key=lambda shift: shift.certainty, default=None)


def _steps(pixels: Pixels | _Steps, down: int) -> _Steps | None:
    """Twice the step at each border of rows, less the slope on both of its sides."""
    first, last = _first_border(down), pixels.shape[0] - 1
    if last - first <= (_FEWEST_ROWS - 1) * down:
        return None
    upper, above, below, lower = (
        pixels[first + at : last + at : down].astype(np.int16, copy=False) for at in _AROUND
    )
    steps: _Steps = below - above
    steps *= 3
    steps += upper
    steps -= lower
    return np.ascontiguousarray(steps.transpose(2, 0, 1))


def _first_border(down: int) -> int:
    """The first row of pixels below a border that has two above it."""
    return max(down, 2)


def _votes(steps: _Steps, quiet: int) -> _Votes:
    """Let each pixel along a border vote for up (1), down (-1) or neither."""
    return (steps > quiet).view(np.int8) - (steps < -quiet).view(np.int8)


def _passed(votes: _Votes) -> _Counts:
    """Sum up the votes along each border."""
    counts: _Counts = np.cumsum(votes, axis=2, dtype=np.int16)
    return counts


def _shares(passed: _Counts, across: int) -> tuple[_Weights, _Weights]:
    """The shares of votes, -1 to 1, of the upper and the lower part of each possible stair.

    They are channel x border x coded unit in which it begins.
    """
    upper_scale, lower_scale, places = _scales(passed.shape[2], across)
    left = passed[:, :, places]
    upper = passed[:, :-1, -1:] - left[:, :-1]
    return upper * upper_scale, left[:, 1:] * lower_scale


def _weights(passed: _Counts, across: int) -> _Weights:
    """Weigh stairs: the share of votes of the weaker part, less half of those beside it."""
    upper, lower = _shares(passed, across)
    left = passed[:, :, _scales(passed.shape[2], across)[2]]
    beside = left[:, :-1] + passed[:, 1:, -1:] - left[:, 1:]
    weaker: _Weights = np.maximum(np.minimum(upper, lower), -np.maximum(upper, lower))
    weaker -= np.abs(beside) * np.float32(0.5 / passed.shape[2])
    return weaker


@lru_cache(maxsize=64)
def _scales(width: int, across: int) -> tuple[_Weights, _Weights, slice]:
    """One by the length of the upper and the lower part, and where stairs may begin."""
    first, last = _inner(width, across)
    columns = np.arange(first * across, last * across, across, dtype=np.float32)
    places = slice(first * across - 1, max(first, last) * across - 1, across)
    one = np.ones(1, np.float32)
    return one / (width - columns), one / columns, places


def _inner(width: int, across: int) -> tuple[int, int]:
    """The units, from first to before last, that lie far enough from both sides."""
    first = max(1, math.ceil(_MARGIN * width / across))
    return first, math.floor((1 - _MARGIN) * width / across) + 1


def _stairs(weights: _Weights, width: int, across: int) -> Iterator[tuple[int, int, int]]:
    """Yield channel, border and column of the stairs that weigh most."""
    first, _ = _inner(width, across)
    for channel, weighed in enumerate(weights):
        flat = weighed.ravel()
        for at in np.argsort(flat)[: -_LOOKED_AT - 1 : -1]:
            if flat[at] > _PLAUSIBLE:
                row, unit = divmod(int(at), weighed.shape[1])
                yield channel, row, (first + unit) * across


def _measured(
    pixels: Pixels, steps: _Steps, unit: tuple[int, int], stair: tuple[int, int, int]
) -> Shift:
    """Say how certain one stair is: how alone, high and even, and how much of a texture it cuts."""
    channel, row, column = stair
    upper, lower = steps[channel, row] / 2, steps[channel, row + 1] / 2
    parts, beside = (upper[column:], lower[:column]), (upper[:column], lower[column:])
    heights = [_median(part) for part in parts]
    height = _median(np.concatenate(parts))
    least = max(1.0, _TALL_ENOUGH * abs(height))
    rising = [np.count_nonzero(part * np.sign(height) > least) / part.size for part in parts]
    others = [np.count_nonzero(np.abs(part) > least) / part.size for part in beside]
    alone = max(0.0, min(rising) - max(others))
    even = max(0.0, 1 - abs(heights[0] - heights[1]) / max(1.0, abs(height)))
    at = _first_border(unit[1]) + row * unit[1]
    texture = 0.4 + 0.6 * min(1, _texture(pixels, at, unit[1], column, channel) / _TEXTURED)
    certainty = alone * even * texture * min(1, abs(height) / _HIGH)
    return Shift(at, column, height, float(certainty))


def _median(values: NDArray[Any]) -> float:
    """The middle value; NumPy's own takes ten times as long for so few."""
    middle = values.size // 2
    return float(np.partition(values, middle)[middle])


def _texture(pixels: Pixels, at: int, down: int, column: int, channel: int) -> float:
    """How much the pixels differ along the border, on that of its sides where they do less."""
    return min(
        _median(np.abs(along - _median(along)))
        for along in (
            np.concatenate([pixels[y, column:, channel], pixels[y + down, :column, channel]])
            for y in (at - 1, at)
        )
    )
