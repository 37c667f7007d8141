"""When a value of a curve is not as the ones before: a spike, a new level, a steady rise.

A value is a spike where it stands ``threshold`` spreads above what the window expects. Spikes are
not admitted to the window, so that one of them does not hide the next; but after ``consecutive``
of them in a row the curve has a new level: that is one event, and the window begins afresh.

Some curves throw large values every day. How large is known from the scores of accepted values
alone, so that spikes cannot raise the bar for one another: where one in 500 of the last four
thousand reaches q, a spike needs a score of q²/3. Noise like a normal distribution has q of about
3 and keeps the threshold of 8. How well all this does: ``tests/benchmarks/test_detectors.py``.
"""

import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any

from sickbay.trainer.watch.window import Expected, Window, median

if TYPE_CHECKING:
    from array import array

VERSION = 1
"""Of the rules: it rises whenever the same curve may get another answer."""
_EVERYDAY, _SHARE = 4096, 500
"""Scores that are looked back at for what is usual, of which one in so many is larger still."""
_OFTEN = 8
"""Values until what is expected is worked out anew, if none of them looks odd."""
_RISES, _EACH, _ALTOGETHER = 4, 0.4, 2.5
"""A new level makes the medians of two blocks rise; four are a trend. By how many spreads each
must: the median of a block of 64 varies by about a quarter of one."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What the rules are told; stored with every event.

    Attributes:
        window: accepted values that are looked back at.
        active_after: accepted values before anything is judged.
        threshold: spreads above what is expected that make a spike.
        consecutive: spikes in a row that make a new level.
        floor: smallest spread, as a share of the curve's level.
        least: smallest spread, absolute: for a curve at zero.
    """

    window: int = 128
    active_after: int = 32
    threshold: float = 8.0
    consecutive: int = 16
    floor: float = 0.01
    least: float = 1e-6


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found.

    Attributes:
        name: ``spike``, ``sustained`` (a new level) or ``rising``.
        value: what was measured; of a rise, the newest median.
        baseline: what was expected; of a rise, the median it began with.
        score: their distance in spreads.
        bar: the score that was needed.
        window: the accepted values before it.
        count: spikes in a row, with this one.
    """

    name: str
    value: float
    baseline: float
    score: float
    bar: float
    window: "array[float]"
    count: int = 1


class Rule:
    """Judges the values of one curve, one after another."""

    def __init__(self, thresholds: Thresholds) -> None:
        self.thresholds = thresholds
        self._window = Window(thresholds.window)
        self._scores: deque[float] = deque(maxlen=_EVERYDAY)
        self._spikes: list[float] = []
        self._highest = 0.0
        self._blocks: deque[float] = deque(maxlen=_RISES + 1)
        self._in_block = 0
        self._rising = False
        self._known: Expected | None = None
        self._age = 0

    def judge(self, value: float) -> Found | None:
        """Say what is wrong with the next value, which must be finite; nothing where all is well.

        Of spikes in a row the first is told, those twice as high as any told before, and the one
        that makes it a new level.
        """
        if len(self._window) < self.thresholds.active_after:
            self._window.add(value)
            return None
        expected, score = self._scored(value)
        if score < self.thresholds.threshold or score < (bar := self._bar()):
            return self._accept(value, score, self._widest(expected))
        self._spikes.append(value)
        sustained = len(self._spikes) >= self.thresholds.consecutive
        found = Found(
            "sustained" if sustained else "spike",
            value,
            expected.baseline(),
            score,
            bar,
            self._window.values(),
            len(self._spikes),
        )
        return self._new_level(found) if sustained else self._if_higher(found)

    def told(self) -> dict[str, Any]:
        """Return version and thresholds as they are stored with an event."""
        return {"version": VERSION, **asdict(self.thresholds)}

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint needs: plain numbers and lists."""
        return {
            "version": VERSION,
            "window": list(self._window.values()),
            "scores": list(self._scores),
            "spikes": list(self._spikes),
            "highest": self._highest,
            "blocks": list(self._blocks),
            "in block": self._in_block,
            "rising": self._rising,
            "expected": list(astuple(self._known)) if self._known is not None else [],
            "age": self._age,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where ``state`` was taken; that of another version is left aside.

        Raises:
            KeyError, TypeError, ValueError: it is none; then nothing has changed.
        """
        if state["version"] != VERSION:
            return
        lists = {name: [float(one) for one in state[name]] for name in _LISTS}
        highest, in_block = float(state["highest"]), int(state["in block"])
        rising, age = bool(state["rising"]), int(state["age"])
        known = Expected(*lists["expected"]) if lists["expected"] else None
        self._window = Window(self.thresholds.window, lists["window"])
        self._scores = deque(lists["scores"], _EVERYDAY)
        self._blocks = deque(lists["blocks"], _RISES + 1)
        self._spikes, self._highest, self._in_block = lists["spikes"], highest, in_block
        self._rising, self._known, self._age = rising, known, age

    def _scored(self, value: float) -> tuple[Expected, float]:
        """Return what is expected and how far above it a value is, in spreads.

        A few values may pass by an older expectation, but none is found by one.
        """
        if self._known is not None and self._age < _OFTEN:
            score = (value - self._known.baseline(self._age)) / self._widest(self._known)
            if score < self.thresholds.threshold / 2:
                return self._known, score
        self._known, self._age = self._window.expected(), 0
        return self._known, (value - self._known.baseline()) / self._widest(self._known)

    def _widest(self, expected: Expected) -> float:
        told = self.thresholds
        return max(expected.spread, told.floor * abs(expected.level), told.least)

    def _bar(self) -> float:
        if not self._scores:
            return self.thresholds.threshold
        usual = sorted(self._scores)[-1 - len(self._scores) // _SHARE]
        return max(self.thresholds.threshold, usual * abs(usual) / 3)

    def _accept(self, value: float, score: float, spread: float) -> Found | None:
        self._spikes, self._highest = [], 0.0
        self._scores.append(score)
        self._window.add(value)
        self._age += 1
        self._in_block += 1
        if self._in_block < self.thresholds.window // 2:
            return None
        self._in_block = 0
        self._blocks.append(median(self._window.values()[-(self.thresholds.window // 2) :]))
        return self._rise(spread)

    def _rise(self, spread: float) -> Found | None:
        """Say whether the last blocks' medians rose by more than noise can do; once a rise."""
        blocks = list(self._blocks)
        rises = [later - earlier for earlier, later in itertools.pairwise(blocks)]
        self._rising = self._rising and rises[-1:] > [0]
        if self._rising or len(rises) < _RISES or min(rises) < _EACH * spread:
            return None
        if (score := sum(rises) / spread) < _ALTOGETHER:
            return None
        self._rising = True
        return Found("rising", blocks[-1], blocks[0], score, _ALTOGETHER, self._window.values())

    def _new_level(self, found: Found) -> Found:
        self._window.restart(self._spikes)
        self._blocks.clear()
        self._known = None
        self._spikes, self._highest, self._in_block, self._rising = [], 0.0, 0, False
        return found

    def _if_higher(self, found: Found) -> Found | None:
        if found.score < 2 * self._highest:
            return None
        self._highest = found.score
        return found


_LISTS = ("window", "scores", "spikes", "blocks", "expected")
