"""How a batch goes through a model and into a loss."""

import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sickbay.trainer.blame.batches import Call, leaves, mapped
from sickbay.trainer.inputs import LABELS
from sickbay.trainer.job import TriageJob


@dataclass(frozen=True, slots=True)
class Passed:
    """One forward pass: the model's output, and the labels it is compared with."""

    output: Any
    targets: tuple[Any, ...]


class Calls:
    """Calls a job's model and criterion with a batch, as the job does."""

    def __init__(self, job: TriageJob, model: Any, criterion: Any) -> None:
        self._job = job
        self._model = model
        self.criterion = criterion

    def of(self, batch: Any, device: Any) -> Call:
        """Return the arguments that a batch becomes, copied, so that nothing spoils it."""
        return call_of(batch, self._job).to(device)

    def forward(self, call: Call) -> Passed:
        """Call the model; in-place operations on its inputs spoil a copy only."""
        fresh = cloned(call)
        if self._job.step is not None:
            return Passed(self._job.step(self._model, fresh.args[0]), ())
        return Passed(self._model(*fresh.args, **fresh.kwargs), fresh.targets)

    def loss(self, passed: Passed) -> Any:
        """Return what the criterion makes of an output; without one, the output's own loss."""
        if self._job.step is not None:
            return passed.output
        if self.criterion is None:
            return own_loss(passed.output)
        return self.criterion(passed.output, *passed.targets)


def call_of(batch: Any, job: TriageJob) -> Call:
    """Say which parts of a batch are inputs, and which are labels."""
    if job.step is not None:
        return Call((batch,))
    if isinstance(batch, Mapping):
        return _of_mapping(batch, job)
    if isinstance(batch, tuple | list):
        parts = [part for part in batch if any(True for _ in leaves(part))]
        if job.criterion is None or len(parts) < 2:  # noqa: PLR2004 (inputs and labels)
            return Call(tuple(parts), {}, tuple(parts) if job.criterion is not None else ())
        return Call(tuple(parts[:-1]), {}, (parts[-1],))
    return Call((batch,), {}, (batch,) if job.criterion is not None else ())


def _of_mapping(batch: Mapping[Any, Any], job: TriageJob) -> Call:
    """Give a mapping as keywords; a model that takes one argument under another name, by place."""
    inside = {key: part for key, part in batch.items() if any(True for _ in leaves(part))}
    label = next((key for key in LABELS if key in inside), None)
    if job.criterion is None:
        return Call((), inside)
    target = inside.pop(label) if label is not None else None
    targets = (target,) if label is not None else (inside,)
    if len(inside) == 1 and not _takes(job.model, next(iter(inside))):
        return Call(tuple(inside.values()), {}, targets)
    return Call((), inside, targets)


def _takes(model: Any, name: str) -> bool:
    with suppress(TypeError, ValueError):
        found = inspect.signature(model.forward).parameters
        return name in found or any(one.kind is one.VAR_KEYWORD for one in found.values())
    return True


def own_loss(output: Any) -> Any:
    """Return the loss that an output has: itself, its ``loss``, its first part, or their sum."""
    if hasattr(output, "keys") and "loss" in output:
        return output["loss"]
    if hasattr(output, "values") and all(getattr(one, "ndim", 1) == 0 for one in output.values()):
        return sum(output.values())
    if getattr(output, "loss", None) is not None:
        return output.loss
    return output[0] if isinstance(output, tuple | list) and output else output


def cloned(call: Call) -> Call:
    """Return a copy of a call's tensors: a model may work in place on what it is given."""
    args, kwargs, targets = (mapped(part, _clone) for part in call.parts)
    return Call(args, kwargs, targets)


def _clone(tensor: Any) -> Any:
    return tensor.detach().clone()
