"""Blame: what a watch calls at an anomaly, to find out whether samples are the cause."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sickbay.trainer as kit
from sickbay.contract.errors import BadInput
from sickbay.trainer import complaints
from sickbay.trainer.blame.batches import Call
from sickbay.trainer.blame.bench import Bench, Budget, begin_afresh, copied, sharded
from sickbay.trainer.blame.evidence import Evidence, by_gradient, default_folder, save
from sickbay.trainer.blame.inquiry import Case, Inquiry, Judged
from sickbay.trainer.blame.losses import Given, Losses
from sickbay.trainer.blame.moments import Moment, Moments
from sickbay.trainer.blame.telling import detail, samples
from sickbay.trainer.checkpoints.content import plain_model
from sickbay.trainer.checkpoints.files import read
from sickbay.trainer.checkpoints.keeping import Checkpoints
from sickbay.trainer.complaints import harmless
from sickbay.trainer.run import Run
from sickbay.trainer.watch.anomaly import Anomaly

BUDGET = 30.0
"""Seconds that the training waits for one verdict."""
MOST = 20
"""Verdicts of one process; a training that goes wrong all the time is not made slower still."""


class Blame:
    """Repeats the step of an anomaly and says whether its samples are the cause.

        watch.on_anomaly.append(sickbay.Blame(model, criterion, watch=watch))

    Nothing else is needed where the loop calls ``criterion(model(x), y)`` and the criterion is a
    module; else ``keep`` says what a step is made with. A sample is never left out by it: the
    verdict goes to the run, and there a person decides.

    Args:
        model: the model; wrappers such as ``DistributedDataParallel`` are taken off.
        criterion: as the loop calls it; nothing where the model's output has the ``loss`` itself.
        losses: ``losses(model, batch)`` in its place: returns one loss a sample, or one; ``batch``
            is what ``keep`` was given.
        watch: says which step is going on; without it an anomaly is taken for the newest step's.
        checkpoints: where the state before the step is kept, and the last good weights are.
        fresh: returns a model with fresh weights; else this one's are initialised anew.
        run: is told; the current run where it is not said.
        evidence: the folder for the batches of anomalies.
        budget: seconds that one verdict may take.
    """

    def __init__(
        self,
        model: Any,
        criterion: Any = None,
        *,
        losses: Given | None = None,
        watch: Any = None,
        checkpoints: Checkpoints | None = None,
        fresh: Callable[[], Any] | None = None,
        run: Run | None = None,
        evidence: str | os.PathLike[str] | None = None,
        budget: float = BUDGET,
    ) -> None:
        self.model = plain_model(model)
        self.losses = Losses(criterion, losses)
        self.fresh = fresh
        self._watch = watch
        self._checkpoints = checkpoints
        self._run = run
        self._folder = Path(evidence) if evidence is not None else default_folder()
        self._budget = float(budget)
        self._left = MOST
        self._saved = ""
        self._moments = Moments(model, criterion, self._now)

    def keep(self, batch: Any, samples: Sequence[Any] = ()) -> None:
        """Say what the step that begins is made with, before the model is called.

        Args:
            batch: inputs and targets; or whatever ``losses`` takes.
            samples: their paths, in the batch's order.
        """
        if self.losses.criterion is not None and isinstance(batch, list | tuple):
            call = Call((batch[0],), {}, tuple(batch[1:]))
        else:
            call = Call((batch,))
        self._moments.keep(call, samples)

    def evidence(self, anomaly: Anomaly) -> dict[str, Any]:
        """Keep the batch, the random state and a checkpoint; return where, for the failure."""
        if not anomaly.here:
            return {}
        checkpoint = self._checkpoints.at(anomaly) if self._checkpoints else None
        found = self._gathered(anomaly, str(checkpoint or ""))
        told: dict[str, Any] = {"checkpoint": str(checkpoint)} if checkpoint else {}
        if found is None:
            return told
        try:
            path = save(self._folder, found)
        except (OSError, BadInput) as error:
            complaints.once("evidence", "the evidence of an anomaly is not kept: %s", error)
            return told
        self._saved = anomaly.ref
        return {**told, "evidence": str(path)}

    @harmless(None)
    def __call__(self, anomaly: Anomaly) -> None:
        """Find out, and tell the run: what ``watch.on_anomaly`` calls."""
        if not anomaly.here or self._left <= 0:
            return
        if sharded(self.model):
            complaints.once("sharded", "a rank cannot repeat a step of a model in shards alone.")
            return
        if self._saved != anomaly.ref:
            self.evidence(anomaly)
        checkpoint = self._checkpoints.at(anomaly) if self._checkpoints else None
        found = self._gathered(anomaly, str(checkpoint or ""))
        if found is None:
            complaints.once("blame", "nothing is held of a bad step; it gets no verdict.")
            return
        self._left -= 1
        with self._moments.paused():
            self._tell(found)

    def _tell(self, evidence: Evidence) -> None:
        budget = Budget(self._budget)
        judged = self._judged(evidence, budget)
        if "unfinished" in judged.detail:
            complaints.log.warning(
                "the verdict on step %d is not finished: %s",
                evidence.step,
                judged.detail["unfinished"],
            )
        if judged.outcome is not None:
            (self._run or kit.run()).verdict(
                evidence.ref,
                judged.outcome.value,
                samples(evidence, judged),
                forwards=budget.forwards,
                detail=detail(evidence, judged, budget),
            )

    def _judged(self, evidence: Evidence, budget: Budget) -> Judged:
        copy = copied(self.model)
        model = self.model if copy is None else copy
        bench = Bench(model, self.losses, budget, by_gradient=evidence.by_gradient)

        def fresh() -> str:
            return self._refresh(bench, may_change=copy is not None)

        return inquire(evidence, bench, fresh)

    def _refresh(self, bench: Bench, *, may_change: bool) -> str:
        if self.fresh is not None:
            bench.take(plain_model(self.fresh()))
            return "the weights of a new model"
        if not may_change:
            return ""
        begin_afresh(bench.model)
        if bench.sound():
            return "weights initialised anew"
        good = self._checkpoints.newest_good() if self._checkpoints else None
        if good is None:
            return ""
        content = read(good)
        bench.model.load_state_dict(content["state"]["model"])
        return f"the last good weights, before step {content['step']}"

    def _gathered(self, anomaly: Anomaly, checkpoint: str) -> Evidence | None:
        now, before = self._moments.of(anomaly.step, anomaly.samples)
        if now is None or "rising" in str(anomaly.rule.get("name")):  # a trend is no step's
            return None
        run = self._run or kit.run()
        key = (run.url or "").rstrip("/").rpartition("/")[2]
        gradient = by_gradient(anomaly)
        return Evidence(
            ref=anomaly.ref,
            kind=anomaly.kind,
            step=anomaly.step,
            value=anomaly.value,
            baseline=anomaly.baseline,
            by_gradient=gradient,
            now=_named(now, anomaly.samples),
            before=None if before is None else _named(before, anomaly.previous_samples),
            rank=anomaly.rank,
            run=key,
            attempt=run.attempt or 0,
            checkpoint=checkpoint,
            modes=tuple(one.training for one in self.model.modules()),
            rule=dict(anomaly.rule),
            root=run.root or "",
        )

    def _now(self) -> int | None:
        found = getattr(self._watch, "now", None)
        return found if isinstance(found, int) else None


def inquire(evidence: Evidence, bench: Bench, fresh: Callable[[], str]) -> Judged:
    """Repeat what evidence there is."""
    value = evidence.value
    if evidence.kind.value.startswith("non-finite"):
        value = float("nan")  # of an input it is a sum, which says nothing of the loss
    case = Case(value, evidence.baseline, evidence.now, evidence.before)
    return Inquiry(case, bench, fresh).judge()


def _named(moment: Moment, names: Sequence[Any]) -> Moment:
    """Name a step's samples, where the anomaly's names are those of its rows."""
    count = moment.call.count()
    if not moment.samples and len(names) == count:
        moment.samples = tuple(names)
    bad = moment.call.rows_not_finite() if not moment.samples else []
    if names and len(names) == len(bad):
        placed: list[Any] = [None] * count
        for row, name in zip(bad, names, strict=True):
            placed[row] = name
        moment.samples = tuple(placed)
    return moment
