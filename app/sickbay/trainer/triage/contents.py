"""Stage three: what the batches hold."""

from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.contract.sign import DEFAULT_OF_KIND, Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer.blame.batches import leaves
from sickbay.trainer.inputs import BatchChecks, Found
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.fetching import Source
from sickbay.trainer.triage.trouble import Trouble, some

_ADVICE = {
    FailureKind.NON_FINITE_INPUT: "Look at the samples that are named and at the transform that "
    "divides, takes a logarithm or a root; `sickbay scan --loader` goes through all samples.",
    FailureKind.NON_FINITE_LABEL: "Correct or leave out the labels of the samples that are named.",
    FailureKind.LABEL_ASSERT: "Correct these labels, count classes from 0, or give the right "
    "num_classes (or ignore_label, if it means that).",
    FailureKind.SHAPE_MISMATCH: "Make type and number of dimensions the same for all samples.",
}


def contents(source: Source, bench: Bench) -> str:
    """Check finite values, labels and shapes, of the second batch against the first too."""
    checks = BatchChecks(
        bench.job.num_classes,
        ignore_label=bench.job.ignore_label,
        labels=_place_of_labels(source.batches[0][0]),
        fixed_sizes=False,
    )
    told: list[str] = []
    for batch, named in source.batches:
        for found in checks.look(batch, samples=named):
            raise _of_found(found)
    batch, named = source.batches[0]
    bench.take(batch, named)
    if len(source.batches) > 1 and _same(batch, source.batches[1][0]):
        told.append("Note: the first two batches are the same; is the order shuffled?")
    told += _looks(bench)
    count = len(source.batches)
    return " ".join([f"{count} batch{'es' if count > 1 else ''}, finite and alike.", *told])


def _place_of_labels(batch: Any) -> int | None:
    """Return where the labels of a tuple are: its last part that has tensors; paths may follow."""
    if not isinstance(batch, tuple | list) or hasattr(batch, "_fields"):
        return None
    full = [place for place, part in enumerate(batch) if any(True for _ in leaves(part))]
    return full[-1] if len(full) > 1 else None


def _of_found(found: Found) -> Trouble:
    named = f": {some(found.samples)}" if found.samples else ""
    labels = found.detail.get("labels")
    values = f"; found {some(labels)}" if labels else ""
    message = f"{found.message}{values}{named}."
    category = DEFAULT_OF_KIND.get(found.kind, Category.LOADING)
    return Trouble(message, category, _ADVICE.get(found.kind, ""), Layer.DATA)


def _same(one: Any, other: Any) -> bool:
    pairs = list(zip(leaves(one), leaves(other), strict=False))
    return bool(pairs) and all(torch().equal(*pair) for pair in pairs)


def _looks(bench: Bench) -> list[str]:
    """Say what is unusual and no fault: raw bytes, all labels alike, values far from zero."""
    told = []
    inputs = [one for one in leaves((bench.call.args, bench.call.kwargs)) if one.numel()]
    wide = [one for one in inputs if one.is_floating_point() and float(one.abs().max()) > 100]  # noqa: PLR2004 (far from what is normalised)
    if wide:
        told.append(f"Note: values reach {float(wide[0].abs().max()):.4g}; are they normalised?")
    labels = [one for one in leaves(bench.call.targets) if one.numel() > 1]
    if any(bool((one == one.flatten()[0]).all()) for one in labels):
        told.append("Note: all labels of the batch are the same.")
    return told
