"""A copy of a job to try things on: model, criterion and optimizer, set back as often as needed."""

import copy
import importlib
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.trainer import random_states
from sickbay.trainer.blame.batches import Call
from sickbay.trainer.checkpoints.content import plain_model
from sickbay.trainer.job import TriageJob
from sickbay.trainer.triage.calls import Calls, Passed
from sickbay.trainer.triage.trouble import said_by

_SEED = 20_201


def torch() -> Any:
    """Return torch, which is not imported with the kit."""
    return importlib.import_module("torch")


@dataclass(frozen=True, slots=True)
class _Kept:
    """How the parts were at first."""

    tensors: Mapping[str, Any]
    trainable: Mapping[str, bool]
    modes: tuple[bool, ...]
    optimizer: Any


class Bench:
    """A job's parts, copied; on one batch, once there is one.

    Attributes:
        job: as it was given.
        model, criterion, optimizer: the copies; the optimizer has the copied parameters.
        call: the batch that is tried, on the model's device.
        paths: the batch's samples.
        alive: called before anything that may take long, for whoever watches.
    """

    def __init__(
        self,
        job: TriageJob,
        device: str | None = None,
        *,
        own: bool = False,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        self.job = job
        self.alive = alive
        self.model, self.criterion, self.optimizer = _copied(job, own=own)
        first = next(iter(self.model.parameters()), None)
        self.device = torch().device(device or (first.device if first is not None else "cpu"))
        self.model.to(self.device)
        if hasattr(self.criterion, "to"):
            self.criterion.to(self.device)
        self.calls = Calls(job, self.model, self.criterion)
        self.call = Call()
        self.paths: list[str] = []
        self._kept = self._keep()
        self.model.train()

    def _keep(self) -> _Kept:
        tensors = {
            name: tensor.detach().clone()
            for name, tensor in self._tensors()
            if not hasattr(tensor, "materialize")
        }
        trainable = {name: one.requires_grad for name, one in self.model.named_parameters()}
        modes = tuple(module.training for module in self.model.modules())
        state = None if self.optimizer is None else copy.deepcopy(self.optimizer.state_dict())
        return _Kept(tensors, trainable, modes, state)

    def reset(self) -> None:
        """Set all back to how it was at first, in training mode."""
        with torch().no_grad():
            for name, tensor in self._tensors():
                if name in self._kept.tensors:
                    tensor.copy_(self._kept.tensors[name])
        self.model.zero_grad(set_to_none=True)
        self.model.train()
        if self.optimizer is not None:
            self.optimizer.load_state_dict(copy.deepcopy(self._kept.optimizer))

    def changed(self) -> list[str]:
        """Return the parameters that are not what they were at first."""
        kept = self._kept.tensors
        return [
            name
            for name, one in self.model.named_parameters()
            if name in kept and not torch().equal(one.detach(), kept[name])
        ]

    def take(self, batch: Any, paths: list[str]) -> None:
        """Try this batch from now on."""
        self.call = self.calls.of(batch, self.device)
        self.paths = paths

    def forward(self, call: Call | None = None) -> Passed:
        """Call the model with the batch, drawing the same random numbers each time."""
        self.alive()
        with same_draws():
            return self.calls.forward(self.call if call is None else call)

    def loss(self) -> Any:
        """Take the loss of the batch, drawing the same random numbers each time."""
        self.alive()
        with same_draws():
            return self.calls.loss(self.calls.forward(self.call))

    def value(self) -> float:
        """Return the loss of the batch as a number, in the state of now."""
        with torch().no_grad():
            return float(self.loss())

    def in_optimizer(self) -> set[int]:
        """Return the identities of the parameters that the optimizer has."""
        groups = [] if self.optimizer is None else self.optimizer.param_groups
        return {id(one) for group in groups for one in group["params"]}

    def _tensors(self) -> Iterator[tuple[str, Any]]:
        yield from self.model.named_parameters(remove_duplicate=False)
        yield from self.model.named_buffers(remove_duplicate=False)


@contextmanager
def same_draws() -> Iterator[None]:
    """Draw the same random numbers each time; the generators go on as if nothing had been."""
    own = random_states.take()
    random.seed(_SEED)
    torch().manual_seed(_SEED)
    try:
        yield
    finally:
        random_states.restore(own)


def _copied(job: TriageJob, *, own: bool) -> tuple[Any, Any, Any]:
    """Copy the parts together, so that the optimizer's parameters are the copied model's.

    Raises:
        BadInput: they cannot be copied, and they are not ours to change.
    """
    parts = (plain_model(job.model), job.criterion, job.optimizer)
    if own:
        return parts
    known: dict[int, Any] = {}
    try:
        copied: tuple[Any, Any, Any] = copy.deepcopy(parts, known)
        _complete(job.optimizer, copied[2], known)
    except Exception as error:
        raise BadInput(
            "The model or its optimizer cannot be copied, and triage changes nothing of yours "
            f"({type(error).__name__}: {said_by(error)}); give it a function that makes the job."
        ) from error
    return copied


def _complete(optimizer: Any, copied: Any, known: dict[int, Any]) -> None:
    """Copy what torch's own copy of an optimizer lacks, such as the parameters of LBFGS."""
    for name, value in getattr(optimizer, "__dict__", {}).items():
        if name not in copied.__dict__ and not callable(value):  # a scheduler wraps its step
            copied.__dict__[name] = copy.deepcopy(value, known)
