"""Stage seven: one backward pass; which parameters learn, which are frozen, which are left out."""

from typing import Any

from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.course import train
from sickbay.trainer.triage.parts import declared, parts_of
from sickbay.trainer.triage.trail import followed
from sickbay.trainer.triage.trouble import Trouble, of_error, some

_LARGE = 1e6
"""A gradient norm above this is said: no usual rate survives it without clipping."""
_NOTHING = 1e-10
"""Share of the largest layer's gradient that moves no float32 weight at any usual rate."""
_STEPS = 5
_DRAWS = 8
_MOST_PROBED = 20
_SHAKE = 0.5
"""Share of a parameter's own size by which it is shaken to see whether the loss depends on it."""


def backward(bench: Bench) -> str:
    """Run one backward pass, and look at the gradient of each parameter."""
    bench.reset()
    with followed(bench.model) as trail:
        value = bench.loss()
    try:
        bench.alive()
        value.backward()
    except Exception as error:
        raise of_error(error, "Backward", Layer.MODEL) from error
    gradients = _gradients(bench)
    _finite(gradients)
    told = [_size(gradients), *_none(bench, trail.called), *parts_of(bench)]
    _vanished(bench, gradients)
    bench.reset()
    return " ".join(one for one in told if one)


def _gradients(bench: Bench) -> dict[str, Any]:
    """Return the values of each gradient; of a sparse one, those that are there."""
    found = {name: one.grad for name, one in bench.model.named_parameters()}
    whole = {
        name: one.coalesce().values() if one.is_sparse else one
        for name, one in found.items()
        if one is not None
    }
    return {name: one.detach() for name, one in whole.items() if one.numel()}


def _finite(gradients: dict[str, Any]) -> None:
    bad = [name for name, one in gradients.items() if not bool(one.isfinite().all())]
    if bad:
        raise Trouble(
            f"The gradient of {some(bad)} is not finite, with a finite loss.",
            Category.GRADIENT,
            "Look behind these layers for a square root or norm at zero, a division, or a "
            "where() whose other branch is infinite; add a small constant inside.",
        )
    if all(float(one.abs().max()) == 0 for one in gradients.values()):
        raise Trouble(
            "All gradients are zero: nothing can be learned from this batch.",
            Category.GRADIENT,
            "Look for saturated or dead activations, a clamp that cuts all values off, a loss "
            "that is constant, and the scale of the inputs.",
        )


def _size(gradients: dict[str, Any]) -> str:
    total = float(torch().stack([one.float().norm() for one in gradients.values()]).norm())
    dead = [name for name, one in gradients.items() if float(one.abs().max()) == 0]
    large = " Note: that is large; clip it." if total > _LARGE else ""
    zero = f" Note: zero for {some(dead)}." if dead else ""
    return f"Gradient norm {total:.4g}.{large}{zero}"


def _vanished(bench: Bench, gradients: dict[str, Any]) -> None:
    """Refuse a front that learns nothing, also when the layers behind it have learned a little.

    A last layer that begins at zero lets nothing through in its first step only.
    """
    if not _still_front(bench, gradients):
        return
    train(bench, _STEPS, good=True)
    bench.model.zero_grad(set_to_none=True)
    for _ in range(_DRAWS):  # what dropout leaves out differs
        bench.calls.loss(bench.calls.forward(bench.call)).backward()
    if still := _still_front(bench, _gradients(bench)):
        raise Trouble(
            f"The gradient vanishes before it reaches {some(still)}, and so it does after "
            f"{_STEPS} steps: these layers learn nothing.",
            Category.GRADIENT,
            "Look behind them for saturated or dead activations and a scale that is far off; use "
            "ReLU or GELU, normalisation, residual connections, and another initialisation.",
        )


def _still_front(bench: Bench, gradients: dict[str, Any]) -> list[str]:
    """Return the first layers whose gradient is nothing beside the whole one."""
    norms: dict[str, float] = {}
    for name, one in gradients.items():
        if not declared(bench.job.frozen, name):
            norms[_module(name)] = norms.get(_module(name), 0.0) + float(one.float().norm())
    least = _NOTHING * max(norms.values(), default=0.0)
    still = []
    for name, norm in norms.items():
        if norm > least:
            break
        still.append(name or "the model")
    return still


def _none(bench: Bench, called: set[str]) -> list[str]:
    """Tell parameters that are cut off from those that this batch does not use."""
    missing = [
        (name, one)
        for name, one in bench.model.named_parameters()
        if one.requires_grad and one.grad is None and not declared(bench.job.frozen, name)
    ]
    if not missing:
        return []
    probed = [pair for pair in missing if _module(pair[0]) in called][:_MOST_PROBED]
    cut = [name for name, one in probed if _matters(bench, one)]
    if cut:
        raise Trouble(
            f"{some(cut)} {'gets' if len(cut) == 1 else 'get'} no gradient, and the loss depends "
            "on it: it is cut off.",
            Category.CUT_OFF,
            "Look for detach(), .data, item(), numpy(), argmax() or torch.no_grad() between "
            f"{_module(cut[-1]) or 'the model'} and the loss.",
        )
    names = [name for name, _ in missing]
    ddp = "DistributedDataParallel needs find_unused_parameters for that"
    return [f"Note: this batch does not use {some(names)}; {ddp}."]


def _module(parameter: str) -> str:
    return parameter.rpartition(".")[0]


def _matters(bench: Bench, parameter: Any) -> bool:
    """Whether the loss changes when a parameter is shaken."""
    before = bench.value()
    kept = parameter.detach().clone()
    generator = torch().Generator().manual_seed(1)
    noise = torch().randn(kept.shape, generator=generator).to(kept)
    try:
        with torch().no_grad():
            parameter.add_(noise * (_SHAKE * float(kept.abs().max()) + 1e-3))
        return bench.value() != before
    finally:
        with torch().no_grad():
            parameter.copy_(kept)
