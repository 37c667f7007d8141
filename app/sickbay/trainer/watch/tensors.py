"""Tensors as a watch reads them: those on a device only when it is asked for all of them at once.

torch is never imported here; whoever hands over a tensor has imported it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Held: TypeAlias = Any
"""A float, or a tensor of one element that is still on its device."""
_MOST_DEPTH, _MOST_TENSORS = 4, 64
_SINGLE = 4
"""Bytes of a number in single precision."""


def torch() -> Any:
    """Return torch, which the training script has imported."""
    return sys.modules["torch"]


def held(value: Any) -> Held:
    """Take one number: at once from the host's memory, as a copy on its device elsewhere.

    Raises:
        TypeError, ValueError, RuntimeError: it is no single number.
    """
    if not is_tensor(value):
        return float(value)
    tensor = value.detach()
    if tensor.device.type == "cpu":
        return float(tensor)
    if tensor.numel() != 1:
        raise ValueError("a loss is one number, and this tensor holds more")
    return tensor.reshape(()).clone()


def settle(values: Sequence[Held]) -> list[float]:
    """Return the numbers, waiting once for each device that holds any."""
    found = [value if isinstance(value, float) else 0.0 for value in values]
    waiting: dict[Any, list[int]] = {}
    for at, value in enumerate(values):
        if not isinstance(value, float):
            waiting.setdefault(value.device, []).append(at)
    for places in waiting.values():
        numbers = torch().stack([values[at].float() for at in places]).tolist()
        for at, number in zip(places, numbers, strict=True):
            found[at] = number
    return found


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor, or something that behaves like one."""
    return hasattr(value, "detach") and hasattr(value, "device")


def tensors(value: Any, name: str, depth: int = _MOST_DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield the tensors that hold fractions, however they are nested, each with its place."""
    if is_tensor(value):
        if value.is_complex():
            value = torch().view_as_real(value.detach())
        if value.is_floating_point() and value.numel():
            yield name, value.detach()
        return
    if not depth:
        return
    for key, item in _parts(value):
        yield from tensors(item, f"{name}[{key!r}]", depth - 1)


def _parts(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())[:_MOST_TENSORS]
    if isinstance(value, list | tuple):
        return list(enumerate(value[:_MOST_TENSORS]))
    return []


def sums(tensor: Any) -> Any:
    """Return the sum of each sample: it is finite only where all its values are.

    Seldom it is not finite though they are: where they add up to more than the type can hold.
    """
    if tensor.dim() < 2:  # noqa: PLR2004 (one value a sample)
        return tensor.reshape(-1).to(_wide(tensor))
    return tensor.sum(tuple(range(1, tensor.dim())), dtype=_wide(tensor))  # copies no layout


def total(tensor: Any) -> float:
    """Return the sum of a tensor in the host's memory: finite only where all its values are."""
    return float(tensor.sum(dtype=_wide(tensor)))


def _wide(tensor: Any) -> Any:
    return torch().float32 if tensor.dtype.itemsize < _SINGLE else tensor.dtype


def per_sample(losses: Any, count: int) -> Any:
    """Return one loss a sample: of losses for each part of one, the mean; else as they are."""
    if is_tensor(losses):
        losses = losses.detach()
        if losses.dim() > 1 and losses.shape[0] == count:
            losses = losses.flatten(1).mean(1)
    return losses


def listed(losses: Any, count: int) -> tuple[float, ...]:
    """Return one loss a sample, or nothing where they are not known."""
    if losses is None:
        return ()
    numbers = losses.tolist() if hasattr(losses, "tolist") else list(losses)
    return tuple(float(one) for one in numbers) if len(numbers) == count else ()
