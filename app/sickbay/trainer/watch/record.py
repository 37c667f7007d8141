"""What a watch keeps of a step until it looks: at most as many steps as its check interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.trainer import once
from sickbay.trainer.watch.anomaly import new_ref
from sickbay.trainer.watch.gradients import Norms
from sickbay.trainer.watch.tensors import (
    Held,
    is_tensor,
    listed,
    per_sample,
    settle,
    sums,
    tensors,
    torch,
    total,
)


@dataclass(frozen=True, slots=True)
class Unsound:
    """A tensor of a batch, and the sum of each of its samples; ``ref`` where it surely is one."""

    kind: FailureKind
    place: str
    sums: Any
    ref: str = ""

    def rows(self) -> list[int]:
        """Return the samples that are not finite; waits for the device."""
        found: list[int] = torch().nonzero(~torch().isfinite(self.sums)).flatten().tolist()
        return found


@dataclass(slots=True)
class Record:
    """One step: its samples, and numbers that may still be on a device."""

    step: int
    samples: tuple[Any, ...] = ()
    previous_step: int | None = None
    previous_samples: tuple[Any, ...] = ()
    loss: Held | None = None
    losses: Any = None
    norms: Norms | None = None
    learning_rate: float | None = None
    inputs: list[Unsound] = field(default_factory=list)

    def take_inputs(self, kind: FailureKind, given: Any, name: str) -> None:
        """Look at what a batch holds: on the host at once, on a device as sums of the samples.

        Sound tensors on the host leave nothing behind: their total tells.
        """
        for place, tensor in tensors(given, name):
            if tensor.device.type != "cpu":
                self.inputs.append(Unsound(kind, place, sums(tensor)))
            elif not math.isfinite(total(tensor)):
                self._take_unsound(kind, place, tensor)

    def _take_unsound(self, kind: FailureKind, place: str, tensor: Any) -> None:
        """Keep a tensor's samples where one of them truly is not finite: the total may be large."""
        rows = tensor.reshape(tensor.shape[0] if tensor.dim() else 1, -1)
        if not (sound := torch().isfinite(rows)).all():
            first_bad = rows.gather(1, (~sound).int().argmax(1, keepdim=True)).squeeze(1)
            found = Unsound(kind, place, first_bad.where(~sound.all(1), 0))
            self.inputs.append(replace(found, ref=self.ref_of(found)))

    def ref_of(self, unsound: Unsound) -> str:
        """Return the name for what is unsound; waits for the device."""
        samples = self.named(unsound, unsound.rows())
        return once.ref_of("watch", unsound.kind, self.step, samples, new_ref())

    def named(self, unsound: Unsound, rows: Sequence[int]) -> tuple[Any, ...]:
        """Return the samples of these rows of a tensor; all where it has other rows."""
        if unsound.sums.numel() != len(self.samples):
            return self.samples
        return tuple(self.samples[row] for row in rows)

    def take_losses(self, losses: Any) -> None:
        """Keep the loss of each sample."""
        self.losses = per_sample(losses, len(self.samples))

    def known_losses(self) -> tuple[float, ...]:
        """Return the loss of each sample, or nothing; waits for the device."""
        return listed(self.losses, len(self.samples))


@dataclass(frozen=True, slots=True)
class Numbers:
    """A record's numbers, read from their device."""

    loss: float | None
    norm: float | None


def read(records: Sequence[Record]) -> list[Numbers]:
    """Return the numbers of several steps, waiting once for each device."""
    waiting = [value for record in records for value in _held(record) if value is not None]
    there = iter(settle(waiting))
    return [
        Numbers(*(None if value is None else next(there) for value in _held(record)))
        for record in records
    ]


def rate(said: Any) -> float | None:
    """Return a learning rate from a number or an optimizer; not where that waits for a device."""
    groups = getattr(said, "param_groups", None)
    value = groups[0]["lr"] if groups else said
    on_device = is_tensor(value) and value.device.type != "cpu"
    return None if value is None or on_device else float(value)


def _held(record: Record) -> tuple[Held | None, Held | None]:
    return record.loss, None if record.norms is None else record.norms.total
