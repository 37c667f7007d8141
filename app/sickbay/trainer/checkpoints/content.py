"""What a checkpoint holds, taken from a training and put back into one."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sickbay.trainer import complaints, random_states
from sickbay.trainer.storable import storable


@dataclass(slots=True)
class Parts:
    """What is saved and restored: each has ``state_dict`` and ``load_state_dict``."""

    model: Any = None
    optimizer: Any = None
    scheduler: Any = None
    watch: Any = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def named(self) -> dict[str, Any]:
        """Return those there are, by name; a model without what is wrapped around it."""
        own = {
            "model": plain_model(self.model),
            "optimizer": self.optimizer,
            "scheduler": self.scheduler,
            "watch": self.watch,
        }
        both = {**own, **{f"more.{name}": part for name, part in self.more.items()}}
        return {name: part for name, part in both.items() if part is not None}

    def state(self) -> dict[str, Any]:
        """Return the states, in types that load again without running any code."""

        def left_out(place: str) -> None:
            complaints.once(f"left out {place}", "a checkpoint cannot hold %s; it lacks it.", place)

        return {
            name: storable(part.state_dict(), left_out, name) for name, part in self.named().items()
        }

    def restore(self, content: Mapping[str, Any]) -> None:
        """Put the states back.

        Raises:
            RuntimeError, ValueError, KeyError: as the parts raise where a state is another one's.
        """
        for name, part in self.named().items():
            if name in content["state"]:
                part.load_state_dict(content["state"][name])


def plain_model(model: Any) -> Any:
    """Return a model without the wrappers of ``DistributedDataParallel`` and ``compile``."""
    while (inner := wrapped(model)) is not None:
        model = inner
    return model


def wrapped(model: Any) -> Any:
    """Return what is within one wrapper; nothing where there is none."""
    inner = getattr(model, "_orig_mod", None)
    if inner is None and type(model).__name__ in _WRAPPERS:
        inner = getattr(model, "module", None)
    return inner


def with_buffers(state: Mapping[str, Any], buffers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's state with other buffers: a forward pass has changed them already."""
    known = {name: value for name, value in buffers.items() if name in state}
    return {**state, **known}


def all_finite(value: Any) -> bool:
    """Whether every number in every tensor is finite."""
    torch: Any = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        if not (value.is_floating_point() or value.is_complex()) or value.is_meta:
            return True
        return bool(torch.isfinite(value).all())
    if isinstance(value, Mapping):
        return all(all_finite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return all(all_finite(item) for item in value)
    return True


def loaded(path: Any, device: Any = "cpu") -> dict[str, Any]:
    """Read a checkpoint or an evidence file; nothing in it is run as code.

    Raises:
        Exception: whatever torch raises where it is none.
    """
    torch: Any = sys.modules["torch"]
    found: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    return found


def restore_random(content: Mapping[str, Any]) -> None:
    """Draw on where the checkpoint was saved; of another machine, as far as that goes."""
    with suppress(RuntimeError, ValueError, TypeError):
        random_states.restore(content["random"])


_WRAPPERS = ("DistributedDataParallel", "DataParallel")
