"""From the process that put a batch together to the one that trains on it: whose batch it is.

A batch keeps its type: what a worker sends is wrapped only on its way, and unwraps itself when it
is unpickled in the main process. There the tensors of the batch lead to its samples, in a table
that holds none of them alive. Pinning makes new tensors; so while DataLoader pins, the wrapping
stays on until that is done.
"""

import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_MOST_LEAVES = 32
_MOST_DEPTH = 4
_MOST_KEPT = 16
"""Batches without tensors that are remembered, and kept alive for it."""
_known: dict[int, tuple[weakref.ref[Any], "Facts"]] = {}
_kept: deque[tuple[Any, "Facts"]] = deque(maxlen=_MOST_KEPT)
arrived: list[Callable[["Facts"], None]] = []
"""Called for each batch that arrives, in the thread where it does."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a batch beside its content."""

    paths: tuple[str, ...]
    skipped: tuple[Mapping[str, Any], ...] = ()


class Carried:
    """A batch on its way through the loader's queue."""

    def __init__(self, batch: Any, facts: Facts) -> None:
        self.batch = batch
        self.facts = facts

    def __reduce__(self) -> tuple[Any, ...]:
        return _unwrapped, (self.batch, self.facts)

    def pin_memory(self, device: Any = None) -> Any:  # noqa: ARG002 (as torch may call it)
        """Pin it as DataLoader would have, and unwrap it."""
        return deliver(_pin(self.batch), self.facts)


def deliver(batch: Any, facts: Facts) -> Any:
    """Take note of a batch that has reached the training, and return it."""
    for act in arrived:
        act(facts)
    remember(batch, facts)
    return batch


def remember(batch: Any, facts: Facts) -> None:
    """Note which samples a batch holds."""
    leaves = list(_leaves(batch, _MOST_DEPTH))
    for leaf in leaves:
        _known[id(leaf)] = (weakref.ref(leaf, _forget(id(leaf))), facts)
    if not leaves:
        _kept.append((batch, facts))


def samples_of(batch: Any) -> list[str]:
    """Return the paths of a batch's samples, in the batch's order; of an unknown batch, none.

    The batch, or any tensor of it, as the loader gave it. A batch that was moved to a device
    consists of new tensors: ask before, or see ``moved``.
    """
    facts = _facts(batch)
    return list(facts.paths) if facts is not None else []


def moved(before: Any, after: Any) -> Any:
    """Say that ``after`` is the batch ``before`` on another device, and return it."""
    facts = _facts(before)
    if facts is not None:
        remember(after, facts)
    return after


def on_way(batch: Any, facts: Facts, *, in_worker: bool) -> Any:
    """Return what the loader's fetcher should hand on."""
    if in_worker or _pinning("_next_data"):
        return Carried(batch, facts)
    return deliver(batch, facts)


def _unwrapped(batch: Any, facts: Facts) -> Any:
    return Carried(batch, facts) if _pinning("_pin_memory_loop") else deliver(batch, facts)


def _pinning(name: str) -> bool:
    """Whether torch's function of this name is what called, and pins what it gets."""
    frame = sys._getframe(1)  # noqa: SLF001 (the loader tells its collate nothing)
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == name:
            own = frame.f_locals.get("self")
            return own is None or bool(getattr(own, "_pin_memory", False))
    return False


def _pin(batch: Any) -> Any:
    torch: Any = sys.modules["torch"]
    return torch.utils.data._utils.pin_memory.pin_memory(batch)  # noqa: SLF001 (torch has no other)


def _facts(batch: Any) -> Facts | None:
    for leaf in _leaves(batch, _MOST_DEPTH):
        found = _known.get(id(leaf))
        if found is not None and found[0]() is leaf:
            return found[1]
    return next((facts for kept, facts in _kept if kept is batch), None)


def _leaves(batch: Any, depth: int) -> Iterator[Any]:
    """Yield what in a batch can be told apart and does not have to be kept alive for it."""
    return itertools.islice(_all_leaves(batch, depth), _MOST_LEAVES)


def _all_leaves(batch: Any, depth: int) -> Iterator[Any]:
    if isinstance(batch, str | bytes | int | float | None):
        return
    if isinstance(batch, Mapping):
        inner: Any = batch.values()
    elif isinstance(batch, tuple | list):
        inner = batch
    else:
        if hasattr(type(batch), "__weakref__") or hasattr(batch, "dtype"):
            yield batch
        return
    if depth:
        for part in itertools.islice(inner, _MOST_LEAVES):
            yield from _all_leaves(part, depth - 1)


def _forget(key: int) -> Callable[[Any], None]:
    def forget(gone: Any) -> None:
        found = _known.get(key)
        if found is not None and found[0] is gone:
            del _known[key]

    return forget
