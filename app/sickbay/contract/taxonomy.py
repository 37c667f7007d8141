"""What kind of trouble a failure is: where in the pipeline, how it shows, what to do about it.

Five stages of a project, four layers, eleven categories. A failure is placed by the first sign
(``contract/symptoms.py``) that its error text bears, else by its kind. What bears no sign is not
placed: a wrong diagnosis costs more than none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from sickbay.contract.event import FailureKind
from sickbay.contract.sign import DEFAULT_OF_KIND, Category, Sign
from sickbay.contract.symptoms import SIGNS


class Layer(StrEnum):
    """Which part of the pipeline the cause is likely to lie in."""

    DATA = "data"
    MODEL = "model"
    TRAINING = "training"
    DEPLOYMENT = "deployment"


class Stage(StrEnum):
    """What the project was doing when it showed."""

    PREPARE = "preparing data"
    BUILD = "building the model"
    TRAIN = "training"
    EVALUATE = "evaluating"
    DEPLOY = "deploying"


@dataclass(frozen=True, slots=True)
class Advice:
    """One category of the taxonomy."""

    layer: Layer
    stage: Stage
    symptom: str
    look: str
    do: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a failure belongs. ``look`` is where to look, ``do`` what to do."""

    layer: Layer
    category: Category
    symptom: str
    look: str
    do: str
    stage: Stage


CATEGORIES: Mapping[Category, Advice] = MappingProxyType(
    {
        Category.LOADING: Advice(
            Layer.DATA,
            Stage.PREPARE,
            "The loop stops with an error from the loader, at another step in every epoch when "
            "the order is shuffled.",
            "The sample that is named, its file on disk, and the last own line of the traceback.",
            "Scan the data set, decide on what is held, and train on the release.",
        ),
        Category.DRIFT: Advice(
            Layer.DATA,
            Stage.EVALUATE,
            "Validation is good and new data are not; classes or values appear that the training "
            "never saw.",
            "The distribution of labels, sizes and brightness in both sets; when and how the new "
            "data were taken.",
            "Compare the two releases, add what is missing to the training set, and make "
            "unknown values an explicit case.",
        ),
        Category.LEAKAGE: Advice(
            Layer.DATA,
            Stage.PREPARE,
            "Validation is suspiciously good, close to or above training, and new data are not.",
            "Samples with the same content, subject or time in more than one split; anything "
            "fitted on the whole set before it was split.",
            "Scan for copies across splits, keep each in one split only, and split by subject.",
        ),
        Category.SHAPE: Advice(
            Layer.MODEL,
            Stage.TRAIN,
            "The first batch, or the last and smaller one, stops with an error about sizes, "
            "classes or types.",
            "The shapes on both sides of the line that failed; number of classes, channels, "
            "vocabulary; the labels of the batch.",
            "Print shape and dtype before that line, and make the last layer fit the data set.",
        ),
        Category.INITIALISATION: Advice(
            Layer.MODEL,
            Stage.BUILD,
            "It stops before the first step: weights, device or process group cannot be set up.",
            "The checkpoint's file and keys, versions of torch and driver, the device that each "
            "part is on.",
            "Load with the code and versions that wrote the checkpoint, and move model and data "
            "to one device.",
        ),
        Category.CUT_OFF: Advice(
            Layer.MODEL,
            Stage.TRAIN,
            "Backward stops with an error, or some parameters never change.",
            "`detach`, `item`, `no_grad`, in-place operations and frozen layers between the loss "
            "and the parameters.",
            "Check after one backward that every parameter to be trained has a gradient.",
        ),
        Category.GRADIENT: Advice(
            Layer.TRAINING,
            Stage.TRAIN,
            "The loss jumps or becomes NaN or infinite, or it stops moving while the gradient "
            "norm goes to zero.",
            "The samples of this step and of the one before, the gradient norm of each layer, "
            "divisions, logarithms and square roots of zero, half precision.",
            "Look at the samples first; then clip the gradient norm, lower the learning rate, "
            "and go back to the last good checkpoint.",
        ),
        Category.MEMORY: Advice(
            Layer.TRAINING,
            Stage.TRAIN,
            "It stops with an allocation that failed, or is killed without a traceback.",
            "Batch size, the largest sample of the batch, tensors that are kept from step to "
            "step, worker processes, shared memory.",
            "Make the batch smaller and accumulate gradients, limit the size of samples, keep "
            "numbers instead of tensors, and use fewer workers.",
        ),
        Category.RATE: Advice(
            Layer.TRAINING,
            Stage.TRAIN,
            "The loss swings or diverges from the first steps on, or does not fall at all.",
            "The learning rate at this step, warm-up, the scheduler's number of steps, the "
            "optimizer's parameter groups.",
            "Try a tenth and ten times of it on a few hundred steps, and count the scheduler's "
            "steps again.",
        ),
        Category.CONVERSION: Advice(
            Layer.DEPLOYMENT,
            Stage.DEPLOY,
            "Export or compilation stops at an operator or at Python that it cannot express.",
            "The operator or line that is named, the opset or target version, branches that "
            "depend on data.",
            "Raise the opset, replace the operator, or take that part out of the exported graph.",
        ),
        Category.PRECISION: Advice(
            Layer.DEPLOYMENT,
            Stage.DEPLOY,
            "The converted model runs and its outputs differ from the original's.",
            "The first layer whose output differs, values outside the range of half precision, "
            "preprocessing on both sides, evaluation mode.",
            "Compare layer by layer on the same inputs, keep the sensitive layers in full "
            "precision, and calibrate on a release.",
        ),
    }
)

_WORKER = re.compile(r"Caught \w+ in (?:DataLoader worker process|pin memory thread)")
_LOADER = re.compile(r"torch[/\\]utils[/\\]data[/\\]_utils[/\\]")
_INNER = re.compile(r"^(?:[\w.]+(?:Error|Exception|Interrupt|Exit)\b).*", re.MULTILINE)
_IN_WORKERS = {Category.LOADING, Category.MEMORY, Category.DRIFT}
_STAGES: tuple[tuple[re.Pattern[str], Stage], ...] = (
    (re.compile(r"torch[/\\](?:onnx|export)\b|onnxruntime|tensorrt|coremltools"), Stage.DEPLOY),
    (
        re.compile(r", in (?:validation_|test_|predict_)\w+|, in evaluat\w+|evaluation_loop"),
        Stage.EVALUATE,
    ),
)


def classify(kind: str, exception_type: str, message: str, traceback: str) -> Verdict | None:
    """Place a failure.

    Args:
        kind: one of ``FailureKind``.
        exception_type: its type's name, with or without its module.
        message: the exception's text.
        traceback: as Python formats it.

    Returns:
        The verdict, or nothing where no sign is known.
    """
    sign = _sign(exception_type, message, traceback)
    category = sign.category if sign else DEFAULT_OF_KIND.get(kind)
    if category is None:
        return None
    advice = CATEGORIES[category]
    return Verdict(
        advice.layer,
        category,
        (sign and sign.symptom) or advice.symptom,
        (sign and sign.look) or advice.look,
        (sign and sign.do) or advice.do,
        _stage(advice.stage, traceback),
    )


def kind_of(exception_type: str, message: str, traceback: str) -> FailureKind:
    """Return the kind of failure that an exception is a case of."""
    if _in_loader(message, traceback):
        return FailureKind.LOADER_ERROR
    sign = _sign(exception_type, message, traceback)
    return sign.kind if sign else FailureKind.OTHER


def _in_loader(message: str, traceback: str) -> bool:
    return bool(_WORKER.match(message) or _LOADER.search(traceback))


def _sign(exception_type: str, message: str, traceback: str) -> Sign | None:
    """Return the first sign in the error's text; what a loader raises is not the model's fault."""
    inner = _INNER.findall(message) if _WORKER.match(message) else []
    text = inner[-1] if inner else f"{exception_type}: {message}"[:_MOST]
    if not _in_loader(message, traceback):
        return next((sign for sign in SIGNS if sign.pattern.search(text)), None)
    own = (sign for sign in SIGNS if sign.category in _IN_WORKERS)
    return next((sign for sign in own if sign.pattern.search(text)), None)


_MOST = 12_000


def _stage(usual: Stage, traceback: str) -> Stage:
    return next((stage for found, stage in _STAGES if found.search(traceback)), usual)
