"""How a model was just before its forward pass: what the pass itself changes."""

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
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

    def __init__(self, groups: Iterable[tuple[Any, list[tuple[str, Any]]]]) -> None:
        self._groups = list(groups)
        self._apart: dict[str, Any] | None = None

    def _whole(self) -> dict[str, Any]:
        if self._apart is None:
            self._apart = {}
            for flat, shapes in self._groups:
                parts = flat.reshape(-1).split([shape.numel() for _, shape in shapes])
                for (name, shape), part in zip(shapes, parts, strict=True):
                    self._apart[name] = part.reshape(shape)
        return self._apart

    def __getitem__(self, name: str) -> Any:
        return self._whole()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())


@dataclass(slots=True)
class _Alike:
    """Buffers that can be copied with one call: where they are, their names and shapes."""

    places: list[tuple[Any, str]]
    shapes: list[tuple[str, Any]]
    kind: tuple[Any, Any, int]
    size: int = 0

    def copied(self) -> Any:
        torch: Any = sys.modules["torch"]
        found = [held[name] for held, name in self.places]
        if not self.kind[2]:
            return torch.stack(found).detach()
        return torch.cat(
            found if self.kind[2] == 1 else [one.reshape(-1) for one in found]
        ).detach()

    def fits(self, flat: Any) -> bool:
        """Whether a copy is of the buffers as they were when they were looked up."""
        return (flat.dtype, flat.device, flat.numel()) == (*self.kind[:2], self.size)


class Buffers:
    """Copies a model's buffers; where they are is looked up once, and again where they changed."""

    def __init__(self, model: Any) -> None:
        self._model = weakref.ref(model)
        self._alike: list[_Alike] | None = None

    def copied(self) -> Copied:
        """Return copies by name; none where they are too large."""
        if self._alike is None:
            self._alike = _alike(self._model())
        try:
            flats = [one.copied() for one in self._alike]
        except (RuntimeError, TypeError, KeyError, AttributeError):
            flats = []
        if len(flats) != len(self._alike) or not self._fit(flats):
            self._alike = _alike(self._model())
            flats = [one.copied() for one in self._alike]
        shapes = [one.shapes for one in self._alike]
        return Copied(zip(flats, shapes, strict=True))

    def _fit(self, flats: list[Any]) -> bool:
        return all(one.fits(flat) for one, flat in zip(self._alike or (), flats, strict=True))


def _alike(model: Any) -> list[_Alike]:
    """Look up a model's buffers, together those of one type, device and number of dimensions."""
    groups: dict[tuple[Any, Any, int], _Alike] = {}
    size = 0
    for place, module in model.named_modules() if model is not None else ():
        for name, one in module._buffers.items():  # noqa: SLF001 (torch's own loops cost more than the copy)
            if one is not None:
                kind = (one.dtype, one.device, one.dim())
                group = groups.setdefault(kind, _Alike([], [], kind))
                group.places.append((module._buffers, name))  # noqa: SLF001 (as above)
                group.shapes.append((f"{place}.{name}" if place else name, one.shape))
                group.size += one.numel()
                size += one.nbytes
    return list(groups.values()) if size <= MOST_BUFFERS else []


def _compiled(model: Any) -> bool:
    """Whether a model, or one that it wraps, is compiled."""
    while model is not None:
        if hasattr(model, "_orig_mod"):
            return True
        model = wrapped(model)
    return False


_followed: "weakref.WeakKeyDictionary[Any, Calls]" = weakref.WeakKeyDictionary()
