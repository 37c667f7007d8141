"""How a model was just before its forward pass: what the pass itself changes."""

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sickbay.trainer import random_states
from sickbay.trainer.complaints import harmless

MOST_BUFFERS = 64 << 20
"""Bytes of buffers that are copied at each step; normalisation layers have some thousand."""


class Before:
    """Buffers and random states before the newest forward pass of a training step."""

    def __init__(self, model: Any, step: Callable[[], int | None]) -> None:
        self.step: int | None = None
        self.buffers: Mapping[str, Any] = {}
        self.random: dict[str, Any] | None = None
        self._step = step
        self._copying = Buffers(model)
        _called_before(model, self)

    @harmless(None)
    def note(self) -> None:
        """Take note."""
        self.step = self._step()
        self.random = random_states.take()
        self.buffers = self._copying.copied()


class Copied(Mapping[str, Any]):
    """Copies of tensors by name: made as one tensor of each type, taken apart when asked for."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._groups: dict[Any, tuple[Any, list[tuple[str, Any]]]] = {}
        self._apart: dict[str, Any] | None = None
        groups: dict[Any, list[tuple[str, Any]]] = {}
        for name, one in named.items():
            groups.setdefault((one.dtype, one.device), []).append((name, one))
        for kind, items in groups.items():
            rows = [one if one.dim() == 1 else one.reshape(-1) for _, one in items]
            flat = sys.modules["torch"].cat(rows).detach()
            self._groups[kind] = flat, [(name, one.shape) for name, one in items]

    def _whole(self) -> dict[str, Any]:
        if self._apart is None:
            self._apart = {}
            for flat, shapes in self._groups.values():
                parts = flat.split([shape.numel() for _, shape in shapes])
                for (name, shape), part in zip(shapes, parts, strict=True):
                    self._apart[name] = part.reshape(shape)
        return self._apart

    def __getitem__(self, name: str) -> Any:
        return self._whole()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())


class Buffers:
    """Copies a model's buffers; where they are is looked up once."""

    def __init__(self, model: Any) -> None:
        self._slots = [
            (f"{place}.{name}" if place else name, module._buffers, name)  # noqa: SLF001 (torch's own loops cost more than the copy)
            for place, module in model.named_modules()
            for name, one in module._buffers.items()  # noqa: SLF001 (as above)
            if one is not None
        ]
        size = sum(held[name].nbytes for _, held, name in self._slots)
        if size > MOST_BUFFERS:
            self._slots = []

    def copied(self) -> Copied:
        """Return copies by name; none where they are too large."""
        found = ((place, held.get(name)) for place, held, name in self._slots)
        return Copied({place: one for place, one in found if one is not None})


def _called_before(model: Any, before: Before) -> None:
    """Have a model say when it is called to be trained; a copy of it says nothing."""
    to, whose = weakref.ref(before), weakref.ref(model)

    def hook(module: Any, _: Any) -> None:
        found = to()
        if found is not None and module.training and module is whose():
            found.note()

    model.register_forward_pre_hook(hook)
