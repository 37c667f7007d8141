"""A callback for Transformers' ``Trainer``: ``Trainer(…, callbacks=[SickbayCallback("bert")])``.

The trainer's logs are averages over all ranks, so that its first process alone tells them. It
replaces a NaN by an average unless it is told not to, which hides exactly what one must see.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

from transformers import TrainerCallback

import sickbay.trainer as kit
from sickbay.trainer import complaints

_FILTER = (
    "logging_nan_inf_filter is on: the Trainer hides NaN and infinite losses behind an average. "
    "Set TrainingArguments(logging_nan_inf_filter=False) to see them."
)


class SickbayCallback(TrainerCallback):
    """Begins a run with the training (arguments as for ``init``), or goes on with the current."""

    def __init__(self, name: str | None = None, **arguments: Any) -> None:
        super().__init__()
        self._name = name
        self._arguments = arguments
        self._run = kit.run()

    def on_train_begin(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        """Begin the run, with the training's arguments as its configuration."""
        if getattr(args, "logging_nan_inf_filter", False):
            complaints.once("nan filter", _FILTER)
        if not state.is_world_process_zero or self._run.begun:
            return
        name = self._name or getattr(args, "run_name", None)
        self._run = kit.init(name, **{"config": _config(args), **self._arguments})

    def on_log(
        self, _: Any, state: Any, *__: Any, logs: Mapping[str, Any] | None = None, **___: Any
    ) -> None:
        """Note the numbers among what the trainer logs."""
        if state.is_world_process_zero:
            numbers = {key: value for key, value in (logs or {}).items() if _is_number(value)}
            self._run.log(numbers, state.global_step)

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Hand over what waits; the run stays open, for an evaluation may follow."""
        self._run.flush()


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) or hasattr(value, "detach")


def _config(args: Any) -> Any:
    return args.to_dict() if hasattr(args, "to_dict") else args
