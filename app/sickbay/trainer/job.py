"""The parts of a training job, as triage, the loader check and replay take them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from sickbay.contract.errors import BadInput

WANTED = (
    "A factory for triage returns (data, model, criterion, optimizer), a mapping with these "
    "names, or a sickbay.trainer.TriageJob"
)
_NAMED = ("data", "model", "criterion", "optimizer")
_LEAST = 2
"""Data and a model."""
_ALIASES = {"dataset": "data", "loader": "data", "dataloader": "data", "loss": "criterion"}
KNOWN_GOOD = ("cross-entropy", "binary-cross-entropy", "squared-error")


@dataclass(frozen=True, slots=True)
class TriageJob:
    """The parts of a training job.

    A batch that is a pair is ``(inputs, labels)``: the loss is ``criterion(model(inputs),
    labels)``. Of a longer one all but the last are inputs. A mapping is given to the model as
    keyword arguments: with a criterion without its labels, else whole, and the output has the
    ``loss``. ``step`` is for all others.

    Attributes:
        data: a ``Dataset``, or the job's ``DataLoader``, which says the next three itself.
        model: a ``torch.nn.Module``.
        criterion: called with output and labels; nothing where the model returns the loss.
        optimizer: made of the model's parameters; nothing for a known good one.
        collate_fn: puts samples into a batch; torch's own by default.
        batch_size: samples in a batch; 32 by default.
        num_workers: of the loader.
        scheduler: of the learning rate; only to know whether it warms up.
        num_classes: whole labels are from 0 to one less.
        ignore_label: a label beside them that is allowed.
        known_good: the loss to put in for a comparison: ``cross-entropy``,
            ``binary-cross-entropy`` or ``squared-error``; chosen by the labels by default.
        step: ``step(model, batch)`` returns the loss, in the place of calling model and criterion.
        frozen: names of modules or parameters that are not to be trained, on purpose.
        precision: ``bfloat16`` or ``float16``: what the job trains in beside float32. By default
            the one that the device is good at.
        export: whether the model is to be exported later.
        validation: a ``Dataset`` or ``DataLoader`` that must share nothing with ``data``.
    """

    data: Any
    model: Any
    criterion: Any = None
    optimizer: Any = None
    collate_fn: Callable[[Any], Any] | None = None
    batch_size: int | None = None
    num_workers: int | None = None
    scheduler: Any = None
    num_classes: int | None = None
    ignore_label: int = -100
    known_good: str | None = None
    step: Callable[[Any, Any], Any] | None = None
    frozen: tuple[str, ...] = ()
    precision: str | None = None
    export: bool = True
    validation: Any = None


_NAMES = frozenset(one.name for one in fields(TriageJob))


def job_of(made: Any) -> TriageJob:
    """Return the job that a factory has made.

    Raises:
        BadInput: it is none; the sentence says what is wrong and what is wanted.
    """
    if isinstance(made, TriageJob):
        return _checked(made)
    if isinstance(made, Mapping):
        return _checked(_of_mapping(dict(made)))
    if isinstance(made, tuple | list):
        if not _LEAST <= len(made) <= len(_NAMED):
            raise BadInput(f"{WANTED}, not a {type(made).__name__} of {len(made)}.")
        return _checked(_of_mapping(dict(zip(_NAMED, made, strict=False))))
    if is_dataclass(made) and not isinstance(made, type):
        return _checked(_of_mapping({one.name: getattr(made, one.name) for one in fields(made)}))
    raise BadInput(f"{WANTED}, not a {type(made).__name__}.")


def whole_job(made: Any) -> TriageJob | None:
    """Return a job where a factory made a whole one: for what needs a part of it only.

    A pair of a model and its criterion, or of data and their collate, is none.

    Raises:
        BadInput: as for ``job_of``.
    """
    pair = made[:_LEAST] if isinstance(made, tuple | list) and len(made) >= _LEAST else ()
    modules = [hasattr(one, "named_parameters") for one in pair]
    if isinstance(made, TriageJob | Mapping) or modules == [False, True]:
        return job_of(made)
    return None


def _of_mapping(found: dict[Any, Any]) -> TriageJob:
    named = {_ALIASES.get(name, name): value for name, value in found.items()}
    if unknown := sorted(str(name) for name in named if name not in _NAMES):
        raise BadInput(f"{WANTED}; it has no part {', '.join(unknown)}.")
    if missing := [name for name in ("data", "model") if named.get(name) is None]:
        raise BadInput(f"{WANTED}; there is no {missing[0]}.")
    return TriageJob(**named)


def _checked(job: TriageJob) -> TriageJob:
    if not (hasattr(job.data, "__getitem__") or hasattr(job.data, "__iter__")):
        raise BadInput(f"{WANTED}; its data are a {type(job.data).__name__}, which is no data set.")
    if not (hasattr(job.model, "named_parameters") and callable(job.model)):
        raise BadInput(f"{WANTED}; its model is a {type(job.model).__name__}, which is no module.")
    if job.criterion is not None and not callable(job.criterion):
        kind = type(job.criterion).__name__
        raise BadInput(f"{WANTED}; its criterion is a {kind}, which cannot be called.")
    if job.optimizer is not None and not hasattr(job.optimizer, "param_groups"):
        kind = type(job.optimizer).__name__
        raise BadInput(f"{WANTED}; its optimizer is a {kind}, which has no param_groups.")
    if job.known_good is not None and job.known_good not in KNOWN_GOOD:
        raise BadInput(f"known_good is one of {', '.join(KNOWN_GOOD)}, not {job.known_good}.")
    if job.precision not in (None, "bfloat16", "float16"):
        raise BadInput(f"precision is bfloat16 or float16, not {job.precision}.")
    return job
