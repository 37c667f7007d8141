"""Advice on the learning rate, and what becomes of it."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.event import Alert
from sickbay.contract.report import Change
from sickbay.trainer.rate import Advice, RateAdvice, set_rate, warm_up

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")


def optimizer(*rates: float) -> Any:
    groups = [{"params": [torch.nn.Parameter(torch.ones(1))], "lr": rate} for rate in rates]
    return torch.optim.SGD(groups, lr=1.0)


def given(advice: RateAdvice, losses: list[float]) -> list[Advice]:
    answers = [advice.observe(loss, step) for step, loss in enumerate(losses)]
    return [one for one in answers if one is not None]


def test_a_loss_that_doubles_gets_the_advice_and_the_rate_is_left_alone(online: Ward) -> None:
    made = optimizer(0.1)
    with sickbay.init("advice") as run:
        found = given(RateAdvice(made, run, window=20), [1.0] * 30 + [3.0] * 30)
    assert [(one.before, one.applied) for one in found] == [(1.0, False)]
    assert found[0].after >= 2
    assert made.param_groups[0]["lr"] == 0.1
    (alert,) = online.of(Alert)
    assert "should be multiplied by 0.5" in alert.text
    assert online.of(Change) == []


def test_where_it_is_applied_every_group_and_the_schedule_follow_and_it_is_noted(
    online: Ward,
) -> None:
    made = optimizer(0.1, 0.01)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(made, T_max=1000)
    with sickbay.init("applied") as run:
        advice = RateAdvice(made, run, scheduler=cosine, apply=True, window=20, cooldown=50)
        found = given(advice, [1.0] * 30 + [3.0] * 19)
    assert [one.step for one in found] == [34]
    assert [group["lr"] for group in made.param_groups] == [0.05, 0.005]
    made.step()
    cosine.step()
    assert made.param_groups[0]["lr"] == pytest.approx(0.05, rel=1e-4)
    (change,) = online.of(Change)
    assert (change.what, change.before, change.after) == (
        "learning-rate",
        "0.1, 0.01",
        "0.05, 0.005",
    )
    assert change.step == 34


def test_a_new_rate_gets_time_to_show_and_then_may_fall_again(kit: Path) -> None:  # noqa: ARG001 (its environment)
    made = optimizer(0.1)
    advice = RateAdvice(made, apply=True, window=10, cooldown=40)
    found = given(advice, [1.2**step for step in range(200)])
    assert len(found) > 3
    assert {later.step - one.step for one, later in itertools.pairwise(found)} == {40}
    assert made.param_groups[0]["lr"] == pytest.approx(0.1 * 0.5 ** len(found))


@pytest.mark.parametrize(
    "losses", [[2.0] * 99, [9.0 - step / 12 for step in range(100)], [-1.0] * 20 + [5.0] * 20]
)
def test_steady_falling_and_negative_losses_get_no_advice(kit: Path, losses: list[float]) -> None:  # noqa: ARG001 (its environment)
    assert given(RateAdvice(optimizer(0.1), window=20), losses) == []


def test_what_is_no_loss_is_left_aside(kit: Path) -> None:  # noqa: ARG001 (its environment)
    advice = RateAdvice(optimizer(0.1), window=4)
    assert advice.observe("much", 0) is None
    assert given(advice, [1.0, float("nan"), 1.0, float("inf"), 5.0, 5.0])[0].before == 1.0


def test_advice_goes_on_from_a_checkpoint(kit: Path) -> None:  # noqa: ARG001 (its environment)
    first, second = (RateAdvice(optimizer(0.1), window=20) for _ in range(2))
    given(first, [1.0] * 20)
    second.load_state_dict(first.state_dict())
    second.load_state_dict({"version": 999})
    assert given(second, [3.0] * 4) == []
    assert len(given(second, [3.0] * 2)) == 1


def test_a_rate_held_in_a_tensor_is_set_in_place(online: Ward) -> None:
    rate = torch.tensor(0.1)
    made = torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))], lr=rate, capturable=False)
    with sickbay.init("tensor") as run:
        set_rate(made, 0.25, "by hand", step=9, run=run)
    assert made.param_groups[0]["lr"] is rate
    assert float(rate) == 0.25
    (change,) = online.of(Change)
    assert (change.after, change.why, change.step) == ("0.25", "by hand", 9)


def test_a_warm_up_is_torchs_own_and_noted(online: Ward) -> None:
    made = optimizer(0.1)
    with sickbay.init("warm") as run:
        schedule = warm_up(made, 10, run=run)
        rates = []
        for _ in range(12):
            rates.append(made.param_groups[0]["lr"])
            made.step()
            schedule.step()
    assert rates[:2] == pytest.approx([0.01, 0.019])
    assert rates[-2:] == pytest.approx([0.1, 0.1])
    (change,) = online.of(Change)
    assert (change.before, change.after) == ("0.01", "0.1")
    with pytest.raises(ValueError, match="at least one step"):
        warm_up(made, 0)
