"""Where a step is repeated: on a copy of its model, with everything as it was before the step."""

import copy
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sickbay.trainer import random_states
from sickbay.trainer.blame.losses import Losses, Measured
from sickbay.trainer.blame.moments import Moment
from sickbay.trainer.checkpoints.content import all_finite

_STD = 0.02
"""For parameters of modules that cannot begin afresh by themselves, such as a class token."""


class OutOfTime(Exception):
    """The budget is used up."""


@dataclass(slots=True)
class Budget:
    """How long repeating may take, and how many forward passes it took."""

    seconds: float
    forwards: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def used(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    def spend(self) -> None:
        """Count a forward pass that is about to be made.

        Raises:
            OutOfTime: there is no time for it.
        """
        if self.used > self.seconds:
            raise OutOfTime
        self.forwards += 1


@dataclass(frozen=True, slots=True)
class Reading:
    """What a repetition came to: the loss, or the gradient's norm; and the samples' losses."""

    value: float
    each: tuple[float, ...] | None = None


class Bench:
    """A model on which steps are repeated; whatever happens here, it is afterwards as before.

    Args:
        model: a copy; the training's own one where it cannot be copied.
        losses: takes the loss of a call.
        budget: of forward passes and time.
        by_gradient: whether it is the gradient that matters.

    Attributes:
        apart: whether batch normalisation goes by its running statistics, so that one sample
            does not change another's loss.
        as_before: whether the buffers are those from before the step; not in a fresh state.
    """

    def __init__(self, model: Any, losses: Losses, budget: Budget, *, by_gradient: bool) -> None:
        self.model = model
        self.losses = losses
        self.budget = budget
        self.by_gradient = by_gradient
        self.apart = False
        self.as_before = True
        self._norms = _norms(model)

    def take(self, model: Any) -> None:
        """Go on with another model."""
        self.model = model
        self._norms = _norms(model)

    @property
    def can_be_apart(self) -> bool:
        """Whether samples influence one another through statistics of the batch."""
        return bool(self._norms)

    def sound(self) -> bool:
        """Whether all weights are finite."""
        return all_finite(dict(self.model.named_parameters()))

    def repeat(self, moment: Moment, rows: Sequence[int] | None = None) -> Reading:
        """Repeat a step, or a part of its batch; one forward pass.

        Raises:
            OutOfTime: the budget is used up.
        """
        self.budget.spend()
        call = moment.call if rows is None else moment.call.rows(self._at_least_two(rows))
        with random_states.restored(moment.random), self._kept(moment.buffers):
            grad = _torch().enable_grad() if self.by_gradient else _torch().no_grad()
            with grad, _autocast(moment.autocast):
                measured = self.losses(self.model, call)
            return self._reading(measured)

    def _reading(self, measured: Measured) -> Reading:
        if not self.by_gradient:
            return Reading(float(measured.total), measured.each)
        weights = [one for one in self.model.parameters() if one.requires_grad]
        found = _torch().autograd.grad(measured.total, weights, allow_unused=True)
        squares = sum(float(one.float().square().sum()) for one in found if one is not None)
        return Reading(math.sqrt(squares) if squares >= 0 else math.nan)

    def _at_least_two(self, rows: Sequence[int]) -> Sequence[int]:
        """Take a single sample twice where the batch's statistics need two."""
        coupled = self._norms and not self.apart
        return [*rows, *rows] if coupled and len(rows) == 1 else rows

    @contextmanager
    def _kept(self, before: Mapping[str, Any]) -> Iterator[None]:
        """Have the buffers as before the step, and normalisation as it was told."""
        own = dict(self.model.named_buffers())
        kept = {name: one.detach().clone() for name, one in own.items()}
        modes = [(one, one.training) for one in self._norms]
        _put(own, before if self.as_before else {})
        try:
            for one in self._norms if self.apart else ():
                one.training = False
            with _asking_nobody(self._norms):
                yield
        finally:
            _put(own, kept)
            for one, training in modes:
                one.training = training


@contextmanager
def _asking_nobody(norms: Sequence[Any]) -> Iterator[None]:
    """Have synchronised normalisation go by this rank's batch: the others train, and wait."""
    usual = _torch().nn.modules.batchnorm._BatchNorm.forward  # noqa: SLF001 (torch has no other)
    shared = [one for one in norms if isinstance(one, _torch().nn.SyncBatchNorm)]
    for one in shared:
        one.forward = partial(usual, one)
    try:
        yield
    finally:
        for one in shared:
            del one.forward


def sharded(model: Any) -> bool:
    """Whether a model lies in parts on several ranks, so that one alone cannot call it."""
    if any(hasattr(one, "to_local") for one in model.parameters()):
        return True
    return any(type(one).__name__ == "FullyShardedDataParallel" for one in model.modules())


def copied(model: Any) -> Any:
    """Return a copy of a model, or nothing where it has parts that cannot be copied."""
    try:
        made = copy.deepcopy(model)
    except Exception:  # noqa: BLE001 (whatever it holds; out of memory as well)
        return None
    for one in made.parameters():
        one.grad = None
    return made


def begin_afresh(model: Any) -> None:
    """Initialise all of a model anew, always in the same way."""
    torch = _torch()
    with random_states.restored({}), torch.no_grad():
        torch.manual_seed(0)
        for module in model.modules():
            reset = getattr(module, "reset_parameters", getattr(module, "_reset_parameters", None))
            if reset is not None:
                reset()
                continue
            for one in module.parameters(recurse=False):
                one.normal_(std=_STD)


def _put(buffers: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    with _torch().no_grad():
        for name, value in values.items():
            if name in buffers and buffers[name].shape == value.shape:
                buffers[name].copy_(value)


def _norms(model: Any) -> list[Any]:
    """Return the layers that normalise by the batch's statistics and have running ones."""
    kind = _torch().nn.modules.batchnorm._BatchNorm  # noqa: SLF001 (torch has no other common base)
    found = [one for one in model.modules() if isinstance(one, kind) and one.training]
    return [one for one in found if one.running_mean is not None]


def _autocast(how: tuple[str, str] | None) -> Any:
    if how is None:
        return nullcontext()
    return _torch().autocast(how[0], dtype=getattr(_torch(), how[1]))


def _torch() -> Any:
    return sys.modules["torch"]
