"""Compiled models, closures and accumulated gradients: the right batch is held, nothing breaks."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from tests.trainer.blame.trainings import (  # noqa: E402 (they need torch)
    Training,
    a_batch,
    a_model,
    only_verdict,
    paths,
)
from tests.trainer.ward import Ward, answered  # noqa: E402 (as above)

import sickbay.trainer as sickbay  # noqa: E402 (as above)
from sickbay.contract.blame import Outcome  # noqa: E402 (as above)


def _with_its_watchers(training: Training, folder: Path) -> sickbay.Checkpoints:
    kept = sickbay.Checkpoints(folder, model=training.model, watch=training.watch)
    blame = sickbay.Blame(
        training.model, training.criterion, watch=training.watch, checkpoints=kept
    )
    training.watch.on_anomaly.append(blame)
    return kept


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_model_stays_one_graph_and_its_bad_sample_is_named(
    online: Ward, tmp_path: Path
) -> None:
    torch._dynamo.reset()  # noqa: SLF001 (torch has no other)
    run = sickbay.init("compiled")
    answered(run)
    sickbay.seed_everything(3)
    counted = importlib.import_module("torch._dynamo.testing").CompileCounter()
    training = Training(torch.compile(a_model(), backend=counted, fullgraph=True), run)
    _with_its_watchers(training, tmp_path)
    training.warm_up(40)
    x, y = a_batch()
    y[5] = 1e3
    training.steps(iter([(40, x, y)]))
    run.finish()
    assert counted.frame_count == 1
    verdict = only_verdict(online)
    assert verdict.outcome is Outcome.REPRODUCED_ALONE
    assert verdict.samples[0].path == "40/5.png"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_compiled_within_is_not_followed_and_trains_on(
    online: Ward, tmp_path: Path
) -> None:
    torch._dynamo.reset()  # noqa: SLF001 (as above)
    run = sickbay.init("within")
    training = Training(a_model(), run)
    training.model.compile(backend="eager", fullgraph=True)
    _with_its_watchers(training, tmp_path)
    training.warm_up(3)
    run.finish()
    assert online.openings


def test_of_accumulated_batches_the_one_with_these_samples_is_repeated(
    online: Ward, tmp_path: Path
) -> None:
    run = sickbay.init("accumulated")
    answered(run)
    sickbay.seed_everything(3)
    training = Training(a_model(), run)
    kept = _with_its_watchers(training, tmp_path)
    training.warm_up(40)
    for part in range(3):
        x, y = a_batch()
        y[5] = 1e3 if part == 1 else y[5]
        names = [f"{part}/{one}" for one in paths(40)]
        with training.watch.step(40, samples=names):
            loss = training.criterion(training.model(x), y)
            loss.backward()
            training.watch.observe(loss, training.model)
    run.finish()
    assert only_verdict(online).samples[0].path == "1/40/5.png"
    assert kept.newest_good() is None


def test_an_optimizer_with_a_closure_is_compared_with_another_batch(
    online: Ward, tmp_path: Path
) -> None:
    run = sickbay.init("closure")
    answered(run)
    sickbay.seed_everything(3)
    training = Training(a_model(), run)
    training.optimizer = torch.optim.LBFGS(training.model.parameters(), lr=1e-3, max_iter=3)
    _with_its_watchers(training, tmp_path)
    for step in range(45):
        x, y = a_batch()
        y[5] = 1e3 if step == 44 else y[5]
        with training.watch.step(step, samples=paths(step)):
            training.optimizer.step(_closure(training, x, y))
    run.finish()
    verdict = only_verdict(online)
    assert verdict.outcome is Outcome.REPRODUCED_ALONE
    assert verdict.samples[0].path == "44/5.png"


def _closure(training: Training, x: Any, y: Any) -> Callable[[], Any]:
    def closure() -> Any:
        training.optimizer.zero_grad()
        loss = training.criterion(training.model(x), y)
        loss.backward()
        training.watch.observe(loss, training.model)
        return loss

    return closure
