"""A batch as the model was called with it, and parts of it."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_MOST_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Call:
    """What a step was made with: the model's arguments, and the criterion's after the output."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[Any, ...] = ()

    @property
    def parts(self) -> tuple[Any, ...]:
        """All of it."""
        return self.args, self.kwargs, self.targets

    def count(self) -> int:
        """Return how many samples it holds: the length of its first tensor, or list."""
        sizes = (len(one) for one in leaves(self.parts) if one.dim())
        return next(sizes, 0)

    def rows(self, rows: Sequence[int]) -> "Call":
        """Return the call with some of the samples only."""
        count = self.count()

        def chosen(tensor: Any) -> Any:
            if not tensor.dim() or len(tensor) != count:
                return tensor
            return tensor[_torch().tensor(list(rows), device=tensor.device)]

        return self._each(chosen)

    def size(self) -> int:
        """Return the bytes of its tensors."""
        return sum(one.numel() * one.element_size() for one in leaves(self.parts))

    def to(self, device: Any) -> "Call":
        """Return it on another device."""
        return self._each(lambda tensor: tensor.detach().to(device))

    def rows_not_finite(self) -> list[int]:
        """Return the samples that hold a NaN or an infinity."""
        count, found = self.count(), set()
        for one in leaves(self.parts):
            if one.dim() and len(one) == count and one.is_floating_point():
                bad = ~_torch().isfinite(one.reshape(count, -1)).all(1)
                found.update(_torch().nonzero(bad).flatten().tolist())
        return sorted(found)

    def _each(self, act: Callable[[Any], Any]) -> "Call":
        args, kwargs, targets = (mapped(part, act) for part in self.parts)
        return Call(args, kwargs, targets)


def leaves(value: Any, depth: int = _MOST_DEPTH) -> Iterator[Any]:
    """Yield the tensors in a nested value."""
    if isinstance(value, _torch().Tensor):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item, depth - 1)


def mapped(value: Any, act: Callable[[Any], Any], depth: int = _MOST_DEPTH) -> Any:
    """Return a nested value with its tensors exchanged."""
    if isinstance(value, _torch().Tensor):
        return act(value)
    if depth and isinstance(value, Mapping):
        return {key: mapped(item, act, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, list | tuple):
        items = [mapped(item, act, depth - 1) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _torch() -> Any:
    return sys.modules["torch"]
