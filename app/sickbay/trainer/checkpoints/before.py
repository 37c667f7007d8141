"""How a model was just before its forward pass: what the pass itself changes."""

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sickbay.trainer import random_states
from sickbay.trainer.checkpoints.content import plain_model, wrapped
from sickbay.trainer.complaints import harmless

MOST_BUFFERS = 64 << 20
"""Bytes of buffers that are copied at each step; normalisation layers have some thousand."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Random states and buffers, as they were before a forward pass."""

    random: Mapping[str, Any]
    buffers: Mapping[str, Any]


class Follower(Protocol):
    """Who is told of a model's calls."""

    def called(
        self, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], was: Snapshot
    ) -> None:
        """Take note of a call that a model in training is about to answer."""


class Calls:
    """The calls of one model in training: all who follow it share one look before each."""

    def __init__(self, given: Any) -> None:
        self.paused = False
        self._copying = Buffers(plain_model(given))
        self._followers: list[weakref.ref[Any]] = []

    def follow(self, follower: Follower) -> None:
        """Tell somebody of each call, for as long as it lives."""
        self._followers.append(weakref.ref(follower, self._followers.remove))

    def look(self) -> Snapshot:
        """Take note of how things are now."""
        return Snapshot(random_states.take(), self._copying.copied())

    @harmless(None)
    def came(self, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Pass a call on."""
        followers = [one for to in self._followers if (one := to()) is not None]
        if self.paused or not followers or not plain_model(model).training:
            return
        was = self.look()
        for one in followers:
            one.called(model, args, kwargs, was)


def calls_of(given: Any) -> Calls:
    """Return the calls of a model, wrapped or not; the same for everybody who asks.

    A compiled model is followed where it is called: a hook on what is within would be compiled
    with it, at the cost of graph breaks, and with ``fullgraph`` of the training.
    """
    place = given if _compiled(given) else plain_model(given)
    if (found := _followed.get(place)) is None:
        found = _followed[place] = Calls(given)
        before_calls(place, found, Calls.came)
    return found


def before_calls(module: Any, who: Any, act: Callable[..., None]) -> None:
    """Have ``act(who, module, args, kwargs)`` called before each call of a module.

    Not for a copy of it, nor once ``who`` is gone, nor where the hook itself is being compiled.
    """
    to, whose, torch = weakref.ref(who), weakref.ref(module), sys.modules["torch"]

    def hook(called: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if torch.compiler.is_compiling():
            return
        found = to()
        if found is not None and called is whose():
            act(found, called, args, kwargs)

    module.register_forward_pre_hook(hook, with_kwargs=True)


class Before:
    """Buffers and random states before the newest forward pass of a training step."""

    def __init__(self, model: Any, step: Callable[[], int | None]) -> None:
        self.step: int | None = None
        self.buffers: Mapping[str, Any] = {}
        self.random: Mapping[str, Any] | None = None
        self._step = step
        self._calls = calls_of(model)
        self._calls.follow(self)

    def called(
        self,
        model: Any,  # noqa: ARG002 (as all who follow)
        args: tuple[Any, ...],  # noqa: ARG002 (as above)
        kwargs: Mapping[str, Any],  # noqa: ARG002 (as above)
        was: Snapshot,
    ) -> None:
        """Take note."""
        self.step, self.random, self.buffers = self._step(), was.random, was.buffers


class Copied(Mapping[str, Any]):
    """Copies of tensors by name: made as one tensor of each type, taken apart when asked for."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._groups: dict[Any, tuple[Any, list[tuple[str, Any]]]] = {}
        self._apart: dict[str, Any] | None = None
        groups: dict[Any, list[tuple[str, Any]]] = {}
        for name, one in named.items():
            groups.setdefault((one.dtype, one.device, one.dim()), []).append((name, one))
        for kind, items in groups.items():
            flat = _flat([one for _, one in items], kind[2])
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


def _flat(tensors: list[Any], dims: int) -> Any:
    """Return tensors of so many dimensions as one, with few calls: each costs a microsecond."""
    torch: Any = sys.modules["torch"]
    if not dims:
        return torch.stack(tensors).detach()
    rows = tensors if dims == 1 else [one.reshape(-1) for one in tensors]
    return torch.cat(rows).detach()


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


def _compiled(model: Any) -> bool:
    """Whether a model, or one that it wraps, is compiled."""
    while model is not None:
        if hasattr(model, "_orig_mod"):
            return True
        model = wrapped(model)
    return False


_followed: "weakref.WeakKeyDictionary[Any, Calls]" = weakref.WeakKeyDictionary()
