"""What a watch found: one value that is not as the others were, and whose batch it came from."""

import secrets
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.errors import SickbayError
from sickbay.contract.event import FailureKind


def new_ref() -> str:
    """Return a name for a failure: 16 hex digits that no other failure has."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One anomaly of one rank; plain values only, nothing of torch.

    Attributes:
        ref: names the failure that was told of it, for a later verdict; 16 hex digits.
        kind: what went wrong.
        step: the step it belongs to, which may be some steps before it was seen.
        value: the loss or the gradient's norm; of an input, the sum that is not finite.
        baseline: what was expected, where the rule knows.
        score: how far the value is from it, in the rule's unit.
        rule: the rule's name, version and thresholds.
        window: the accepted values before it, the oldest first.
        samples: the batch, as ``Watch.step`` was given it; nothing where it is another rank's.
        losses: one for each of the samples, or empty.
        previous_samples: the batch before, whose update may be the cause.
        previous_step: that batch's step.
        parameter: the first parameter whose gradient is not finite.
        rank: whose loss, gradient or input it was.
        ranks: every rank that found something at this check.
        here: whether ``rank`` is this process.
        detail: what else is known.
    """

    ref: str
    kind: FailureKind
    step: int
    value: float
    baseline: float | None = None
    score: float | None = None
    rule: Mapping[str, Any] = field(default_factory=dict)
    window: "array[float]" = field(default_factory=lambda: array("d"))
    samples: tuple[Any, ...] = ()
    losses: tuple[float, ...] = ()
    previous_samples: tuple[Any, ...] = ()
    previous_step: int | None = None
    parameter: str = ""
    rank: int = 0
    ranks: tuple[int, ...] = (0,)
    here: bool = True
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What happened, for a person."""
        known = _BY_RULE.get(self.rule.get("name", ""), _WHAT.get(self.kind, "Something is wrong"))
        where = "" if self.here else f" on rank {self.rank}"
        return f"{known} at step {self.step}{where}."


class AnomalyFound(SickbayError):
    """An anomaly, raised into the training of those who asked for it."""

    def __init__(self, anomaly: Anomaly) -> None:
        super().__init__(anomaly.sentence)
        self.anomaly = anomaly


_BY_RULE = {
    "sustained": "The loss has stayed far above what it was",
    "rising": "The loss has been rising",
    "ceiling": "The loss is above the highest that is allowed",
    "gradient spike": "The gradient is far larger than it was",
    "gradient sustained": "The gradient has stayed far larger than it was",
    "gradient rising": "The gradient has been growing",
}
_WHAT = {
    FailureKind.NON_FINITE_INPUT: "An input is not finite",
    FailureKind.NON_FINITE_LABEL: "A label is not finite",
    FailureKind.NON_FINITE_LOSS: "The loss is not finite",
    FailureKind.NON_FINITE_GRADIENT: "A gradient is not finite",
    FailureKind.LOSS_SPIKE: "The loss is far above what it was",
}
