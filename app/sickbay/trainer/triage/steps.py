"""Stage eight: a few steps on one batch, and what is to blame where the loss does not fall."""

import time
from typing import Any

from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.course import GOOD_RATE, Course, classes, good_loss, rates, train
from sickbay.trainer.triage.trouble import Trouble, of_error, some

_LONGER = 3
_SLOWER = (0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-8)
_FASTER = (10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e8)
_SLOW = 1e-4
"""Share of what AdamW at its default does in as many steps that is slow, and no standstill."""
_EARNEST = 0.1
"""Share of the same that shows a rate of use."""
_SECONDS, _FEWEST = 60.0, 5
"""Time for one training of some steps, and the steps it has at least: a large model on a CPU."""
_PAIRS = 4
_SHAKE = 1e-2
_WORSE, _WORSE_BELOW_ZERO = 1.5, 1.1
"""Times that the error of the answers grows while the loss falls, which is no noise: of a loss
above zero, and of one below, where less is a proof."""
_LEAST_WORSE = 0.1


def steps(bench: Bench, count: int) -> str:
    """Train some steps on one batch."""
    try:
        count = _in_time(bench, count)
        course = train(bench, count)
    except Exception as error:
        raise of_error(error, "A step of the training", Layer.TRAINING) from error
    if not course.fell and not course.leapt and course.moved:
        count *= _LONGER
        course = train(bench, count)
    note = ""
    if not course.fell or course.leapt:
        note = _blame(bench, count, course)
    else:
        _right_way(bench, count, course)
    words = f"The loss of one batch went from {course.words} in {count} steps."
    still = _unmoved(bench, course)
    bench.reset()
    return words + note + still + _warmed(bench)


def _in_time(bench: Bench, count: int) -> int:
    """Return how many steps there is time for."""
    began = time.monotonic()
    train(bench, 1)
    return max(min(count, _FEWEST), min(count, int(_SECONDS / (time.monotonic() - began + 1e-9))))


def _unmoved(bench: Bench, course: Course) -> str:
    trainable = [name for name, one in bench.model.named_parameters() if one.requires_grad]
    moved = set(course.moved)
    still = [name for name in trainable if name not in moved]
    return f" Note: unchanged: {some(still)}." if still else ""


def _warmed(bench: Bench) -> str:
    if bench.optimizer is None:
        return " There is no optimizer; AdamW was put in."
    now = [float(group["lr"]) for group in bench.optimizer.param_groups]
    used = rates(bench)
    return "" if now == used else f" The rate warms up; {used[0]:.3g} was used."


def _blame(bench: Bench, count: int, course: Course) -> str:
    """Say what keeps the loss from falling, or why it is none.

    Raises:
        Trouble: whatever it is.
    """
    if bench.optimizer is not None:
        if not course.moved:
            _still(bench, count)
        _too_fast(bench, count, course)
    if course.fell:
        return ""
    good = train(bench, count, good=True)
    if course.finite and course.fall > _SLOW * good.fall > 0:
        return f" Note: that is slow; with AdamW at {GOOD_RATE:g} it goes to {good.after:.6g}."
    if good.fell:
        _optimizer(bench, count, course, good)
    if _at_rest(bench):
        return " Note: this batch is learned already."
    own = train(bench, count, good=True, loss=good_loss(bench))
    if own.fell:
        raise Trouble(
            f"The loss of one batch does not fall ({course.words}), with AdamW neither; with a "
            f"known good loss it does ({own.words}): the job's loss is to blame.",
            Category.GRADIENT,
            "Look at the loss: its sign, what it compares, and whether its gradient leads to a "
            "better output.",
            Layer.TRAINING,
        )
    raise Trouble(
        f"The loss of one batch does not fall in {count} steps ({course.words}), with a known "
        "good loss and AdamW neither: the model is to blame.",
        Category.GRADIENT,
        "Look at saturated or dead activations, the initialisation, and what lies between the "
        "trainable layers and the output.",
        Layer.MODEL,
    )


def _still(bench: Bench, count: int) -> None:
    """Nothing moved at all."""
    used = rates(bench)
    if max(used) == 0:
        raise Trouble(
            f"No parameter changed in {count} steps: the learning rate is 0.",
            Category.RATE,
            "Set the optimizer's lr, and look at what the scheduler makes of it.",
        )
    raise Trouble(
        f"No parameter changed in {count} steps at a learning rate of {max(used):.3g}.",
        Category.RATE,
        f"The rate is too small for the parameters' precision, or the optimizer does nothing: try "
        f"AdamW at {GOOD_RATE:g}.",
    )


def _too_fast(bench: Bench, count: int, course: Course) -> None:
    """Try smaller rates where the loss rose."""
    if course.finite and not course.leapt and course.after <= course.before:
        return
    used = max(rates(bench))
    for scale in _SLOWER:
        slower = train(bench, count, scale=scale)
        if slower.fell and not slower.leapt:
            went = course.words if course.finite else f"{course.before:.4g} to no number"
            raise Trouble(
                f"The loss of one batch diverges at a learning rate of {used:.3g} ({went}, at most "
                f"{course.highest:.4g}); at {used * scale:.3g} it falls ({slower.words}).",
                Category.RATE,
                f"Try a learning rate of {used * scale:.3g}, warm it up, and clip the gradient "
                "norm.",
            )
    if any(group.get("maximize") for group in bench.optimizer.param_groups):
        raise Trouble(
            f"The loss rises at every learning rate ({course.words}): the optimizer maximizes.",
            Category.RATE,
            "Make the optimizer with maximize=False.",
        )


def _optimizer(bench: Bench, count: int, course: Course, good: Course) -> None:
    """AdamW lowers the loss: it is the job's optimizer, or its rate."""
    used = max(rates(bench)) if bench.optimizer is not None else 0.0
    better = _faster(bench, count, used, good) if used else None
    if better is not None:
        rate, faster = better
        raise Trouble(
            f"The loss of one batch does not fall in {count} steps at a learning rate of "
            f"{used:.3g} ({course.words}); at {rate:.3g} it does ({faster.words}).",
            Category.RATE,
            f"Raise the learning rate to about {rate:.3g}, and look at what the scheduler makes of "
            "it.",
        )
    raise Trouble(
        f"The loss of one batch does not fall ({course.words}); with AdamW at {GOOD_RATE:g} it "
        f"does ({good.words}): the optimizer is to blame.",
        Category.RATE,
        f"Use AdamW at {GOOD_RATE:g}, and go on from there; look at weight decay and the order of "
        "zero_grad, backward and step.",
    )


def _faster(bench: Bench, count: int, used: float, good: Course) -> tuple[float, Course] | None:
    """Return a larger rate at which the loss falls: the first that does so in earnest."""
    found = None
    for scale in _FASTER:
        faster = train(bench, count, scale=scale)
        if not faster.fell or faster.leapt:
            continue
        found = (used * scale, faster)
        if faster.fall > _EARNEST * good.fall:
            break
    return found


def _at_rest(bench: Bench) -> bool:
    """Whether all small changes raise the loss, both ways: the batch is learned already."""
    bench.reset()
    before = bench.value()
    generator = torch().Generator().manual_seed(5)
    for _ in range(_PAIRS):
        noise = [_noise(one, generator) for one in bench.model.parameters()]
        if any(_shaken(bench, noise, way) <= before for way in (_SHAKE, -_SHAKE)):
            return False
    return True


def _noise(parameter: Any, generator: Any) -> Any:
    width = float(parameter.detach().std(correction=0))
    return torch().randn(parameter.shape, generator=generator).to(parameter) * width


def _shaken(bench: Bench, noise: list[Any], way: float) -> float:
    bench.reset()
    with torch().no_grad():
        for one, change in zip(bench.model.parameters(), noise, strict=True):
            one.add_(change * way)
    return bench.value()


def _right_way(bench: Bench, count: int, course: Course) -> None:
    """See whether the model that was just trained answers better.

    For classes by the cross entropy; for numbers, and where a loss is negative, by the square
    error.
    """
    of_classes = _is_of_classes(bench)
    if not of_classes and not (course.after < 0 and _is_of_numbers(bench)):
        return
    good = good_loss(bench)
    with torch().no_grad():
        after = float(good(bench.forward()))
        bench.reset()
        before = float(good(bench.forward()))
    what = "cross entropy" if of_classes else "square error"
    worse = _WORSE if course.after >= 0 else _WORSE_BELOW_ZERO
    if after > worse * before and after - before > _LEAST_WORSE:
        raise Trouble(
            f"The loss falls, and the answers get worse: the {what} goes from {before:.4g} to "
            f"{after:.4g} in {count} steps.",
            Category.GRADIENT,
            "Look at the sign of the loss and at what it compares with the labels.",
            Layer.TRAINING,
        )


def _is_of_numbers(bench: Bench) -> bool:
    """Whether output and labels are numbers of one shape, and the labels no probabilities."""
    passed = bench.forward()
    both = (passed.output, *passed.targets)
    if len(both) != 2 or not all(hasattr(one, "is_floating_point") for one in both):  # noqa: PLR2004 (a pair)
        return False
    output, labels = both
    same = output.shape == labels.shape and labels.is_floating_point()
    return bool(same and ((labels < 0) | (labels > 1)).any())


def _is_of_classes(bench: Bench) -> bool:
    passed = bench.forward()
    labels: Any = passed.targets[0] if len(passed.targets) == 1 else None
    output: Any = passed.output
    if not (hasattr(labels, "shape") and hasattr(output, "shape")) or labels.is_floating_point():
        return False
    if not classes(output, labels) or int(labels.min()) < 0:
        return False
    return output.shape[1] in (bench.job.num_classes, int(labels.max()) + 1)
