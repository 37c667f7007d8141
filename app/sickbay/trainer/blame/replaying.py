"""Repeating an anomaly another day: from its evidence, a checkpoint, and the job's own model."""

import importlib
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sickbay.contract.blame import Verdict
from sickbay.contract.errors import BadInput, Refused
from sickbay.contract.event import MAX_DETAIL, Event
from sickbay.contract.opening import Opened
from sickbay.contract.report import Report
from sickbay.trainer.blame import telling
from sickbay.trainer.blame.bench import Bench, Budget
from sickbay.trainer.blame.blaming import Blame, inquire
from sickbay.trainer.blame.evidence import Evidence
from sickbay.trainer.blame.losses import Losses
from sickbay.trainer.blame.moments import Moment
from sickbay.trainer.checkpoints.content import plain_model
from sickbay.trainer.checkpoints.files import in_a_line, read
from sickbay.trainer.failing import samples
from sickbay.trainer.job import whole_job
from sickbay.trainer.line import Delivered, Line
from sickbay.trainer.plain import plain

_LATE = 1 << 62
"""Events that are no part of the job's own sequence have a ``seq`` from here on."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a factory made: a model, and how the loss is taken."""

    model: Any
    losses: Losses


def job(factory: Callable[[], Any]) -> Job:
    """Make a job's model anew.

    Args:
        factory: returns ``(model, criterion)``, a model whose output has the ``loss``, a
            ``Blame``, or a whole job as for triage.

    Raises:
        BadInput: it raises, or returns something else.
    """
    try:
        made = factory()
    except Exception as error:
        raise BadInput(f"The factory raised {type(error).__name__}: {in_a_line(error)}") from error
    if isinstance(made, Blame):
        return Job(made.model, made.losses)
    if (whole := whole_job(made)) is not None:
        return Job(plain_model(whole.model), Losses(whole.criterion, whole.step))
    model, criterion = made if isinstance(made, tuple) and len(made) == 2 else (made, None)  # noqa: PLR2004 (a pair)
    if not hasattr(model, "load_state_dict"):
        raise BadInput("The factory returns no model, no (model, criterion) and no Blame.")
    return Job(plain_model(model), Losses(criterion))


def named(spec: str) -> Callable[[], Any]:
    """Return the factory that ``module:name`` names, as from the folder one is in.

    Raises:
        BadInput: there is none.
    """
    module, _, name = spec.partition(":")
    if not module or not name:
        raise BadInput(f"A factory is written as module:name, and not {spec}.")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise BadInput(
            f"{spec} cannot be imported: {type(error).__name__}: {in_a_line(error)}"
        ) from error
    if not callable(found):
        raise BadInput(f"{spec} is no function.")
    made: Callable[[], Any] = found
    return made


def replay(
    evidence: Evidence, factory: Callable[[], Any], *, checkpoint: Path | None, budget: float
) -> Verdict | None:
    """Repeat a bad step in its own state and in a fresh one.

    Args:
        evidence: what was kept.
        factory: makes the job's model anew; see ``job``.
        checkpoint: where the weights are, if not where the evidence says.
        budget: seconds it may take.

    Returns:
        The verdict; nothing where the time was not enough to repeat the step even once.

    Raises:
        BadInput, NotFound: factory or checkpoint do not fit.
    """
    made = job(factory)
    where = checkpoint or (Path(evidence.checkpoint) if evidence.checkpoint else None)
    if where is None:
        raise BadInput("The evidence names no checkpoint; say which with --checkpoint FILE.")
    _load(made.model, where)
    _set_modes(made.model, evidence)
    spent = Budget(budget)
    bench = Bench(made.model, made.losses, spent, by_gradient=evidence.by_gradient)
    on_device = _on_device(evidence, made.model)

    def fresh() -> str:
        bench.take(job(factory).model)
        return "as the factory makes it"

    judged = inquire(on_device, bench, fresh)
    if judged.outcome is None:
        return None
    blamed = samples(telling.samples(evidence, judged), evidence.root or None)
    told = {"replay": True, **telling.detail(evidence, judged, spent)}
    return Verdict(evidence.ref, judged.outcome, blamed, spent.forwards, plain(told, MAX_DETAIL))


def send(line: Line, opened: Opened, rank: int, told: Verdict | Report) -> None:
    """Add a verdict or a report to a run, after the fact.

    Raises:
        Refused: the server does not take it.
        SickbayError: as for ``Line``.
    """
    event = Event(_LATE + secrets.randbits(56), rank, time.time(), told)
    delivered = Delivered()
    line.deliver(opened, [event.to_line().rstrip()], delivered)
    if delivered.rejected:
        raise Refused(f"The server did not take it: {delivered.reason}")


def _load(model: Any, path: Path) -> None:
    state = read(path)["state"]
    try:
        model.load_state_dict(state["model"])
    except (RuntimeError, KeyError) as error:
        raise BadInput(
            f"{path} is of another model than the factory's: {in_a_line(error)}"
        ) from None


def _set_modes(model: Any, evidence: Evidence) -> None:
    modules = list(model.modules())
    model.train()
    if len(modules) == len(evidence.modes):
        for one, training in zip(modules, evidence.modes, strict=True):
            one.training = training


def _on_device(evidence: Evidence, model: Any) -> Evidence:
    first = next(iter(model.parameters()), None)
    if first is None:
        return evidence

    def moved(moment: Moment) -> Moment:
        return replace(moment, call=moment.call.to(first.device))

    before = None if evidence.before is None else moved(evidence.before)
    return replace(evidence, now=moved(evidence.now), before=before)
