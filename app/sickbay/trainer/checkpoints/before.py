"""How a model was just before its forward pass: what the pass itself changes."""

import weakref
from collections.abc import Callable
from typing import Any

from sickbay.trainer import random_states
from sickbay.trainer.complaints import harmless

MOST_BUFFERS = 64 << 20
"""Bytes of buffers that are copied at each step; normalisation layers have some thousand."""


class Before:
    """Buffers and random states before the newest forward pass of a training step."""

    def __init__(self, model: Any, step: Callable[[], int | None]) -> None:
        self.step: int | None = None
        self.buffers: dict[str, Any] = {}
        self.random: dict[str, Any] | None = None
        self._step = step
        _called_before(model, self)

    @harmless(None)
    def note(self, model: Any) -> None:
        """Take note."""
        self.step = self._step()
        self.random = random_states.take()
        self.buffers = buffers(model)


def buffers(model: Any) -> dict[str, Any]:
    """Return copies of a model's buffers by name, or nothing where they are too large."""
    found = dict(model.named_buffers())
    if sum(one.numel() * one.element_size() for one in found.values()) > MOST_BUFFERS:
        return {}
    return {name: one.detach().clone() for name, one in found.items()}


def _called_before(model: Any, before: Before) -> None:
    """Have a model say when it is called to be trained; a copy of it says nothing."""
    to, whose = weakref.ref(before), weakref.ref(model)

    def hook(module: Any, _: Any) -> None:
        found = to()
        if found is not None and module.training and module is whose():
            found.note(module)

    model.register_forward_pre_hook(hook)
