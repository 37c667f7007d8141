"""A logger and a callback for Lightning.

    Trainer(logger=SickbayLogger("resnet", dataset="cells"), callbacks=[SickbayCallback()])

Unlike most loggers it logs on every rank: what differs between ranks is worth seeing. The callback
tells which samples each step used, checks each batch where it is told to, and records exceptions.
"""

import functools
import sys
from collections.abc import Mapping
from typing import Any

import sickbay.trainer as kit
from sickbay.trainer.complaints import harmless
from sickbay.trainer.inputs import BatchChecks
from sickbay.trainer.run import Run, leave
from sickbay.trainer.traced import witness
from sickbay.trainer.traced.arrivals import moved, samples_of

try:
    from lightning.pytorch.callbacks import Callback
    from lightning.pytorch.loggers import Logger
except ImportError:  # the older name of the same package
    from pytorch_lightning.callbacks import Callback
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


class SickbayCallback(Callback):
    """Tells the current run which samples each step used; of a ``Traced`` data set.

    Args:
        checks: looks at each batch, where it is given.
    """

    def __init__(self, checks: BatchChecks | None = None) -> None:
        super().__init__()
        self._checks = checks
        self._paths: list[str] = []
        self._step = -1

    @harmless(None)
    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002 (Lightning's)
        """Follow batches on their way to the device, where they consist of new tensors."""
        transfer = pl_module.transfer_batch_to_device
        if getattr(transfer, "of_sickbay", False):
            return

        @functools.wraps(transfer)
        def followed(batch: Any, *args: Any, **kwargs: Any) -> Any:
            return moved(batch, transfer(batch, *args, **kwargs))

        followed.of_sickbay = True  # type: ignore[attr-defined]
        pl_module.transfer_batch_to_device = followed

    @harmless(None)
    def on_train_epoch_start(self, trainer: Any, *_: Any) -> None:
        """Say the epoch to the data set."""
        dataset: Any = getattr(trainer.train_dataloader, "dataset", None)
        if hasattr(dataset, "set_epoch"):
            dataset.set_epoch(trainer.current_epoch)

    @harmless(None)
    def on_train_batch_start(self, trainer: Any, _: Any, batch: Any, *__: Any) -> None:
        """Note the samples of this step, and look at its tensors."""
        paths = samples_of(batch)
        step = trainer.global_step
        self._paths = [*self._paths, *paths] if step == self._step else paths
        self._step = step
        if trainer.accumulate_grad_batches == 1:
            self._tell()
        if self._checks is not None:
            self._checks.look(batch, step, paths)

    @harmless(None)
    def on_before_optimizer_step(self, trainer: Any, *_: Any) -> None:
        """Note the samples of a step of several batches."""
        if trainer.accumulate_grad_batches != 1:
            self._tell()

    @harmless(None)
    def on_train_epoch_end(self, *_: Any) -> None:
        """Read what the checks left on the device."""
        if self._checks is not None:
            self._checks.finish()

    def _tell(self) -> None:
        if self._paths:
            kit.run().seen(self._step, self._paths)

    @harmless(None)
    def on_exception(self, trainer: Any, _: Any, exception: BaseException) -> None:
        """Tell of an exception, with the samples of the batch where it is not the loader's own."""
        if isinstance(exception, Exception):
            named: dict[str, Any] = {} if witness.of_loader(exception) else {"samples": self._paths}
            kit.run().failure(exception=exception, step=trainer.global_step, **named)
