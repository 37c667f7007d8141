"""From a bad step to a verdict: repeated in the same state, narrowed down, tried in a fresh one.

What this batch does is compared with what the batch before it does, in the same state: where that
one, which was fine, is bad now too, it is the state and no sample. The batch before is asked as
well where the state is broken: its update may have broken it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.blame import Outcome
from sickbay.trainer.blame import ranking
from sickbay.trainer.blame.bench import Bench, OutOfTime, Reading
from sickbay.trainer.blame.bisection import bisect
from sickbay.trainer.blame.moments import Moment

_SAME = 1e-3
"""Relative difference up to which two results of the same step are the same."""
_FAR = 4.0
"""Where the samples' own losses are not known: so many times the others' is not as the others."""
_MOST_NAMED = 3
_MOST_RANKED = 10
Fresh = Callable[[], str]
"""Puts the bench's model into a fresh state, and returns which; or nothing where it cannot."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be explained.

    Attributes:
        value: of the loss, or of the gradient's norm, as it was in the training.
        baseline: what was expected of it.
        now: the bad step.
        before: the one before it, if it is known.
    """

    value: float
    baseline: float | None
    now: Moment
    before: Moment | None

    @property
    def bar(self) -> float:
        """The value above which a repetition is bad too: half way to what it was; inf for NaN."""
        if not math.isfinite(self.value):
            return math.inf
        return (self.value + (self.baseline or 0.0)) / 2

    def bad(self, value: float) -> bool:
        """Whether a repetition shows it again."""
        return not math.isfinite(value) or value > self.bar


@dataclass(slots=True)
class Judged:
    """A verdict in the making.

    Attributes:
        rows: the blamed samples of the batch, the most blamed first.
        losses: of the batch's samples, or what the blamed ones came to alone.
        of_before: whether the batch is the one before.
    """

    outcome: Outcome | None = None
    rows: list[int] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    of_before: bool = False
    detail: dict[str, Any] = field(default_factory=dict)


class Inquiry:
    """One anomaly, and the bench it is repeated on."""

    def __init__(self, case: Case, bench: Bench, fresh: Fresh) -> None:
        self._case = case
        self._bench = bench
        self._fresh = fresh
        self._afresh = ""
        self.found = Judged()

    def judge(self) -> Judged:
        """Repeat the step until it is clear what it was, or time is up."""
        try:
            self.found.outcome = self._outcome()
        except OutOfTime:
            budget = self._bench.budget
            words = f"stopped after {budget.used:.0f} s and {budget.forwards} forward passes"
            self.found.detail["unfinished"] = f"{words}; sickbay replay goes on with more time"
            self.found.rows = []
        return self.found

    def _outcome(self) -> Outcome:
        if not self._bench.sound():
            self.found.detail["state"] = "the weights are not finite any more"
            return self._without_the_state()
        first = self._whole()
        if not self._case.bad(first.value):
            second = self._bench.repeat(self._case.now)
            same = _same(first.value, second.value)
            return Outcome.NOT_REPRODUCED if same else Outcome.DIFFERS_ON_REPEAT
        self.found.outcome = Outcome.ONLY_IN_THIS_STATE
        self.found.detail["repeated"] = first.value
        self._locate(self._case.now, first)
        return self._compared()

    def _whole(self) -> Reading:
        """Repeat the step; with its samples apart from one another, where that shows it too."""
        bench, case = self._bench, self._case
        if bench.can_be_apart:
            bench.apart = True
            found = bench.repeat(case.now)
            self.found.detail["batch norm"] = "by its running statistics, as before the step"
            if case.bad(found.value):
                return found
            bench.apart = False
            self.found.detail["batch norm"] = "by the batch, as in the step"
        return bench.repeat(case.now)

    def _locate(self, moment: Moment, whole: Reading) -> None:
        """Name the samples that account for it, by their own losses, else by bisection."""
        if whole.each is not None:
            self._rank(whole.each, "this")
            self.found.rows = ranking.accountable(whole.each, self._case.bar / _scale(whole))
            self.found.losses = dict(enumerate(whole.each))
            self.found.detail["found by"] = "the loss of each sample"
        if not self.found.rows and (whole.each is None or self._coupled(whole.each)):
            self._halve(moment, whole.value)
        self.found.detail["forwards to name it"] = self._bench.budget.forwards

    def _coupled(self, each: tuple[float, ...]) -> bool:
        """Whether one sample may have spoilt the losses of all others, through the batch."""
        return self._bench.can_be_apart and not any(map(math.isfinite, each))

    def _halve(self, moment: Moment, whole: float) -> None:
        """Bisect, and look whether the rest of the batch is sound then; if not, go on with it."""
        bench = self._bench
        no_means = bench.by_gradient or (bench.can_be_apart and not bench.apart)
        bar = self._case.bar if no_means else math.inf
        left = list(range(moment.call.count()))
        named: list[int] = []
        self.found.detail["found by"] = "bisection of the batch"
        while left and len(named) < _MOST_NAMED:
            row = bisect(lambda rows: bench.repeat(moment, rows).value, left, whole, bar)
            named.append(row)
            left.remove(row)
            whole = bench.repeat(moment, left).value if left else 0.0
            if not self._case.bad(whole):
                self.found.rows = named
                return
            if len(named) == 1 and self._before_is_bad():
                return

    def _compared(self) -> Outcome:
        """Compare with the batch before in this state, and with a fresh state."""
        if self._before_is_bad():
            self.found.rows = []
            self.found.detail["state"] = "the batch before, which was fine, does it now too"
            return self._without_the_state()
        if not self._refresh():
            return Outcome.ONLY_IN_THIS_STATE
        alone = self._alone() if self.found.rows else self._whole_is_odd(self._case.now)
        return Outcome.REPRODUCED_ALONE if alone else Outcome.ONLY_IN_THIS_STATE

    def _before_is_bad(self) -> bool:
        before = self._case.before
        if before is None:
            return False
        if "the batch before" not in self.found.detail:
            reading = self._bench.repeat(before)
            self.found.detail["the batch before"] = reading.value
            if reading.each is not None:
                self._rank(reading.each, "before")
        return self._case.bad(self.found.detail["the batch before"])

    def _alone(self) -> bool:
        """Whether the blamed samples stand out in the fresh state too."""
        bench, now, rows = self._bench, self._case.now, self.found.rows
        count = now.call.count()
        rest = [row for row in range(count) if row not in set(rows)]
        alone = bench.repeat(now, rows)
        self.found.detail["alone"] = alone.value
        if rows and not self.found.losses:
            self.found.losses = {rows[0]: alone.value}
        others = bench.repeat(now, rest) if rest else None
        if others is None or not math.isfinite(others.value):
            return False
        if not math.isfinite(self._case.value) or not math.isfinite(alone.value):
            return not math.isfinite(alone.value)
        if alone.each is None or others.each is None:
            return alone.value > _FAR * max(abs(others.value), self._case.baseline or 0.0)
        return ranking.stands_out(alone.each[0], others.each)

    def _whole_is_odd(self, moment: Moment) -> bool:
        """Whether a whole batch is bad in the fresh state, where the one before it is not."""
        before = self._case.before
        if before is None:
            return False
        this, that = self._bench.repeat(moment).value, self._bench.repeat(before).value
        if not math.isfinite(that):
            return False
        odd = not math.isfinite(this)
        if math.isfinite(self._case.value):
            odd = odd or this > _FAR * max(abs(that), self._case.baseline or 0.0)
        if odd:
            losses = self.found.losses
            self.found.rows = sorted(losses, key=lambda row: -losses[row])
        return odd

    def _without_the_state(self) -> Outcome:
        """Look in a fresh state whether this batch, or the one before, is not finite there."""
        if not self._refresh():
            return Outcome.ONLY_IN_THIS_STATE
        for moment, of_before in ((self._case.now, False), (self._case.before, True)):
            if moment is None:
                continue
            self._bench.apart = self._bench.can_be_apart
            whole = self._bench.repeat(moment)
            if math.isfinite(whole.value):
                continue
            self.found.of_before = of_before
            self._locate(moment, whole)
            return Outcome.REPRODUCED_ALONE if self.found.rows else Outcome.ONLY_IN_THIS_STATE
        return Outcome.ONLY_IN_THIS_STATE

    def _refresh(self) -> bool:
        self._afresh = self._afresh or self._fresh()
        self._bench.as_before = not self._afresh
        self.found.detail["fresh state"] = self._afresh or "there is none"
        return bool(self._afresh) and self._bench.sound()

    def _rank(self, each: tuple[float, ...], batch: str) -> None:
        """Note the worst samples of a batch, among those of both."""
        order = ranking.ranked(each)[:_MOST_RANKED]
        told = [{"batch": batch, "row": row, "loss": each[row]} for row in order]
        both = [*self.found.detail.get("ranking", ()), *told]
        both.sort(key=lambda one: _worst_first(one["loss"]))
        self.found.detail["ranking"] = both[:_MOST_RANKED]


def _scale(whole: Reading) -> float:
    """Return how many times the samples' mean the loss is: a criterion may take their sum."""
    each = whole.each or ()
    mean = math.fsum(each) / len(each) if each and all(map(math.isfinite, each)) else 0.0
    return whole.value / mean if mean and math.isfinite(whole.value) else 1.0


def _worst_first(loss: float) -> float:
    return -loss if math.isfinite(loss) else -math.inf


def _same(first: float, second: float) -> bool:
    if not math.isfinite(first) or not math.isfinite(second):
        return math.isfinite(first) == math.isfinite(second)
    return abs(first - second) <= _SAME * max(abs(first), abs(second))
