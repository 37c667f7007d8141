"""From the record of a step to what is wrong with it."""

import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.trainer import once
from sickbay.trainer.inputs import Found as Checked
from sickbay.trainer.inputs import untold
from sickbay.trainer.watch.anomaly import Anomaly, new_ref
from sickbay.trainer.watch.record import Numbers, Record, Unsound
from sickbay.trainer.watch.rules import Found, Rule, Thresholds

FINITE = 1
"""Version of the rule for values that are not finite."""
_ALL_TOLD = 16
"""So many steps in a row whose loss is not finite are told each; then the 32nd, 64th …"""
GRADIENT = Thresholds(floor=0.0, least=0.1)
"""For the logarithm of a norm: a spread of a tenth at least, so that only a norm more than twice
what it was makes a spike."""


class Judge:
    """Keeps what the rules remember from step to step.

    Args:
        loss: thresholds for the loss.
        gradient: thresholds for the logarithm of the gradient's norm.
        ceiling: a loss above it is an anomaly whatever the curve says.
        bad_gradients: steps in a row whose gradient is not finite before it is told; more than
            one where a ``GradScaler`` finds its scale by such steps.
    """

    def __init__(
        self, loss: Thresholds, gradient: Thresholds, ceiling: float | None, bad_gradients: int
    ) -> None:
        self._loss = Rule(loss)
        self._gradient = Rule(gradient)
        self._ceiling = ceiling
        self._bad_gradients = max(1, bad_gradients)
        self._streaks = {"loss": 0, "gradient": 0, "above": 0}
        self._last_spike: int | None = None

    def judge(self, record: Record, numbers: Numbers) -> Iterator[Anomaly]:
        """Yield what is wrong with a step: its inputs, then its loss, then its gradient.

        What follows from something before it comes with that: a loss that is not finite with the
        input that is not, a gradient with the loss.
        """
        loss, norm = numbers.loss, numbers.norm
        causes = _causes(record, numbers)
        of_loss = [] if loss is None else list(self._judge_loss(record, numbers, loss))
        of_norm: list[Anomaly] = []
        if norm is not None and math.isfinite(loss or 0.0):
            of_norm = list(self._judge_norm(record, numbers, norm))
        yield from causes
        if not causes or math.isfinite(loss or 0.0):
            yield from of_loss
        if not (of_loss if math.isfinite(norm or 0.0) else causes):
            yield from of_norm

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint needs."""
        return {
            "loss": self._loss.state(),
            "gradient": self._gradient.state(),
            "streaks": dict(self._streaks),
            "last gradient spike": self._last_spike,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where ``state`` was taken.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        self._loss.restore(state["loss"])
        self._gradient.restore(state["gradient"])
        self._streaks = {name: int(state["streaks"][name]) for name in self._streaks}
        self._last_spike = state["last gradient spike"]

    def _judge_loss(self, record: Record, numbers: Numbers, loss: float) -> Iterator[Anomaly]:
        if self._streak("loss", going=not math.isfinite(loss)):
            if _worth_telling(self._streaks["loss"]):
                yield _not_finite(record, numbers, FailureKind.NON_FINITE_LOSS, loss)
            return
        above = self._ceiling is not None and loss > self._ceiling
        found = self._loss.judge(loss)
        if self._streak("above", going=above) == 1 and found is None:
            found = Found("ceiling", loss, self._ceiling or 0.0, 0.0, 0.0, array("d"))
        if found is not None:
            yield self._spiked(record, numbers, found)

    def _spiked(self, record: Record, numbers: Numbers, found: Found) -> Anomaly:
        before = self._last_spike is not None and self._last_spike == record.previous_step
        made = _made(record, FailureKind.LOSS_SPIKE, found, self._loss, numbers)
        certain = "high" if before else "usual"
        rule = {**made.rule, "gradient spike one step before": before, "confidence": certain}
        return replace(made, rule=rule)

    def _judge_norm(self, record: Record, numbers: Numbers, norm: float) -> Iterator[Anomaly]:
        if self._streak("gradient", going=not math.isfinite(norm)):
            streak = self._streaks["gradient"] - self._bad_gradients + 1
            if streak > 0 and _worth_telling(streak):
                yield _not_finite(record, numbers, FailureKind.NON_FINITE_GRADIENT, norm)
            return
        found = self._gradient.judge(math.log(norm)) if norm > 0 else None
        if found is not None:
            self._last_spike = record.step
            yield _made(record, FailureKind.OTHER, _in_norms(found, norm), self._gradient, numbers)

    def _streak(self, name: str, *, going: bool) -> int:
        self._streaks[name] = self._streaks[name] + 1 if going else 0
        return self._streaks[name]


def _worth_telling(streak: int) -> bool:
    return streak <= _ALL_TOLD or streak & (streak - 1) == 0


def _causes(record: Record, numbers: Numbers) -> list[Anomaly]:
    """Return what is not finite in the batch, as the watch was shown it, or the checks saw it."""
    own = [one for unsound in record.inputs for one in _input(record, unsound)]
    sound = all(math.isfinite(number or 0.0) for number in (numbers.loss, numbers.norm))
    seen = [] if own or sound else untold(record.step)
    told = own + [_seen(record, one) for one in seen]
    return [
        replace(
            one,
            previous_samples=record.previous_samples,
            previous_step=record.previous_step,
            detail={**one.detail, **_measured(record, numbers)},
        )
        for one in told
    ]


def _input(record: Record, unsound: Unsound) -> Iterator[Anomaly]:
    rows = unsound.rows()
    if not rows:
        return
    yield Anomaly(
        ref=unsound.ref or record.ref_of(unsound),
        kind=unsound.kind,
        step=record.step,
        value=float(unsound.sums[rows[0]]),
        rule=_FINITE_RULE,
        samples=record.named(unsound, rows),
        detail={"tensor": unsound.place, "samples not finite": len(rows), "first": rows[0]},
    )


def _seen(record: Record, found: Checked) -> Anomaly:
    """Return what the checks of batches found as an anomaly; they do not tell it then."""
    return Anomaly(
        ref=once.ref_of("watch", found.kind, record.step, found.samples, new_ref()),
        kind=found.kind,
        step=record.step,
        value=math.nan,
        rule=_FINITE_RULE,
        samples=found.samples,
        detail=found.detail,
    )


def _not_finite(record: Record, numbers: Numbers, kind: FailureKind, value: float) -> Anomaly:
    norms = record.norms
    bad = norms is not None and numbers.norm is not None and not math.isfinite(numbers.norm)
    names = norms.culprits() if norms is not None and bad else ()
    return Anomaly(
        ref=new_ref(),
        kind=kind,
        step=record.step,
        value=value,
        rule=_FINITE_RULE,
        samples=record.samples,
        losses=record.known_losses(),
        previous_samples=record.previous_samples,
        previous_step=record.previous_step,
        parameter=names[0] if names else "",
        detail={**_measured(record, numbers), **({"parameters": list(names)} if names else {})},
    )


def _made(record: Record, kind: FailureKind, found: Found, rule: Rule, numbers: Numbers) -> Anomaly:
    told = {"name": found.name, **rule.told(), "needed score": found.bar}
    return Anomaly(
        ref=new_ref(),
        kind=kind,
        step=record.step,
        value=found.value,
        baseline=found.baseline,
        score=found.score,
        rule=told,
        window=found.window,
        samples=record.samples,
        losses=record.known_losses(),
        previous_samples=record.previous_samples,
        previous_step=record.previous_step,
        detail={**_measured(record, numbers), "in a row": found.count},
    )


def _in_norms(found: Found, norm: float) -> Found:
    """Return what was found among logarithms in the norm's own unit; scores stay as they are."""
    window = array("d", map(math.exp, found.window))
    name, baseline = f"gradient {found.name}", math.exp(found.baseline)
    return replace(found, name=name, value=norm, baseline=baseline, window=window)


def _measured(record: Record, numbers: Numbers) -> dict[str, Any]:
    pairs = {
        "loss": numbers.loss,
        "gradient_norm": numbers.norm,
        "learning_rate": record.learning_rate,
    }
    return {name: value for name, value in pairs.items() if value is not None}


_FINITE_RULE: Mapping[str, Any] = {"name": "finite", "version": FINITE}
