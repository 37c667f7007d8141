"""Anomalies, told to the run, to those who asked to be called, and to the training if it asked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sickbay.contract.blame import Sample
from sickbay.contract.event import FailureKind
from sickbay.trainer.complaints import harmless
from sickbay.trainer.run import Run
from sickbay.trainer.watch.anomaly import Anomaly, AnomalyFound
from sickbay.trainer.watch.ranks import Word

RAISE = "raise"
Called: TypeAlias = Callable[[Anomaly], object]
_CAUSES = {
    FailureKind.NON_FINITE_INPUT,
    FailureKind.NON_FINITE_LABEL,
    FailureKind.NON_FINITE_LOSS,
    FailureKind.LOSS_SPIKE,
}


def asked(on_anomaly: Any) -> tuple[list[Called], bool]:
    """Tell whom to call from whether to raise."""
    given = [on_anomaly] if isinstance(on_anomaly, str) or callable(on_anomaly) else on_anomaly
    items: list[Any] = list(given or ())
    return [item for item in items if callable(item)], RAISE in items


def of_all_ranks(found: Sequence[Anomaly], words: Sequence[Word], rank: int) -> list[Anomaly]:
    """Return this rank's anomalies and then the others', each with the ranks that found any.

    Ranks share their gradients: where another rank's loss, or what it read, explains a step's
    gradient, that gradient is nobody else's anomaly.
    """
    causes = {(word.step, word.rank) for word in words if word.kind in _CAUSES}
    true = [word for word in words if not _explained(word.kind, word.step, word.rank, causes)]
    ranks = tuple(word.rank for word in true)
    own = [
        replace(one, rank=rank, ranks=ranks)
        for one in found
        if not _explained(one.kind, one.step, rank, causes)
    ]
    return own + [_elsewhere(word, ranks) for word in true if word.rank != rank]


def _explained(kind: FailureKind, step: int, rank: int, causes: Iterable[tuple[int, int]]) -> bool:
    return kind not in _CAUSES and any(at == step and who != rank for at, who in causes)


def _elsewhere(word: Word, ranks: tuple[int, ...]) -> Anomaly:
    return Anomaly(
        word.ref, word.kind, word.step, word.value, rank=word.rank, ranks=ranks, here=False
    )


@harmless(None)
def tell(
    run: Run,
    found: Sequence[Anomaly],
    called: Iterable[Called],
    error: AnomalyFound | None = None,
) -> None:
    """Tell the run of this rank's anomalies, and call whoever asked, with each one.

    Args:
        run: the run.
        found: the anomalies, this rank's first.
        called: whom to call.
        error: what is raised afterwards because of the first of them, if anything is.
    """
    called = tuple(called)
    evidence = {anomaly.ref: _evidence(anomaly, called) for anomaly in found}
    # What is raised is told last: the run then knows it when it comes by as an exception.
    for anomaly in [*found[1:], *found[:1]] if error else found:
        first = error if anomaly is found[0] else None
        if anomaly.here or first is not None:
            _to_run(run, anomaly, first, evidence[anomaly.ref])
    for anomaly in found:
        for call in called:
            harmless(None)(_named(call))(anomaly)


def _named(call: Called) -> Callable[[Anomaly], None]:
    """Return a callable with the names that a complaint needs; a partial has none."""

    def on_anomaly(anomaly: Anomaly) -> None:
        call(anomaly)

    return on_anomaly


def _evidence(anomaly: Anomaly, called: Iterable[Called]) -> dict[str, Any]:
    """Ask whoever saves something of an anomaly where it is, so that the failure can say it."""
    fields: dict[str, Any] = {}
    for call in called:
        asked_for: Any = getattr(call, "evidence", None)
        if asked_for is not None:
            fields.update(harmless({})(asked_for)(anomaly) or {})
    return fields


def _to_run(
    run: Run, anomaly: Anomaly, error: AnomalyFound | None, evidence: Mapping[str, Any]
) -> None:
    fields = {**anomaly.detail, **evidence}
    checkpoint = fields.pop("checkpoint", "")
    told = {name: fields.pop(name, None) for name in ("gradient_norm", "learning_rate")}
    run.failure(
        anomaly.kind.value,
        exception=error,
        message=anomaly.sentence,
        ref=anomaly.ref if anomaly.here else "",
        step=anomaly.step,
        value=anomaly.value,
        baseline=anomaly.baseline,
        score=anomaly.score,
        rule=anomaly.rule,
        window=anomaly.window,
        samples=_with_losses(anomaly),
        checkpoint=checkpoint,
        detail={**_where(anomaly), **fields},
        **told,
    )


def _where(anomaly: Anomaly) -> dict[str, Any]:
    pairs = {
        "rank": anomaly.rank,
        "ranks": list(anomaly.ranks),
        "parameter": anomaly.parameter,
        "previous step": anomaly.previous_step,
    }
    return {name: value for name, value in pairs.items() if value not in ("", None)}


def _with_losses(anomaly: Anomaly) -> list[Any]:
    losses: tuple[float | None, ...] = anomaly.losses or (None,) * len(anomaly.samples)
    pairs = zip(anomaly.samples, losses, strict=True)
    return [_with_loss(sample, loss) for sample, loss in pairs]


def _with_loss(sample: Any, loss: float | None) -> Any:
    if isinstance(sample, Sample):
        return sample if loss is None else replace(sample, loss=loss)
    fields = sample if isinstance(sample, Mapping) else {"path": sample}
    return fields if loss is None else {**fields, "loss": loss}
