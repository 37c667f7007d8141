"""Stage ten: ``torch.export``."""

import contextlib
import io
import logging
import re
import warnings
from typing import Any

from sickbay.contract.sign import Category
from sickbay.trainer.blame.batches import leaves
from sickbay.trainer.triage.bench import Bench, torch
from sickbay.trainer.triage.calls import cloned
from sickbay.trainer.triage.trouble import Trouble, said_by

_RTOL, _ATOL = 1e-2, 1e-4
"""Between an exported float32 graph and its model: operators may be fused and ordered anew."""
_LINE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\w+)\n\s*(?P<code>.+)')
_ADVICE = (
    "Training itself is fine. Replace what depends on the values of the data (`if x.sum() > 0`, "
    "item(), loops over a tensor) by torch.where or torch.cond, or take that part out of the "
    "exported module. export=False in the job leaves this stage out."
)


def export(bench: Bench) -> str:
    """Export the model in evaluation mode, and compare what the graph returns."""
    bench.reset()
    bench.model.eval()
    bench.alive()
    module, call = _plain(bench), bench.call
    try:
        with _quiet(), torch().no_grad():
            wanted = list(leaves(module(*cloned(call).args, **cloned(call).kwargs)))
            made = torch().export.export(module, call.args, dict(call.kwargs), strict=False)
            found = list(leaves(made.module()(*cloned(call).args, **cloned(call).kwargs)))
    except Exception as error:
        raise _failed(error) from error
    finally:
        bench.reset()
    _compare(wanted, found)
    return f"{len(made.graph.nodes)} nodes; the graph returns what the model does."


def _plain(bench: Bench) -> Any:
    """Return the model with an output of tensors only: of other classes a graph knows nothing."""
    module: Any = torch().nn.Module

    class Tensors(module):  # type: ignore[misc] # torch is no import of the kit's
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return tuple(leaves(self.model(*args, **kwargs)))

    with torch().no_grad():
        output = bench.forward().output
    return bench.model if isinstance(output, torch().Tensor) else Tensors(bench.model)


@contextlib.contextmanager
def _quiet() -> Any:
    """Keep what torch prints of a failed export to itself: its error says it all."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch")]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _failed(error: Exception) -> Trouble:
    text = str(error)
    found = [one for one in _LINE.finditer(text) if "/torch/" not in one["file"]]
    where = f" at line {found[-1]['line']}: {found[-1]['code'].strip()}" if found else ""
    words = said_by(error).partition(" Caused by:")[0].partition(" For more information")[0]
    return Trouble(
        f"torch.export raises {type(error).__name__}{where}. {words}",
        Category.CONVERSION,
        _ADVICE,
    )


def _compare(wanted: list[Any], found: list[Any]) -> None:
    for one, other in zip(wanted, found, strict=False):
        if one.is_floating_point() and not torch().allclose(
            one, other, rtol=_RTOL, atol=_ATOL, equal_nan=True
        ):
            far = float((one - other).abs().max())
            raise Trouble(
                f"The exported graph returns other values than the model, {far:.3g} apart.",
                Category.PRECISION,
                "Training itself is fine. Look for Python values that are frozen into the graph "
                "(counters, random numbers, the batch's size).",
            )
