"""The loss of a batch, and of each of its samples where it can be had."""

import copy
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from sickbay.trainer.blame.batches import Call

Given: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """``total`` is one number, with its graph; ``each`` one a sample, or nothing."""

    total: Any
    each: tuple[float, ...] | None


class Losses:
    """Takes the loss of a call, as the step did.

    Args:
        criterion: called with the model's output and the targets; nothing where the output has
            the loss itself, as ``loss``.
        given: ``given(model, batch)`` in the place of all that; returns one loss a sample, or one.
    """

    def __init__(self, criterion: Any = None, given: Given | None = None) -> None:
        self.criterion = criterion
        self._given = given

    def __call__(self, model: Any, call: Call) -> Measured:
        """Take the loss of a call; one forward pass."""
        count = call.count()
        if self._given is not None:
            return _measured(self._given(model, call.args[0]), None, count)
        output = model(*call.args, **call.kwargs)
        if self.criterion is None:
            return _measured(_own(output), None, count)
        each = self._each(output, call.targets)
        return _measured(self.criterion(output, *call.targets), each, count)

    def _each(self, output: Any, targets: tuple[Any, ...]) -> Any:
        """Return the losses of the samples where the criterion can leave them apart."""
        criterion = self.criterion
        with suppress(Exception), _torch().no_grad():
            if hasattr(criterion, "reduction"):
                apart = copy.copy(criterion)
                apart.reduction = "none"
                return apart(output, *targets)
            if "reduction" in inspect.signature(criterion).parameters:
                return criterion(output, *targets, reduction="none")
        return None


def _measured(total: Any, each: Any, count: int) -> Measured:
    if total.dim():
        each, total = total, total.mean()
    if each is None or not each.dim() or each.shape[0] != count:
        return Measured(total, None)
    numbers = each.detach().float().reshape(count, -1).mean(1)
    return Measured(total, tuple(numbers.tolist()))


def _own(output: Any) -> Any:
    found = getattr(output, "loss", None)
    if found is None and hasattr(output, "keys"):
        found = output["loss"]
    return output if found is None else found


def _torch() -> Any:
    return sys.modules["torch"]
