"""Advice on the learning rate from the losses themselves, and the changes that come of it.

torch has schedules and clipping, and they are not done again here: clipping is
``torch.nn.utils.clip_grad_norm_`` (give what it returns to ``Watch.observe``, which then takes no
second norm), and a rate that is to follow a metric is ``ReduceLROnPlateau``. What torch lacks:
telling that a rate is too high because the loss grows, and a note of each change on the run.
"""

import itertools
import math
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sickbay.trainer as kit
from sickbay.trainer.complaints import harmless
from sickbay.trainer.run import Run

WINDOW, GROWTH, FACTOR, COOLDOWN = 100, 2.0, 0.5, 200
"""Losses looked at; how much the second half's mean must exceed the first's; what the rate is
multiplied by then; and losses until it may be again, so that a new rate has time to show."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Advice:
    """What the losses say of the learning rate.

    Attributes:
        step: when.
        factor: what the rate should be multiplied by.
        before: mean of the window's first half.
        after: mean of its second half.
        applied: whether it was done.
    """

    step: int
    factor: float
    before: float
    after: float
    applied: bool

    @property
    def sentence(self) -> str:
        """What it says, for a person."""
        done = "was multiplied" if self.applied else "should be multiplied"
        return (
            f"The mean loss went from {self.before:.4g} to {self.after:.4g}; the learning rate "
            f"{done} by {self.factor:g}."
        )


_NO_ADVICE: Advice | None = None


class RateAdvice:
    """Looks at the losses for a learning rate that is too high.

        advice = sickbay.RateAdvice(optimizer, apply=True)
        …
        advice.observe(float(loss), step)

    Where the second half of the window has at least twice the mean of the first, the rate should
    fall: that is told as an alert, or done where ``apply`` says so, to every group of the
    optimizer and to the base rates of the scheduler, so that its next step does not undo it.
    Not for losses that may be negative: twice as much says nothing of them, and none is given.
    """

    def __init__(
        self,
        optimizer: Any,
        run: Run | None = None,
        *,
        scheduler: Any = None,
        apply: bool = False,
        window: int = WINDOW,
        growth: float = GROWTH,
        factor: float = FACTOR,
        cooldown: int = COOLDOWN,
    ) -> None:
        """Begin to look.

        Args:
            optimizer: whose rate it is.
            run: whom to tell; the current run where it is not said.
            scheduler: what sets the rate at each step, if anything does.
            apply: whether to change the rate, else only say so.
            window: losses looked at.
            growth: how many times the first half's mean the second's must be.
            factor: what the rate is multiplied by.
            cooldown: losses after an advice until the next.
        """
        self._optimizer = optimizer
        self._scheduler = scheduler
        self._run = run
        self._apply = apply
        self._growth, self._factor, self._cooldown = growth, factor, cooldown
        self._losses: deque[float] = deque(maxlen=max(4, window))
        self._quiet = 0

    @harmless(_NO_ADVICE)
    def observe(self, loss: Any, step: int) -> Advice | None:
        """Take a loss, and say what the window says of the rate, if it says anything.

        A loss that is not finite is left aside: the watch tells of it.
        """
        if not math.isfinite(value := float(loss)):
            return None
        self._losses.append(value)
        self._quiet = max(0, self._quiet - 1)
        if self._quiet or len(self._losses) < (self._losses.maxlen or 0):
            return None
        half = len(self._losses) // 2
        before = math.fsum(itertools.islice(self._losses, half)) / half
        after = math.fsum(itertools.islice(self._losses, half, None)) / (len(self._losses) - half)
        if min(self._losses) < 0 or before <= 0 or after < self._growth * before:
            return None
        return self._advise(Advice(step, self._factor, before, after, self._apply))

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint needs."""
        return {"version": _VERSION, "losses": list(self._losses), "quiet": self._quiet}

    @harmless(None)
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where ``state`` was taken; another version's is left aside."""
        if state["version"] == _VERSION:
            losses, quiet = [float(one) for one in state["losses"]], int(state["quiet"])
            self._losses.clear()
            self._losses.extend(losses)
            self._quiet = quiet

    def _advise(self, advice: Advice) -> Advice:
        self._quiet = self._cooldown
        self._losses.clear()
        run = self._run or kit.run()
        if not self._apply:
            run.alert("The learning rate looks too high", advice.sentence)
            return advice
        before = _rates(self._optimizer)
        _lower(self._optimizer, self._scheduler, advice.factor)
        after = _rates(self._optimizer)
        run.change("learning-rate", before, after, advice.sentence, advice.step)
        return advice


def warm_up(optimizer: Any, steps: int, *, run: Run | None = None) -> Any:
    """Return torch's ``LinearLR`` from a share of 1/``steps`` to the whole rate, noted on the run.

    Call its ``step`` after the optimizer's; put it before another schedule by ``SequentialLR``.

    Raises:
        ValueError: there is no such number of steps.
    """
    if steps < 1:
        raise ValueError("a warm-up takes at least one step")
    schedules = sys.modules["torch"].optim.lr_scheduler
    target = _rates(optimizer)
    made = schedules.LinearLR(optimizer, start_factor=1 / steps, total_iters=steps)
    why = f"warm-up over {steps} steps"
    (run or kit.run()).change("learning-rate", _rates(optimizer), target, why)
    return made


def set_rate(
    optimizer: Any, rate: float, why: str = "", *, step: int | None = None, run: Run | None = None
) -> None:
    """Set the learning rate of all the optimizer's groups, and note it on the run."""
    before = _rates(optimizer)
    for group in optimizer.param_groups:
        _put(group, "lr", rate)
    (run or kit.run()).change("learning-rate", before, _rates(optimizer), why, step)


def _lower(optimizer: Any, scheduler: Any, factor: float) -> None:
    for group in optimizer.param_groups:
        for name in _RATES & group.keys():
            _put(group, name, float(group[name]) * factor)
    for part in (scheduler, *getattr(scheduler, "_schedulers", ())):  # those of a SequentialLR
        if bases := getattr(part, "base_lrs", None):
            part.base_lrs = [base * factor for base in bases]


def _put(group: Any, name: str, rate: float) -> None:
    """Set a rate in place where it is a tensor: a compiled step holds on to that."""
    if hasattr(group[name], "fill_"):
        group[name].fill_(rate)
    else:
        group[name] = rate


def _rates(optimizer: Any) -> str:
    """Return the rates of the groups as a person reads them, each once."""
    rates = [f"{float(group['lr']):g}" for group in optimizer.param_groups]
    return ", ".join(dict.fromkeys(rates))


_RATES = {"lr", "initial_lr", "max_lr", "min_lr"}
"""What torch's schedules keep in a group."""
