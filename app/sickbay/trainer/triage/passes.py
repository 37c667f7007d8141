"""Stages five and six: one forward pass, and the loss."""

import warnings
from typing import Any

from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer.blame.batches import Call, leaves
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.calls import Passed
from sickbay.trainer.triage.fetching import Source
from sickbay.trainer.triage.trail import followed
from sickbay.trainer.triage.trouble import Trouble, of_error, some

_STRETCHED = "Using a target size"
"""What torch warns of where output and labels differ in size and one is stretched."""
_SHAPED = ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
_OF_CLASSES = ("CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss")


def forward(source: Source, bench: Bench) -> str:
    """Call the model once, and once in evaluation mode."""
    _initialised(bench)
    passed = _followed(bench)
    last = _last_of_one(source, bench)
    shapes = [f"{_type(one)} {list(one.shape)}" for one in leaves(passed.output)]
    said = f"Output: {some(shapes, 3) or type(passed.output).__name__}; finite."
    return said + last + _evaluated(bench)


def _initialised(bench: Bench) -> None:
    """Refuse weights that are not there yet, or not finite, before anything was learned."""
    for name, one in bench.model.named_parameters():
        if hasattr(one, "materialize"):
            raise Trouble(
                f"Parameter {name} is not made yet: its layer is a lazy one.",
                Category.INITIALISATION,
                "Call the model once with a batch before the optimizer is made.",
            )
        if not bool(one.detach().isfinite().all()):
            raise Trouble(
                f"Parameter {name} is not finite before the first step.",
                Category.INITIALISATION,
                "Look at how it is initialised (torch.empty holds anything), and at the "
                "checkpoint it was loaded from.",
            )


def _followed(bench: Bench, call: Call | None = None) -> Passed:
    with followed(bench.model) as trail:
        try:
            passed = bench.forward(call)
        except Exception as error:
            where = f"In {trail.stopped} the model" if trail.stopped else "The model"
            raise of_error(error, where, Layer.MODEL) from error
    outputs = [one for one in leaves(passed.output) if one.is_floating_point()]
    if all(bool(one.isfinite().all()) for one in outputs):
        return passed
    first = f"; {trail.odd} is the first whose output is not" if trail.odd else ""
    raise Trouble(
        f"The model's output is not finite, with finite inputs and weights{first}.",
        Category.GRADIENT,
        "Look in that module for a division, logarithm, root or exponential of a value that may "
        "be zero, negative or large, and add a small constant or clamp it.",
        Layer.MODEL,
    )


def _last_of_one(source: Source, bench: Bench) -> str:
    """Try a batch of one, where an epoch ends with it: BatchNorm stops on that.

    Where no loader was given, whether the last batch is left out is not known: that is a note.
    """
    job = source.job
    size = job.batch_size
    if not job.indexed or not size or size == 1 or source.drop_last:
        return ""
    if len(job.data) % size != 1 or bench.call.count() < 2:  # noqa: PLR2004 (one is left over)
        return ""
    try:
        _followed(bench, bench.call.rows([0]))
    except Trouble as trouble:
        what = f"The last batch of an epoch has 1 sample ({len(job.data)} by {size})."
        do = "Set drop_last=True in the training's DataLoader, or another batch size."
        if source.given is None:
            return f" Note: {what} The model stops on it. {do}"
        raise Trouble(f"{what} {trouble.message}", Category.SHAPE, do) from trouble
    return ""


def _evaluated(bench: Bench) -> str:
    """Say whether two passes in evaluation mode differ: something random stays on."""
    bench.model.eval()
    try:
        with torch().no_grad():
            one, other = (list(leaves(bench.calls.forward(bench.call).output)) for _ in range(2))
    except Exception as error:  # noqa: BLE001 (many models need their labels only in training)
        return f" Note: in evaluation mode it raises {type(error).__name__}."
    finally:
        bench.reset()
    if all(torch().allclose(a, b, equal_nan=True) for a, b in zip(one, other, strict=False)):
        return ""
    return (
        " Note: in evaluation mode two passes differ; F.dropout needs training=self.training, "
        "or something else stays random."
    )


def loss(bench: Bench) -> str:
    """Take the loss: one number, finite, that leads back to the parameters."""
    passed = bench.forward()
    _labels(bench, passed)
    value = _taken(bench, passed)
    if not isinstance(value, torch().Tensor):
        raise Trouble(
            f"The loss is a {type(value).__name__} and no tensor: nothing leads back from it.",
            Category.CUT_OFF,
            "Return the tensor itself, without item(), float() or numpy().",
        )
    if value.numel() != 1:
        raise Trouble(
            f"The loss is {list(value.shape)} and not one number.",
            Category.CUT_OFF,
            "Take its mean over all dimensions; look for reduction='none' or a sum over one "
            "dimension.",
        )
    if not bool(value.detach().isfinite().all()):
        raise Trouble(
            f"The loss is {value.item()}, with a finite output and finite labels.",
            Category.GRADIENT,
            "Look for a logarithm of zero or a division by zero in the loss; use the forms that "
            "take raw scores (cross_entropy, binary_cross_entropy_with_logits).",
        )
    if not value.requires_grad:
        raise Trouble(
            "The loss has no gradient: it is cut off from the model's parameters.",
            Category.CUT_OFF,
            "Look for detach(), item(), numpy(), argmax() or torch.no_grad() between the model's "
            "output and the loss, and for a model whose parameters are all frozen.",
        )
    return f"{value.item():.6g}.{_scores(bench, passed)}"


def _taken(bench: Bench, passed: Passed) -> Any:
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = bench.calls.loss(passed)
    except Exception as error:
        shapes = f" Output: {_shapes(passed.output)}; labels: {_shapes(passed.targets)}."
        trouble = of_error(error, "The loss", Layer.MODEL)
        category = next((one for one in Category if one.value == trouble.category), None)
        raise Trouble(trouble.message + shapes, category, trouble.advice) from error
    heard = any(_STRETCHED in str(one.message) for one in caught)
    if heard or (_kind(bench.criterion) in _SHAPED and _stretched(passed)):
        raise Trouble(
            f"The loss stretches output and labels to one size: output {_shapes(passed.output)}, "
            f"labels {_shapes(passed.targets)}. It compares each sample with all others.",
            Category.SHAPE,
            "Give both the same shape, by squeeze(-1) on the output or unsqueeze(-1) on the "
            "labels.",
        )
    return value


def _stretched(passed: Passed) -> bool:
    both = [one for one in (passed.output, *passed.targets[:1]) if hasattr(one, "shape")]
    return len(both) == 2 and both[0].shape != both[1].shape  # noqa: PLR2004 (a pair)


def _labels(bench: Bench, passed: Passed) -> None:
    """Refuse labels that the output has no class for, where the loss is one of classes."""
    if _kind(bench.criterion) not in _OF_CLASSES or len(passed.targets) != 1:
        return
    output, labels = passed.output, passed.targets[0]
    if not hasattr(output, "shape") or output.dim() < 2 or labels.is_floating_point():  # noqa: PLR2004 (samples and classes)
        return
    ignored = getattr(bench.criterion, "ignore_index", bench.job.ignore_label)
    classes = output.shape[1]
    bad = ((labels < 0) | (labels >= classes)) & (labels != ignored)
    if not bool(bad.any()):
        return
    rows = bad.reshape(len(labels), -1).any(1).nonzero().flatten().tolist()
    named = [bench.paths[row] for row in rows if row < len(bench.paths)]
    raise Trouble(
        f"Labels {some(labels[bad].unique().tolist())} are out of range: the output has {classes} "
        f"classes, 0 to {classes - 1}; samples: {some(named)}.",
        Category.SHAPE,
        "Correct these labels, count classes from 0, or make the last layer larger.",
        Layer.DATA,
    )


def _scores(bench: Bench, passed: Passed) -> str:
    """Say where a loss of raw scores is given probabilities: it learns, and slowly."""
    output = passed.output
    if _kind(bench.criterion) not in ("CrossEntropyLoss", "cross_entropy"):
        return ""
    if not hasattr(output, "sum") or output.dim() < 2 or output.shape[1] < 2:  # noqa: PLR2004 (samples and classes)
        return ""
    sums = output.detach().sum(1)
    if not bool((output >= 0).all()) or not torch().allclose(sums, torch().ones_like(sums)):
        return ""
    return " Note: the output looks like probabilities, and this loss wants raw scores."


def _kind(criterion: Any) -> str:
    return getattr(criterion, "__name__", type(criterion).__name__)


def _shapes(value: Any) -> str:
    return some([f"{_type(one)} {list(one.shape)}" for one in leaves(value)], 3) or "no tensor"


def _type(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")
