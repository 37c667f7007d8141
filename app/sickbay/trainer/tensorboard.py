"""A writer in the shape of TensorBoard's ``SummaryWriter``, for scripts that have one already.

from sickbay.trainer.tensorboard import SummaryWriter
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sickbay.trainer as kit
from sickbay.trainer import complaints
from sickbay.trainer.complaints import harmless
from sickbay.trainer.run import leave


class SummaryWriter:
    """Writes into the current run, or begins one named after ``log_dir``.

    Scalars go into the run's curves; what else a ``SummaryWriter`` can add (pictures, histograms,
    graphs …) is accepted and left out, which is said once for each kind.
    """

    def __init__(
        self, log_dir: str | os.PathLike[str] | None = None, comment: str = "", **_: Any
    ) -> None:
        self.log_dir = os.fspath(log_dir) if log_dir else comment
        current = kit.run()
        self._own = not current.begun
        self._run = kit.init(Path(self.log_dir).name or None) if self._own else current

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        **_: Any,
    ) -> None:
        """Add one point; see ``Run.log``."""
        self._run.log({tag: scalar_value}, global_step, time=walltime)

    @harmless(None)
    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Add one point to each of several curves, named ``main_tag/tag``."""
        values = {f"{main_tag}/{tag}": value for tag, value in tag_scalar_dict.items()}
        self._run.log(values, global_step, time=walltime)

    def add_hparams(self, hparam_dict: Any, metric_dict: Mapping[str, Any], **_: Any) -> None:
        """Complete the run's configuration, and add the metrics as points."""
        self._run.config(hparam_dict)
        self._run.log(metric_dict)

    def flush(self) -> None:
        """Hand over what waits."""
        self._run.flush()

    def close(self) -> None:
        """Leave the run, where this writer began it."""
        if self._own:
            self._run.finish()
        else:
            self._run.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._own:
            leave(self._run, error)
        else:
            self._run.flush()

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Accept what else a writer can add."""
        if not name.startswith("add_"):
            raise AttributeError(name)

        def left_out(*_: Any, **__: Any) -> None:
            complaints.once(name, "%s is left out: Sickbay keeps numbers only.", name)

        return left_out
