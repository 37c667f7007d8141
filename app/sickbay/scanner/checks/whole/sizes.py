"""What size of picture is usual in the set."""

from dataclasses import dataclass

import numpy as np

from sickbay.scanner.checks.whole.numbers import Column

_LEAST = 20  # pictures that make a rule
_FENCE = 3.0  # interquartile ranges


@dataclass(frozen=True, slots=True)
class UsualSize:
    """Pixels below ``least`` or above ``most`` are odd; ``median`` is the middle picture's.

    Both must hold: more than ``factor`` times larger or smaller than the median, and more than
    three interquartile ranges of the logarithm outside the middle half. The fences are Tukey's
    far-out ones, as in CleanVision's ``odd_size`` (factor 3); alone they flag one pixel of
    difference in a set of one size, and the factor alone flags a third of a set of mixed sizes.
    """

    least: float
    most: float
    median: float

    @classmethod
    def of(cls, pixels: Column, factor: float) -> "UsualSize | None":
        """Judge by all pictures whose size is known; too few make no rule."""
        known = pixels[pixels > 0]
        if len(known) < _LEAST:
            return None
        low, middle, high = np.percentile(np.log(known), [25, 50, 75])
        reach, step = _FENCE * (high - low), np.log(factor)
        return cls(
            least=float(np.exp(min(low - reach, middle - step))),
            most=float(np.exp(max(high + reach, middle + step))),
            median=float(np.exp(middle)),
        )

    def odd(self, pixels: int) -> bool:
        """Whether a picture of so many pixels is far from usual."""
        return not self.least * (1 - 1e-9) <= pixels <= self.most * (1 + 1e-9)
