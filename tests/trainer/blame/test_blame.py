"""Which sample? Real trainings on the CPU, with the harm planted in the data or elsewhere."""

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.blame import Outcome, Verdict
from sickbay.contract.event import Failure, FailureKind
from sickbay.trainer.run import Run

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from tests.trainer.blame.trainings import (  # noqa: E402 (they need torch)
    CLASSES,
    WIDTH,
    Training,
    a_batch,
    a_model,
    only_verdict,
    paths,
)

from sickbay.trainer.blame import Blame  # noqa: E402 (as above)
from sickbay.trainer.blame.evidence import MOST_FILES  # noqa: E402 (as above)
from sickbay.trainer.checkpoints import Checkpoints  # noqa: E402 (as above)
from sickbay.trainer.watch.anomaly import Anomaly, new_ref  # noqa: E402 (as above)

nn = torch.nn


@pytest.fixture(autouse=True)
def _seeded() -> None:
    sickbay.seed_everything(7)


def _plant_nan(x: Any, y: Any, row: int = 11) -> None:  # noqa: ARG001 (as below)
    x[row] = math.nan


def _plant_huge(x: Any, y: Any, row: int = 11) -> None:  # noqa: ARG001 (as above)
    y[row] = 1e3


@pytest.mark.parametrize("layers", [(), (nn.BatchNorm1d,), (nn.LayerNorm,)])
@pytest.mark.parametrize("plant", [_plant_nan, _plant_huge])
def test_a_sample_that_does_it_in_a_fresh_model_too_is_named(
    online: Ward, layers: tuple[Any, ...], plant: Callable[[Any, Any], None]
) -> None:
    with sickbay.init("planted") as run:
        training = Training(a_model(*(layer(16) for layer in layers)), run)
        training.watch.on_anomaly.append(
            Blame(training.model, training.criterion, watch=training.watch)
        )
        training.warm_up()
        x, y = a_batch()
        plant(x, y)
        training.steps(iter([(50, x, y)]))
    verdict = only_verdict(online)
    assert verdict.outcome is Outcome.REPRODUCED_ALONE
    assert [sample.path for sample in verdict.samples] == ["50/11.png"]
    assert verdict.failure == online.of(Failure)[0].ref
    assert verdict.forwards <= 5


def test_a_wrong_label_is_named_and_is_bad_for_the_trained_model_only(online: Ward) -> None:
    with sickbay.init("label") as run:
        model = nn.Sequential(nn.Linear(WIDTH, CLASSES))
        training = Training(model, run, lr=3e-2)
        training.criterion = nn.CrossEntropyLoss()
        training.watch.on_anomaly.append(Blame(model, training.criterion, watch=training.watch))
        x, _ = a_batch()
        x[:, :CLASSES] = torch.eye(CLASSES)[torch.arange(32) % CLASSES] * 4
        y = x[:, :CLASSES].argmax(1)
        training.steps((step, x.clone(), y.clone()) for step in range(120))
        y[11] = (y[11] + 2) % CLASSES
        training.steps(iter([(120, x, y)]))
    verdict = only_verdict(online)
    assert verdict.outcome is Outcome.ONLY_IN_THIS_STATE
    assert [sample.path for sample in verdict.samples] == ["120/11.png"]
    assert verdict.samples[0].loss is not None


def _a_whole(model: Any, batch: Any) -> Any:
    return nn.functional.mse_loss(model(batch[0]), batch[1])


def _planted(seed: int, run: Run, folder: Path) -> str:
    """Blame a step whose batch of 256 holds one bad sample, and return that one's path."""
    torch.manual_seed(seed)
    row = random.Random(seed).randrange(256)  # noqa: S311 (no secret)
    model = a_model(*([nn.BatchNorm1d(16)] if seed % 3 == 0 else []))
    blame = Blame(model, losses=_a_whole, run=run, evidence=folder)
    before, batch = a_batch(256), a_batch(256)
    blame.keep(before)
    baseline = _a_whole(model, before).item()
    (_plant_nan if seed % 2 else _plant_huge)(*batch, row)
    blame.keep(batch)
    value = _a_whole(model, batch).item()
    kind = FailureKind.LOSS_SPIKE if math.isfinite(value) else FailureKind.NON_FINITE_LOSS
    names = paths(seed, 256)
    blame(Anomaly(new_ref(), kind, seed, value, baseline, samples=tuple(names)))
    return names[row]


def test_bisection_names_the_planted_sample_of_256_in_ten_forwards_100_of_100(
    online: Ward, tmp_path: Path
) -> None:
    with sickbay.init("bisection") as run:
        planted = [_planted(seed, run, tmp_path / "kept") for seed in range(100)]
    verdicts = online.of(Verdict)
    named = [tuple(sample.path for sample in verdict.samples) for verdict in verdicts]
    assert named == [(path,) for path in planted]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.REPRODUCED_ALONE}
    assert {verdict.detail["found by"] for verdict in verdicts} == {"bisection of the batch"}
    assert max(verdict.detail["forwards to name it"] for verdict in verdicts) <= 10
    assert len(list((tmp_path / "kept").iterdir())) <= MOST_FILES


def _spoilt_optimizer(seed: int, run: Run) -> None:
    """Train well, then spoil the optimizer's state and go on for some steps."""
    torch.manual_seed(seed)
    layers = [(), (nn.BatchNorm1d(16),), (nn.LayerNorm(16),)][seed % 3]
    training = Training(a_model(*layers), run)
    if seed % 2:
        blame = Blame(training.model, losses=_a_whole, watch=training.watch)
        training.begins.append(blame.keep)
    else:
        blame = Blame(training.model, training.criterion, watch=training.watch)
    training.watch.on_anomaly.append(blame)
    training.warm_up(60)
    for state in training.optimizer.state.values():
        state["exp_avg"].copy_(torch.randn_like(state["exp_avg"]) * 30)
        state["exp_avg_sq"].fill_(1e-3)
    training.steps((step, *a_batch()) for step in range(60, 63))


def test_a_spike_planted_in_the_optimizer_is_not_blamed_on_the_data_20_of_20(
    online: Ward, kit: Path
) -> None:
    with sickbay.init("optimizer") as run:
        for seed in range(20):
            _spoilt_optimizer(seed, run)
    verdicts = {verdict.failure: verdict for verdict in online.of(Verdict)}
    judged = [verdicts[one.ref] for one in online.of(Failure) if one.ref in verdicts]
    assert len(judged) >= 20
    for verdict in judged:
        assert verdict.outcome in (Outcome.NOT_REPRODUCED, Outcome.ONLY_IN_THIS_STATE)
        assert not verdict.samples
    assert len(list((kit.parent / "evidence").iterdir())) <= MOST_FILES


def test_the_batch_before_is_blamed_where_its_update_broke_the_weights(online: Ward) -> None:
    with sickbay.init("before") as run:
        training = Training(a_model(), run, interval=2)
        training.watch.on_anomaly.append(
            Blame(training.model, training.criterion, watch=training.watch)
        )
        training.warm_up(50)
        x, y = a_batch()
        _plant_nan(x, y)
        training.steps(iter([(50, x, y), (51, *a_batch())]))
    found = {verdict.samples[0].path for verdict in online.of(Verdict) if verdict.samples}
    assert found == {"50/11.png"}
    assert {one.outcome for one in online.of(Verdict)} == {Outcome.REPRODUCED_ALONE}


def test_what_came_from_elsewhere_is_not_reproduced_and_flaky_steps_differ(online: Ward) -> None:
    class Flaky(nn.Module):  # type: ignore[misc, name-defined]
        calls = 0

        def forward(self, x: Any) -> Any:
            Flaky.calls += 1
            return x.sum(1, keepdim=True) * (1.0 if Flaky.calls % 2 else 1.2)

    with sickbay.init("elsewhere") as run:
        for model in (a_model(), Flaky()):
            blame = Blame(model, losses=lambda one, x: one(x).square().mean(), run=run)
            blame.keep(torch.ones(4, WIDTH))
            blame(Anomaly(new_ref(), FailureKind.LOSS_SPIKE, 3, 1e6, 1.0))
    outcomes = [verdict.outcome for verdict in online.of(Verdict)]
    assert outcomes == [Outcome.NOT_REPRODUCED, Outcome.DIFFERS_ON_REPEAT]


def test_the_training_is_as_it_was_after_a_verdict(online: Ward) -> None:
    with sickbay.init("same") as run:
        model = a_model(nn.BatchNorm1d(16))
        criterion = nn.MSELoss()
        blame = Blame(model, criterion, run=run)
        x, y = a_batch()
        _plant_huge(x, y)
        loss = criterion(model(x), y)
        loss.backward()
        before = [one.clone() for one in (*model.parameters(), *model.buffers())]
        grads = [one.grad.clone() for one in model.parameters() if one.grad is not None]
        random_state = torch.get_rng_state()
        blame(Anomaly(new_ref(), FailureKind.LOSS_SPIKE, 0, loss.item(), 1.0))
        after = [*model.parameters(), *model.buffers()]
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert all(
        torch.equal(one, other.grad) for one, other in zip(grads, model.parameters(), strict=True)
    )
    assert torch.equal(random_state, torch.get_rng_state())
    assert model.training
    assert criterion.reduction == "mean"
    assert only_verdict(online).detail["rows"] == [11]


def test_a_verdict_stops_when_its_time_is_up_and_says_so(
    online: Ward, caplog: pytest.LogCaptureFixture
) -> None:
    with sickbay.init("slow") as run:
        blame = Blame(a_model(), losses=_a_whole, run=run, budget=0.0)
        blame.keep(a_batch())
        blame(Anomaly(new_ref(), FailureKind.LOSS_SPIKE, 0, 1e6, 1.0))
    assert online.of(Verdict) == []
    assert "is not finished: stopped after" in caplog.text


def test_the_failure_names_evidence_and_a_checkpoint_from_before_the_step(
    online: Ward, tmp_path: Path
) -> None:
    with sickbay.init("evidence") as run:
        training = Training(a_model(nn.BatchNorm1d(16)), run)
        kept = Checkpoints(
            tmp_path / "kept",
            model=training.model,
            optimizer=training.optimizer,
            watch=training.watch,
        )
        training.watch.on_anomaly.append(
            Blame(
                training.model,
                training.criterion,
                watch=training.watch,
                checkpoints=kept,
                evidence=tmp_path / "evidence",
            )
        )
        training.warm_up(50)
        weights = [one.detach().clone() for one in training.model.state_dict().values()]
        x, y = a_batch()
        _plant_nan(x, y)
        training.steps(iter([(50, x, y)]))
    failure = online.of(Failure)[0]
    assert Path(failure.checkpoint).is_file()
    assert Path(failure.detail["evidence"]).name == f"{failure.ref}.evidence.pt"
    assert kept.newest_good() == Path(failure.checkpoint)
    fresh = a_model(nn.BatchNorm1d(16))
    loaded = Checkpoints(tmp_path / "kept", model=fresh).load()
    assert loaded is not None
    assert loaded.step == 50
    assert all(
        torch.equal(one, other)
        for one, other in zip(weights, fresh.state_dict().values(), strict=True)
    )
