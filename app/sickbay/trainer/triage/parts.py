"""Which parts of a model are trained: what is frozen, and what the optimizer has not.

Fine-tuning freezes on purpose what lies in front, or most of a model, or a whole part of several
layers, or is not given to the optimizer. That is a note. One layer among others that is frozen
and is still in the optimizer, or one that learns and is in no optimizer, is a mistake.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sickbay.contract.sign import Category
from sickbay.trainer.triage.bench import Bench
from sickbay.trainer.triage.trouble import Trouble, some

_LOOKUPS = ("Norm", "Embedding", "Position")
"""Layers that are often frozen one by one, and on purpose."""
_MOST = 0.5
"""Share of a model's values that only fine-tuning leaves out."""


@dataclass(frozen=True, slots=True)
class _Layer:
    """A module with parameters of its own."""

    name: str
    kind: str
    parameters: tuple[tuple[str, Any], ...]

    @property
    def size(self) -> int:
        return sum(one.numel() for _, one in self.parameters)


def parts_of(bench: Bench) -> list[str]:
    """Say what is frozen or left out on purpose.

    Raises:
        Trouble: something is that hardly is on purpose.
    """
    layers = _layers(bench)
    return [*_frozen(bench, layers), *_left_out(bench, layers)]


def declared(frozen: Sequence[str], name: str) -> bool:
    """Whether a parameter is said to be frozen on purpose."""
    return any(name == one or name.startswith(f"{one}.") for one in frozen)


def _layers(bench: Bench) -> list[_Layer]:
    found = []
    for name, module in bench.model.named_modules():
        dot = f"{name}." if name else ""
        own = tuple(
            (dot + at, one)
            for at, one in module.named_parameters(recurse=False)
            if not declared(bench.job.frozen, dot + at)
        )
        if own:
            found.append(_Layer(name or "the model", type(module).__name__, own))
    return found


def _frozen(bench: Bench, layers: list[_Layer]) -> list[str]:
    frozen = [one for one in layers if not any(at.requires_grad for _, at in one.parameters)]
    if not frozen:
        return []
    held = bench.in_optimizer()
    names = [one.name for one in frozen]
    odd = [
        one
        for one in frozen
        if _alone(one, frozen, layers)
        and not any(word in one.kind for word in _LOOKUPS)
        and any(id(at) in held for _, at in one.parameters)
    ]
    if odd and not (len(frozen) > 1 and _mostly(frozen, layers)):
        listed = [f"{one.name} ({one.kind})" for one in odd]
        raise Trouble(
            f"Frozen layer: {some(listed)}. Its parameters have requires_grad=False and are in "
            "the optimizer, which will never change them.",
            Category.CUT_OFF,
            "Set requires_grad to True, or leave it out of the optimizer (or name it in the job's "
            "frozen) if that is on purpose.",
        )
    share = sum(one.size for one in frozen) / max(1, sum(one.size for one in layers))
    why = "not in the optimizer" if not _held(frozen, held) else "a part as a whole"
    return [f"Note: frozen, it seems on purpose ({why}): {some(names)}; {share:.0%} of all."]


def _held(found: list[_Layer], held: set[int]) -> bool:
    return any(id(at) in held for one in found for _, at in one.parameters)


def _mostly(found: list[_Layer], layers: list[_Layer]) -> bool:
    return sum(one.size for one in found) >= _MOST * sum(one.size for one in layers)


def _front(layers: list[_Layer], member: Callable[[_Layer], bool]) -> list[str]:
    """Return the layers from the first one on that are all of a kind."""
    names = []
    for one in layers:
        if not member(one):
            break
        names.append(one.name)
    return names


def _alone(layer: _Layer, frozen: list[_Layer], layers: list[_Layer]) -> bool:
    """Whether a frozen layer is no part of a larger one that is frozen as a whole."""
    front = _front(layers, lambda one: one in frozen)
    if len(front) > 1 and layer.name in front:
        return False
    parent = layer.name.rpartition(".")[0]
    if not parent:
        return True
    inside = [one for one in layers if one.name.startswith(f"{parent}.") or one.name == parent]
    return len(inside) == 1 or not all(one in frozen for one in inside)


def _left_out(bench: Bench, layers: list[_Layer]) -> list[str]:
    """Look for what learns and is in no optimizer."""
    held = bench.in_optimizer()
    if not held:
        return []
    missing = [
        (layer, name)
        for layer in layers
        for name, one in layer.parameters
        if one.requires_grad and id(one) not in held
    ]
    strangers = _strangers(bench, held)
    if not missing:
        return [f"Note: the optimizer has {strangers} parameters of others."] if strangers else []
    names = [name for _, name in missing]
    out = [one for one in layers if any(one is layer for layer, _ in missing)]
    front = set(_front(layers, lambda one: one in out or one.parameters == ()))
    on_purpose = len(out) > 1 and all(one.name in front for one in out)
    if on_purpose and not strangers:
        why = "it seems on purpose, as all that lies in front"
        return [f"Note: {some(names)} not in the optimizer, {why}; freeze them to save time."]
    old = f" It has {strangers} parameters that the model has not." if strangers else ""
    raise Trouble(
        f"{some(names)} learn and are not in the optimizer, which will never change them.{old}",
        Category.CUT_OFF,
        "Make the optimizer after the model is complete and on its device, of all its parameters; "
        "freeze on purpose what is not to be trained.",
    )


def _strangers(bench: Bench, held: set[int]) -> int:
    """Count the optimizer's parameters that are neither the model's nor the criterion's."""
    known = {id(one) for one in bench.model.parameters()}
    if hasattr(bench.criterion, "parameters"):
        known |= {id(one) for one in bench.criterion.parameters()}
    return len(held - known)
