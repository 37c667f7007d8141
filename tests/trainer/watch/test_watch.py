"""A watch in real training loops: what it finds, of which step, and what reaches the server."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.blame import Batches
from sickbay.contract.event import Failure, FailureKind
from sickbay.trainer.watch import Anomaly, AnomalyFound, Watch
from sickbay.trainer.watch.record import Unsound
from sickbay.trainer.watch.tensors import settle, sums

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

Spoil = Callable[[int, Any, Any], None]


def batches(steps: int, first: int = 0) -> Iterator[tuple[int, Any, Any, list[str]]]:
    """Yield steps of eight samples whose targets a linear model can learn."""
    for step in range(first, first + steps):
        torch.manual_seed(step)
        x = torch.randn(8, 4)
        y = x.sum(1, keepdim=True) + 0.3 * torch.randn(8, 1)
        yield step, x, y, [f"train/{step}_{at}.jpg" for at in range(8)]


def train(watch: Watch, spoil: Spoil, steps: int = 100, model: Any = None) -> Any:
    """Train a linear model; ``spoil`` may change a step's inputs and labels in place."""
    torch.manual_seed(0)
    model = model or torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, x, y, paths in batches(steps):
        spoil(step, x, y)
        with watch.step(step, samples=paths):
            watch.inputs(x, y)
            losses = (model(x) - y) ** 2
            optimizer.zero_grad()
            losses.mean().backward()
            watch.observe(losses.mean(), model, losses=losses, learning_rate=optimizer)
            if losses.isfinite().all():
                optimizer.step()
    return model


def at(step: int, act: Callable[[Any, Any], object]) -> Spoil:
    def spoil(now: int, x: Any, y: Any) -> None:
        if now == step:
            act(x, y)

    return spoil


def kinds(found: list[Anomaly]) -> list[tuple[int, FailureKind]]:
    return [(one.step, one.kind) for one in found]


@pytest.mark.parametrize("interval", [1, 7, 10, 1000])
def test_each_of_the_three_kinds_is_told_with_its_own_step(kit: Path, interval: int) -> None:
    found: list[Anomaly] = []
    watch = Watch(check_interval=interval, on_anomaly=found.append)
    model = torch.nn.Linear(4, 1)

    def spoil(step: int, x: Any, y: Any) -> None:
        if step == 41:
            x[5, 2] = math.nan
        elif step == 53:
            y[3] = math.inf
        elif step == 67:
            x[1] = 1e30

    train(watch, spoil, model=model)
    watch.close()
    assert kinds(found) == [
        (41, FailureKind.NON_FINITE_INPUT),  # and its loss, which follows from it
        (53, FailureKind.NON_FINITE_LABEL),
        (67, FailureKind.NON_FINITE_LOSS),
    ]
    assert found[0].samples == ("train/41_5.jpg",)
    assert found[1].samples == ("train/53_3.jpg",)
    assert all(not math.isfinite(one.detail["loss"]) for one in found[:2])
    assert len(found[2].samples) == len(found[2].losses) == 8
    for one in found:
        assert one.previous_step == one.step - 1
        assert one.previous_samples[0] == f"train/{one.step - 1}_0.jpg"
    assert not kit.exists()


def test_a_gradient_that_is_not_finite_is_told_by_its_parameters_name(kit: Path) -> None:  # noqa: ARG001 (its environment)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 1))
    model[1].weight.register_hook(lambda grad: grad * math.nan)
    found: list[Anomaly] = []
    watch = Watch(check_interval=4, on_anomaly=found.append)
    train(watch, lambda *_: None, steps=4, model=model)
    assert found[0].kind is FailureKind.NON_FINITE_GRADIENT
    assert (found[0].step, found[0].parameter) == (0, "1.weight")
    assert found[0].detail["parameters"] == ["1.weight"]


def test_steps_that_a_scaler_skips_are_told_only_once_there_are_many(kit: Path) -> None:  # noqa: ARG001 (its environment)
    model = torch.nn.Linear(4, 1)
    bad = {*range(9), 30, *range(50, 60)}
    step = iter(range(100))
    model.weight.register_hook(lambda grad: grad * (math.inf if next(step) in bad else 1.0))
    found: list[Anomaly] = []
    watch = Watch(check_interval=5, on_anomaly=found.append, bad_gradients=10)
    for number, x, y, _ in batches(80):
        with watch.step(number):
            model.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            watch.observe(loss, model)
    assert kinds(found) == [(59, FailureKind.NON_FINITE_GRADIENT)]


def test_a_spike_reaches_the_server_with_its_samples_rule_and_window(online: Ward) -> None:
    found: list[Anomaly] = []
    with sickbay.init("spike") as run, Watch(run, on_anomaly=found.append) as watch:
        train(watch, at(73, lambda _, y: y[6].add_(50)))
    (failure,) = online.of(Failure)
    assert (failure.what, failure.step) == (FailureKind.LOSS_SPIKE, 73)
    assert failure.ref == found[0].ref
    assert max(failure.samples, key=lambda one: one.loss or 0).path == "train/73_6.jpg"
    assert failure.value > 8 * failure.baseline
    assert failure.score > failure.rule["needed score"]
    assert failure.rule["name"] == "spike"
    assert {"version", "window", "threshold", "consecutive", "confidence"} <= failure.rule.keys()
    assert len(failure.window) == 73
    assert failure.learning_rate == 0.01
    assert failure.gradient_norm > 1
    assert failure.detail["previous step"] == 72
    steps = [step for body in online.of(Batches) for step in body.steps]
    assert steps == list(range(100))


def test_a_gradient_spike_the_step_before_makes_a_loss_spike_more_certain(kit: Path) -> None:  # noqa: ARG001 (its environment)
    found: list[Anomaly] = []
    watch = Watch(check_interval=1, on_anomaly=found.append)
    for step in range(100):
        noise = 1 + 0.01 * (step % 7)
        with watch.step(step):
            watch.observe(
                2 * noise * (3 if step in (60, 80) else 1),
                gradient_norm=noise * (50 if step == 59 else 1),
            )
    spikes = [one for one in found if one.kind is FailureKind.LOSS_SPIKE]
    assert [(one.step, one.rule["confidence"]) for one in spikes] == [(60, "high"), (80, "usual")]
    (gradient,) = [one for one in found if one.kind is FailureKind.OTHER]
    assert gradient.step == 59
    assert gradient.value == pytest.approx(50, rel=0.1)
    assert gradient.rule["name"] == "gradient spike"
    assert gradient.baseline == pytest.approx(1, rel=0.1)


def test_a_loss_above_the_ceiling_is_told_when_it_gets_there(kit: Path) -> None:  # noqa: ARG001 (its environment)
    found: list[Anomaly] = []
    watch = Watch(check_interval=3, on_anomaly=found.append, ceiling=5.0)
    for step in range(30):
        watch.begin(step)
        watch.observe(6.0 if 10 <= step < 20 else 1.0)
        watch.end()
    assert [(one.step, one.rule["name"]) for one in found] == [(10, "ceiling")]


def test_the_callback_comes_before_the_optimizers_step_where_every_step_is_checked(
    kit: Path,  # noqa: ARG001 (its environment)
) -> None:
    model = torch.nn.Linear(4, 1)
    before: list[Any] = []
    watch = Watch(check_interval=1, on_anomaly=lambda _: before.append(model.weight.clone()))
    train(watch, at(73, lambda _, y: y.add_(50)), steps=74, model=model)
    assert len(before) == 1
    assert not torch.equal(before[0], model.weight)


class _Keeps:
    """Keeps something before the failure is told, as a checkpoint is."""

    def __init__(self) -> None:
        self.called: list[Anomaly] = []

    def evidence(self, anomaly: Anomaly) -> dict[str, str]:
        return {"checkpoint": f"kept/{anomaly.step}.pt"}

    def __call__(self, anomaly: Anomaly) -> None:
        self.called.append(anomaly)


def test_what_is_kept_of_an_anomaly_is_told_with_it_even_if_the_run_is_left(online: Ward) -> None:
    keeps = _Keeps()
    with sickbay.init("kept") as run:
        watch = Watch(run, on_anomaly=keeps)
        with watch.step(5, samples=["a.jpg"]):
            watch.observe(math.nan)
        assert watch.now == 5
    (failure,) = online.of(Failure)
    assert failure.checkpoint == "kept/5.pt"
    assert [one.ref for one in keeps.called] == [failure.ref]


def test_whoever_asks_gets_the_anomaly_raised_and_the_run_tells_it_once(online: Ward) -> None:
    called: list[Anomaly] = []
    with (  # noqa: PT012 (the run must see the exception leave)
        pytest.raises(AnomalyFound, match="A label is not finite at step 20") as caught,
        sickbay.init("raised") as run,
    ):
        watch = Watch(run, check_interval=1, on_anomaly=[called.append, "raise"])
        train(watch, at(20, lambda _, y: y.fill_(math.nan)), steps=30)
    assert caught.value.anomaly is called[0]
    assert [one.what for one in online.of(Failure)] == [FailureKind.NON_FINITE_LABEL]


def test_an_exception_in_a_step_is_told_with_the_steps_samples_and_goes_on(online: Ward) -> None:
    with (  # noqa: PT012 (as above)
        pytest.raises(IndexError, match="out of bounds"),
        sickbay.init("thrown") as run,
    ):
        watch = Watch(run)
        with watch.step(7, samples=["a.jpg", {"path": "b.jpg", "index": 4}]):
            watch.observe(math.nan)
            torch.nn.functional.cross_entropy(torch.ones(1, 3), torch.tensor([7]))
    nan, failure = online.of(Failure)
    assert (nan.what, nan.step) == (FailureKind.NON_FINITE_LOSS, 7)
    assert (failure.what, failure.step) == (FailureKind.LABEL_ASSERT, 7)
    assert [sample.path for sample in failure.samples] == ["a.jpg", "b.jpg"]


def test_a_loss_that_stays_nan_does_not_tell_every_step(kit: Path) -> None:  # noqa: ARG001 (its environment)
    found: list[Anomaly] = []
    watch = Watch(on_anomaly=found.append)
    for step in range(100):
        with watch.step(step):
            watch.observe(math.nan)
    assert [one.step for one in found] == [*range(16), 31, 63]


def test_several_backward_passes_in_one_step_are_each_looked_at(kit: Path) -> None:  # noqa: ARG001 (its environment)
    found: list[Anomaly] = []
    watch = Watch(check_interval=4, on_anomaly=found.append)
    for step in range(4):
        with watch.step(step, samples=[f"{step}.jpg"]):
            watch.observe(1.0)
            watch.observe(math.inf if step == 2 else 1.0)
    watch.close()
    assert kinds(found) == [(2, FailureKind.NON_FINITE_LOSS)]
    assert found[0].samples == ("2.jpg",)
    assert found[0].previous_samples == ("1.jpg",)


def test_a_watch_goes_on_from_a_checkpoint(kit: Path, tmp_path: Path) -> None:  # noqa: ARG001 (its environment)
    first = Watch(check_interval=1)
    train(first, lambda *_: None, steps=60)
    torch.save(first.state_dict(), tmp_path / "watch.pt")
    found: list[Anomaly] = []
    second = Watch(check_interval=1, on_anomaly=found.append)
    second.load_state_dict(torch.load(tmp_path / "watch.pt", weights_only=True))
    second.load_state_dict({"version": 999})
    second.observe(1e6)
    assert kinds(found) == [(0, FailureKind.LOSS_SPIKE)]
    assert len(found[0].window) == 60


def test_inputs_of_any_shape_and_nesting_are_looked_at(kit: Path) -> None:  # noqa: ARG001 (its environment)
    found: list[Anomaly] = []
    watch = Watch(check_interval=1, on_anomaly=found.append)
    half = torch.full((2, 60_000), 60_000, dtype=torch.float16)
    pixels = [torch.ones(2, 3), torch.ones(2, dtype=torch.complex64)]
    pixels[1][1] = complex(0, math.inf)
    with watch.step(3, samples=["a", "b"]):
        watch.inputs([half, torch.arange(4), torch.ones(()), torch.ones(0, 3), "text"])
        watch.inputs(torch.full((2, 4), 3e38))
        watch.inputs({"pixels": pixels, "mask": None})
        watch.observe()
    assert [(one.samples, one.detail["tensor"]) for one in found] == [
        (("b",), "input['pixels'][1]")
    ]


def test_gradients_in_half_precision_sparse_or_missing_have_norms_too(kit: Path) -> None:  # noqa: ARG001 (its environment)
    embedding = torch.nn.Embedding(10, 4, sparse=True)
    head = torch.nn.Linear(4, 1).bfloat16()
    unused = torch.nn.Linear(2, 2)
    found: list[Anomaly] = []
    watch = Watch(check_interval=1, on_anomaly=found.append)
    model = torch.nn.ModuleList([embedding, head, unused])
    head(embedding(torch.tensor([1, 2])).bfloat16()).sum().backward()
    embedding.weight.grad.coalesce().values().fill_(1.0)
    head.bias.grad.fill_(math.nan)
    watch.observe(1.0, model)
    watch.observe(1.0, list(model.parameters()))
    assert [one.parameter for one in found] == ["1.bias", "2"]


def test_nonsense_costs_a_complaint_and_nothing_else(
    kit: Path,  # noqa: ARG001 (its environment)
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: Anomaly) -> None:
        raise RuntimeError("of the callback")

    watch = Watch(check_interval=1, on_anomaly=broken)
    with watch.step("soon", samples=5):  # type: ignore[arg-type]
        watch.inputs(object(), torch.ones(2))
        watch.observe(torch.ones(3), object(), losses=object())
    with watch.step(1, samples=None):
        watch.observe(math.nan)
    watch.load_state_dict({})
    assert "of the callback" in caplog.text


def test_nothing_on_a_device_is_read_before_the_check(
    kit: Path,  # noqa: ARG001 (its environment)
    caplog: pytest.LogCaptureFixture,
) -> None:
    """On the device ``meta`` everything can be computed and nothing be read: reading raises."""
    watch = Watch(check_interval=10)
    model = torch.nn.Linear(4, 1, device="meta")
    rate = torch.ones((), device="meta")
    for step in range(10):
        assert not caplog.text
        x = torch.empty(8, 4, device="meta")
        with watch.step(step, samples="abcdefgh"):
            watch.inputs(x, x)
            losses = model(x) ** 2
            losses.mean().backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            watch.observe(
                losses.mean(),
                model,
                losses=losses,
                gradient_norm=norm if step % 2 else None,
                learning_rate=rate,
            )
    assert "_judged did nothing" in caplog.text


def test_what_was_held_on_a_device_is_read_in_its_order() -> None:
    one, two = torch.tensor(2.0), torch.tensor([3.0]).reshape(())
    assert settle([1.0, one, math.inf, two.half()]) == [1.0, 2.0, math.inf, 3.0]
    bad = torch.tensor([[1.0, 2.0], [math.nan, 0.0], [1.0, -math.inf]])
    assert Unsound(FailureKind.NON_FINITE_INPUT, "input", sums(bad)).rows() == [1, 2]
