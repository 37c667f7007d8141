"""A logger for Lightning: ``Trainer(logger=SickbayLogger("resnet", dataset="cells"))``.

Unlike most loggers it logs on every rank: what differs between ranks is worth seeing.
"""

import sys
from collections.abc import Mapping
from typing import Any

import sickbay.trainer as kit
from sickbay.trainer.run import Run, leave

try:
    from lightning.pytorch.loggers import Logger
except ImportError:  # the older name of the same package
    from pytorch_lightning.loggers import Logger


class SickbayLogger(Logger):
    """Begins a run (arguments as for ``init``), or goes on with the current one."""

    def __init__(self, name: str | None = None, **arguments: Any) -> None:
        super().__init__()
        current = kit.run()
        self._run = current if current.begun and name is None else kit.init(name, **arguments)

    @property
    def name(self) -> str | None:
        """The run's name."""
        return self._run.name

    @property
    def version(self) -> int | None:
        """The attempt's number, once the server has answered."""
        return self._run.attempt

    @property
    def experiment(self) -> Run:
        """The run itself, for alerts and failures."""
        return self._run

    def log_hyperparams(self, params: Any, *_: Any, **__: Any) -> None:
        """Complete the run's configuration."""
        self._run.config(params)

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Note points."""
        self._run.log(metrics, step)

    def save(self) -> None:
        """Do nothing: Lightning calls it at every step, and points are written by themselves."""

    def finalize(self, status: str) -> None:
        """Leave the run where the training failed; else only hand over, for a test may follow."""
        if status == "success":
            self._run.flush()
            return
        if error := sys.exc_info()[1]:
            leave(self._run, error)
        self._run.finish(failed=status == "failed", stopped=status != "failed")
