"""The gradients' norms: one fused call for all parameters, kept on their device until asked for."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sickbay.trainer.watch.tensors import Held, held, is_tensor, torch

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Norms:
    """What one backward pass left.

    Attributes:
        total: the norm over all parameters.
        names: of the parameters that had a gradient.
        each: their norms, a list or one tensor; nothing where only the total is known.
    """

    total: Held
    names: tuple[str, ...] = ()
    each: Any = None

    def culprits(self) -> tuple[str, ...]:
        """Return the first parameters whose norm is not finite; waits for the device."""
        if self.each is None:
            return ()
        norms = self.each if isinstance(self.each, list) else self.each.tolist()
        pairs = zip(self.names, norms, strict=True)
        return tuple(name for name, norm in pairs if not math.isfinite(norm))[:_MOST_NAMED]


class Gradients:
    """Takes the norms of one model after another; most trainings have one."""

    def __init__(self) -> None:
        self._model: Any = None
        self._parameters: list[tuple[str, Any]] = []

    def norms(self, model: Any) -> Norms | None:
        """Return the norms of the model's gradients; nothing where it has none.

        Of sharded parameters this rank's part counts: nobody else is asked. The norm of numbers
        near the largest a type holds may be infinite though they are not.

        Args:
            model: a module, or parameters, or pairs of name and parameter.
        """
        found = [
            (name, grad)
            for name, parameter in self._named(model)
            if (grad := parameter.grad) is not None
        ]
        if not found:
            return None
        each = _each([_local(grad.detach()) for _, grad in found])
        names = tuple(name for name, _ in found)
        if each.device.type == "cpu":  # in Python: fewer calls, of which each costs microseconds
            listed = each.tolist()
            return Norms(math.hypot(*listed), names, listed)
        return Norms(held(torch().linalg.vector_norm(each)), names, each)

    def _named(self, model: Any) -> list[tuple[str, Any]]:
        """List the parameters: once for a module, whose own listing takes longer than the norm."""
        if not hasattr(model, "named_parameters"):
            return list(_pairs(model))
        if model is not self._model:
            self._model, self._parameters = model, list(model.named_parameters())
        return self._parameters


def _pairs(given: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    for at, item in enumerate(given):
        yield (str(at), item) if is_tensor(item) else (str(item[0]), item[1])


def _local(grad: Any) -> Any:
    """Return what this process holds of a gradient, as a dense tensor."""
    grad = grad.to_local() if hasattr(grad, "to_local") else grad
    return grad.coalesce().values() if grad.is_sparse else grad


def _each(grads: list[Any]) -> Any:
    """Return the norms as one tensor; those in half precision are taken in single."""
    groups: dict[tuple[Any, Any], list[int]] = {}
    for at, grad in enumerate(grads):
        groups.setdefault((grad.device, grad.dtype), []).append(at)
    norms: list[Any] = [None] * len(grads)
    for (_, kind), places in groups.items():
        wide = torch().float32 if kind.itemsize < 4 else None  # noqa: PLR2004 (bytes of a float)
        taken = torch()._foreach_norm([grads[at] for at in places], 2, wide)  # noqa: SLF001 (what clip_grad_norm_ itself calls)
        for at, norm in zip(places, taken, strict=True):
            norms[at] = norm
    if len(groups) == 1:
        return torch().stack(norms)
    first = norms[0].device
    return torch().stack([norm.to(first, torch().float32) for norm in norms])
