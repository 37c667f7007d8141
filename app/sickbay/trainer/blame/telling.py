"""A verdict in the words of a run: blamed samples by their paths, and how it was found."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sickbay.contract.blame import Outcome, Sample
from sickbay.trainer.blame.bench import Budget
from sickbay.trainer.blame.evidence import Evidence
from sickbay.trainer.blame.inquiry import Judged
from sickbay.trainer.blame.moments import Moment

_MOST_NAMED = 1000
_AGAINST = (Outcome.REPRODUCED_ALONE, Outcome.ONLY_IN_THIS_STATE)


def samples(evidence: Evidence, judged: Judged) -> list[Any]:
    """Return the blamed samples, the most blamed first, with their losses; those with a name."""
    moment = evidence.before if judged.of_before else evidence.now
    if moment is None or judged.outcome not in _AGAINST:
        return []
    pairs = [(_name(moment, row), judged.losses.get(row)) for row in judged.rows[:_MOST_NAMED]]
    return [_with_loss(name, loss) for name, loss in pairs if name is not None]


def detail(evidence: Evidence, judged: Judged, budget: Budget) -> dict[str, Any]:
    """Return how it was found."""
    told = dict(judged.detail)
    if "ranking" in told:
        told["ranking"] = [_ranked(evidence, one) for one in told["ranking"]]
    if judged.rows:
        told["rows"] = judged.rows[:_MOST_NAMED]
        told["batch"] = "the one before" if judged.of_before else "this one"
    told["seconds"] = round(budget.used, 3)
    told["random state"] = "as before the step"
    return told


def _ranked(evidence: Evidence, one: Mapping[str, Any]) -> dict[str, Any]:
    moment = evidence.before if one["batch"] == "before" else evidence.now
    name = None if moment is None else _name(moment, one["row"])
    path = getattr(name, "path", None) or (name.get("path") if isinstance(name, Mapping) else name)
    return {**one, "path": str(path)} if path is not None else dict(one)


def _name(moment: Moment, row: int) -> Any:
    return moment.samples[row] if row < len(moment.samples) else None


def _with_loss(sample: Any, loss: float | None) -> Any:
    if isinstance(sample, Sample):
        return sample if loss is None else replace(sample, loss=loss)
    fields = sample if isinstance(sample, Mapping) else {"path": sample}
    return fields if loss is None else {**fields, "loss": loss}
