"""Stage nine: float32 against mixed precision."""

from typing import Any

from sickbay.contract.sign import Category
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.trail import Trail, followed
from sickbay.trainer.triage.trouble import Trouble, said_by

TOLERANCE = 0.1
"""Share by which the loss may differ. bfloat16 keeps 8 bits, an error of 0.4 % in each layer;
a few dozen layers that err at random stay below a tenth of this, and below it all the time."""
_LEAST = 0.05
"""Below this, losses are compared as they are: a small one is a difference of larger numbers."""
_FAR = 0.1
"""Share of a module's output by which its own lower precision is told."""


def precision(bench: Bench) -> str:
    """Take the loss under autocast, in evaluation mode, so that nothing random differs."""
    dtype = _dtype(bench)
    name = str(dtype).removeprefix("torch.")
    mode = _mode(bench)
    try:
        full, trail = _value(bench, None, training=mode)
        low, other = _value(bench, dtype, training=mode)
    except Exception as error:
        if bench.job.precision is None:
            return f"Note: under autocast it raises {type(error).__name__}: {said_by(error)}"
        raise _raised(error, name) from error
    finally:
        bench.reset()
    if low == low and abs(low) != float("inf"):  # noqa: PLR0124 (NaN is not itself)
        if mode or abs(low - full) <= TOLERANCE * max(abs(full), _LEAST):
            half = _in_half(bench, dtype, training=mode)
            return f"Loss {full:.5g} in float32, {low:.5g} in {name}.{_first(trail, other)}{half}"
    elif not (full == full and abs(full) != float("inf")):  # noqa: PLR0124 (as above)
        return f"Note: in evaluation mode the loss is {full} in float32 too."
    raise _lost(full, low, name, _first(trail, other))


def _in_half(bench: Bench, dtype: Any, *, training: bool) -> str:
    """Say where float16 would overflow though the type that is used does not."""
    half = torch().float16
    if dtype == half:
        return ""
    try:
        low, trail = _value(bench, half, training=training)
    except Exception:  # noqa: BLE001 (not every operation is there in float16, and it is not asked for)
        return ""
    finally:
        bench.reset()
    if low == low and abs(low) != float("inf"):  # noqa: PLR0124 (NaN is not itself)
        return ""
    return f" Note: in float16 it overflows, first in {trail.odd or 'the loss'}."


def _dtype(bench: Bench) -> Any:
    if bench.job.precision is not None:
        return getattr(torch(), bench.job.precision)
    if bench.device.type == "cuda" and not torch().cuda.is_bf16_supported():
        return torch().float16
    return torch().bfloat16


def _mode(bench: Bench) -> bool:
    """Return whether training mode has to do: some models return no loss in evaluation."""
    bench.model.eval()
    try:
        return not torch().isfinite(torch().tensor(bench.value())).item()
    except Exception:  # noqa: BLE001 (whatever the model does then)
        return True
    finally:
        bench.reset()


def _value(bench: Bench, dtype: Any, *, training: bool) -> tuple[float, Trail]:
    bench.reset()
    bench.model.train(training)
    with (
        followed(bench.model, keep=True) as trail,
        torch().no_grad(),
        torch().autocast(bench.device.type, dtype=dtype, enabled=dtype is not None),
    ):
        return float(bench.loss()), trail


def _first(full: Trail, low: Trail) -> str:
    """Return the first module whose output differs, and by how much."""
    if low.odd is not None and full.odd is None:
        return f" {low.odd} is the first that overflows."
    for name, output in full.outputs.items():
        other = low.outputs.get(name)
        if other is None or other.shape != output.shape:
            continue
        share = float(
            (other.float() - output.float()).norm() / output.float().norm().clamp(min=1e-9)
        )
        if share > _FAR:
            return f" {name} is the first whose output differs by more, {share:.0%}."
    return ""


def _lost(full: float, low: float, name: str, where: str) -> Trouble:
    return Trouble(
        f"The loss is {full:.5g} in float32 and {low:.5g} in {name}; {TOLERANCE:.0%} is allowed."
        f"{where}",
        Category.PRECISION,
        "Training in float32 is fine. For mixed precision keep the part that is named in float32 "
        "(torch.autocast(enabled=False) around it), subtract large constants first, and with "
        "float16 use a GradScaler.",
    )


def _raised(error: Exception, name: str) -> Trouble:
    return Trouble(
        f"Under autocast with {name} it raises {type(error).__name__}: {said_by(error)}",
        Category.PRECISION,
        "Training in float32 is fine. Keep that operation in float32, or use its form for raw "
        "scores.",
    )
