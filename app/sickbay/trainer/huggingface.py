"""A callback for Transformers' ``Trainer``.

    data, callback = Traced(texts), SickbayCallback("bert")
    Trainer(…, train_dataset=data, data_collator=callback.collate(data, collator),
            callbacks=[callback])

A ``TrainerCallback`` sees no batch. So the collator puts the paths into the batch, as text under a
key of ours, and a hook takes them out where the model is called, on whatever device that is.

The trainer's logs are averages over all ranks, so that its first process alone tells them. It
replaces a NaN by an average unless it is told not to, which hides exactly what one must see.
"""

import json
from collections.abc import Mapping, MutableMapping
from numbers import Real
from typing import Any

from transformers import TrainerCallback

import sickbay.trainer as kit
from sickbay.trainer import complaints
from sickbay.trainer.complaints import harmless
from sickbay.trainer.inputs import BatchChecks
from sickbay.trainer.traced.arrivals import Carried, Facts, remember, samples_of

KEY = "sickbay_paths"
"""Where a batch of the Trainer carries the paths of its samples, as text."""

_FILTER = (
    "logging_nan_inf_filter is on: the Trainer hides NaN and infinite losses behind an average. "
    "Set TrainingArguments(logging_nan_inf_filter=False) to see them."
)


class SickbayCallback(TrainerCallback):
    """Begins a run with the training (arguments as for ``init``), or goes on with the current.

    Args:
        name: the run's name.
        checks: looks at each batch that goes into the model, where it is given.
        **arguments: as for ``init``.
    """

    def __init__(
        self, name: str | None = None, *, checks: BatchChecks | None = None, **arguments: Any
    ) -> None:
        super().__init__()
        self._name = name
        self._checks = checks
        self._arguments = arguments
        self._run = kit.run()
        self._collators: list[NamingCollator] = []
        self._step = 0
        self._paths: list[str] = []
        self._several = False

    def collate(self, data: Any, collator: Any = None) -> "NamingCollator":
        """Return the ``data_collator`` of a ``Traced`` data set: the job's own one, under watch."""
        made = NamingCollator(data.collate(collator))
        self._collators.append(made)
        return made

    def on_train_begin(self, args: Any, state: Any, *_: Any, model: Any = None, **__: Any) -> None:
        """Begin the run, with the training's arguments as its configuration."""
        if getattr(args, "logging_nan_inf_filter", False):
            complaints.once("nan filter", _FILTER)
        self._several = getattr(args, "gradient_accumulation_steps", 1) != 1
        self._follow(model)
        if not state.is_world_process_zero or self._run.begun:
            return
        name = self._name or getattr(args, "run_name", None)
        self._run = kit.init(name, **{"config": _config(args), **self._arguments})

    @harmless(None)
    def _follow(self, model: Any) -> None:
        """Take the paths out of what the model is called with; only then they are put in."""
        if model is None or not self._collators or getattr(model, "of_sickbay", False):
            return
        model.register_forward_pre_hook(self._called, with_kwargs=True, prepend=True)
        model.of_sickbay = True
        for collator in self._collators:
            collator.naming = True

    def _called(self, model: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        named = kwargs.pop(KEY, None)
        if named is not None and model.training:
            self._seen(kwargs, json.loads(named))
        return args, kwargs

    @harmless(None)
    def _seen(self, batch: Mapping[str, Any], paths: list[str]) -> None:
        remember(batch, Facts(tuple(paths)))
        self._paths += paths
        if not self._several:
            self._run.seen(self._step, paths)
        if self._checks is not None:
            self._checks.look(batch, self._step, paths)

    def on_step_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        """Note which step the next batches belong to: the one that the trainer will log."""
        self._step = state.global_step + 1
        self._paths = []

    def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
        """Note the samples of a step of several batches."""
        if self._several and self._paths:
            self._run.seen(self._step, self._paths)

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


class NamingCollator:
    """A collator that puts the paths of a batch's samples into the batch."""

    def __init__(self, collate: Any) -> None:
        self._collate = collate
        self.naming = False

    def __call__(self, features: list[Any]) -> Any:
        """Put a batch together."""
        made = self._collate(features)
        carried = isinstance(made, Carried)
        batch = made.batch if carried else made
        paths = list(made.facts.paths) if carried else samples_of(batch)
        if self.naming and paths and isinstance(batch, MutableMapping):
            batch[KEY] = json.dumps(paths)
        return made


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) or hasattr(value, "detach")


def _config(args: Any) -> Any:
    return args.to_dict() if hasattr(args, "to_dict") else args
