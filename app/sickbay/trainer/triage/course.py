"""A few steps on one batch, with a job's own loss and optimizer or with known good ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sickbay.trainer.blame.batches import leaves
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.calls import Passed

GOOD_RATE = 1e-3
"""Of AdamW, whose own default it is."""
_FALLEN = 1e-4
"""Share of the first loss by which it falls at least: a tenth of what plain SGD with a rate of
0.001 does in 20 steps on a gradient of norm 0.3; float32 resolves a thousandth of it."""
_LEAP = 30.0
"""Times the first loss that none reaches on the way with a rate that is only bold."""
_WARM = 0.1
"""Share of its peak at which a rate that warms up is tried."""
_TINY = 1e-8


@dataclass(frozen=True, slots=True)
class Course:
    """How some steps went: the loss before and after, its highest, and what moved."""

    before: float
    after: float
    highest: float
    finite: bool
    moved: tuple[str, ...]

    @property
    def fell(self) -> bool:
        """Whether the loss fell, beyond rounding."""
        return self.finite and self.fall > _FALLEN * max(abs(self.before), _TINY)

    @property
    def fall(self) -> float:
        """By how much the loss fell."""
        return self.before - self.after

    @property
    def leapt(self) -> bool:
        """Whether it ran away on the way or to the end."""
        return not self.finite or self.highest > _LEAP * max(abs(self.before), 1e-2)

    @property
    def words(self) -> str:
        """Return it as numbers."""
        return f"{self.before:.6g} to {self.after:.6g}"


Loss = Callable[[Passed], Any]


def train(
    bench: Bench, steps: int, *, scale: float = 1.0, good: bool = False, loss: Loss | None = None
) -> Course:
    """Train from the beginning on the one batch, with the same random numbers in each step.

    What dropout leaves out stays the same, so that a loss that does not fall is no noise.

    Args:
        bench: a job's copy.
        steps: how many.
        scale: times the job's learning rate.
        good: whether AdamW takes the place of the job's optimizer.
        loss: in the place of the job's own.
    """
    bench.reset()
    taken = loss or bench.calls.loss
    optimizer = _optimizer(bench, scale, good=good)

    def value() -> float:
        with torch().no_grad():
            return float(taken(bench.forward()))

    before, highest, finite = value(), float("-inf"), True
    for _ in range(steps):
        bench.alive()
        at = _step(bench, optimizer, taken)
        finite = finite and torch().isfinite(torch().tensor(at)).item()
        highest = max(highest, at)
        if not finite:
            break
    after = value() if finite else float("nan")
    finite = finite and after == after and abs(after) != float("inf")  # noqa: PLR0124 (NaN is not itself)
    return Course(before, after, max(highest, after), finite, tuple(bench.changed()))


def _step(bench: Bench, optimizer: Any, taken: Loss) -> float:
    def closure() -> Any:
        optimizer.zero_grad()
        value = taken(bench.forward())
        value.backward()
        return value

    if type(optimizer).__name__ == "LBFGS":
        return float(optimizer.step(closure).detach())
    value = closure()
    optimizer.step()
    return float(value.detach())


def _optimizer(bench: Bench, scale: float, *, good: bool) -> Any:
    if good or bench.optimizer is None:
        ours = [one for one in bench.model.parameters() if one.requires_grad]
        return torch().optim.AdamW(ours, lr=GOOD_RATE)
    for group, rate in zip(bench.optimizer.param_groups, rates(bench), strict=True):
        _set(group, rate * scale)
    if callable(getattr(bench.optimizer, "train", None)):
        bench.optimizer.train()  # schedule-free ones want it
    return bench.optimizer


def _set(group: Any, rate: float) -> None:
    if hasattr(group["lr"], "fill_"):
        group["lr"] = torch().full_like(group["lr"], rate)
    else:
        group["lr"] = rate


def rates(bench: Bench) -> list[float]:
    """Return the groups' learning rates; of one that warms up, a part of its peak."""
    return [_rate(group) for group in bench.optimizer.param_groups]


def _rate(group: Any) -> float:
    now = float(group["lr"])
    peak = float(max(group.get("initial_lr", 0.0), group.get("max_lr", 0.0)))
    return max(now, peak * _WARM) if now < peak else now


def good_loss(bench: Bench) -> Loss:
    """Return a loss that is known to work, for the job's labels and outputs."""
    functional = torch().nn.functional
    kind = bench.job.known_good

    def taken(passed: Passed) -> Any:
        outputs = [one for one in leaves(passed.output) if one.is_floating_point()]
        output = max(outputs, key=lambda one: one.dim())
        labels: Any = passed.targets[0] if len(passed.targets) == 1 else None
        if not hasattr(labels, "shape"):
            return output.pow(2).mean()
        whole = not labels.is_floating_point()
        if kind == "cross-entropy" or (kind is None and whole and classes(output, labels)):
            return functional.cross_entropy(output, labels, ignore_index=bench.job.ignore_label)
        if labels.numel() != output.numel():
            return output.pow(2).mean()
        same = labels.reshape(output.shape).to(output.dtype)
        if kind == "binary-cross-entropy":
            return functional.binary_cross_entropy_with_logits(output, same)
        return functional.mse_loss(output, same)

    return taken


def classes(output: Any, labels: Any) -> bool:
    """Whether an output has scores of classes for these labels."""
    return bool(
        output.dim() == labels.dim() + 1
        and output.shape[0] == labels.shape[0]
        and output.shape[2:] == labels.shape[1:]
        and output.shape[1] > int(labels.max())
    )
