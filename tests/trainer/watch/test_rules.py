"""What the rule says of curves, value by value."""

import json
import math
import random
import statistics
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.trainer.watch.rules import Found, Rule, Thresholds
from sickbay.trainer.watch.window import Window, median

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def noise(steps: int, level: float = 2.0, sigma: float = 0.05, seed: int = 1) -> list[float]:
    chance = random.Random(seed)  # noqa: S311 (no secret)
    return [level + chance.gauss(0, sigma) for _ in range(steps)]


def found_in(values: Iterable[float], rule: Rule | None = None) -> list[tuple[int, Found]]:
    rule = rule or Rule(Thresholds())
    pairs = ((at, rule.judge(value)) for at, value in enumerate(values))
    return [(at, found) for at, found in pairs if found is not None]


def names(found: list[tuple[int, Found]]) -> list[tuple[int, str]]:
    return [(at, one.name) for at, one in found]


@given(st.lists(FINITE, min_size=1))
def test_the_median_is_the_one_everybody_knows(values: list[float]) -> None:
    assert median(values) == pytest.approx(
        statistics.median(map(float, values))
        if math.isfinite(sum(map(abs, values)) * 2)
        else median(values)
    )


def test_a_line_is_expected_to_go_on() -> None:
    down = Window(128, [10 - at / 10 for at in range(64)])
    expected = down.expected()
    assert expected.baseline() == pytest.approx(4.0, abs=0.5)
    assert expected.spread < 0.05


def test_a_spike_is_found_with_what_was_expected() -> None:
    values = noise(300)
    values[200] += 1
    (at, found), *rest = found_in(values)
    assert (at, found.name, rest) == (200, "spike", [])
    assert found.value == values[200]
    assert found.baseline == pytest.approx(2, abs=0.1)
    assert found.score == pytest.approx(1 / 0.05, rel=0.5)
    assert list(found.window) == values[72:200]


def test_spikes_do_not_hide_one_another() -> None:
    values = noise(400)
    for at, height in ((200, 40.0), (203, 20.0), (210, 1.0), (220, 0.8)):
        values[at] += height
    assert [at for at, _ in found_in(values)] == [200, 203, 210, 220]


def test_nothing_is_judged_before_there_is_enough_to_judge_by() -> None:
    values = noise(31)
    values[20] = 1e6
    assert found_in(values) == []


def test_a_fall_is_no_spike() -> None:
    values = noise(200)
    values[150] = -1e9
    assert found_in(values) == []


def test_a_new_level_is_one_spike_and_one_event_and_then_normal() -> None:
    values = noise(200) + noise(400, level=5.0, seed=2)
    values[500] += 1
    found = found_in(values)
    assert names(found) == [(200, "spike"), (215, "sustained"), (500, "spike")]
    assert found[1][1].count == 16


def test_a_spike_that_climbs_is_told_again() -> None:
    values = noise(220)
    values[200:204] = [3.0, 3.1, 3.2, 90.0]
    assert [at for at, _ in found_in(values)] == [200, 203]


def test_a_loss_that_grows_slowly_is_found_once_it_has_grown_for_long() -> None:
    values = noise(300) + [2 + at / 500 + one for at, one in enumerate(noise(600, 0.0, seed=3))]
    found = found_in(values)
    assert [one.name for _, one in found] == ["rising"] * len(found)
    assert found[0][0] < 300 + 8 * 64


def test_a_curve_at_zero_and_a_negative_one_are_judged_like_others() -> None:
    chance = random.Random(4)  # noqa: S311 (no secret)
    zero = [0.0 if chance.random() < 0.5 else 1e-5 * chance.random() for _ in range(300)]
    zero[200] = 0.1
    assert [at for at, _ in found_in(zero)] == [200]
    negative = noise(300, level=-7.0)
    negative[200] += 2
    assert [at for at, _ in found_in(negative)] == [200]


def test_a_curve_that_throws_large_values_every_day_raises_the_bar_for_itself() -> None:
    chance = random.Random(5)  # noqa: S311 (no secret)
    heavy = [2 + 0.05 * chance.choice((-1, 1)) * chance.paretovariate(2) for _ in range(6000)]
    rule = Rule(Thresholds())
    found = found_in(heavy, rule)
    assert len(found) <= 6
    assert sum(value > 2 + 0.05 * 15 for value in heavy) > 10
    assert rule.judge(40.0) is not None


def test_a_flat_curve_needs_more_than_rounding_to_be_a_spike() -> None:
    assert found_in([2.0] * 200 + [2.0 + 2e-7] + [2.0] * 9) == []
    assert names(found_in([2.0] * 200 + [2.2])) == [(200, "spike")]


@given(st.integers(0, 400), st.integers(0, 9))
def test_a_rule_goes_on_from_a_checkpoint_as_if_nothing_had_been(cut: int, seed: int) -> None:
    values = noise(200, seed=seed) + noise(200, level=4.0, seed=seed + 1)
    values[190], values[350] = 3.0, 9.0
    whole, first, second = (Rule(Thresholds()) for _ in range(3))
    before = found_in(values[:cut], first)
    second.restore(json.loads(json.dumps(first.state())))
    after = [(at + cut, found) for at, found in found_in(values[cut:], second)]
    assert before + after == found_in(values, whole)


def test_a_state_that_is_none_changes_nothing() -> None:
    rule = Rule(Thresholds())
    found_in(noise(50), rule)
    before = rule.state()
    with pytest.raises(ValueError, match="could not convert"):
        rule.restore({**before, "window": ["no number"]})
    rule.restore({**before, "version": 999, "window": []})
    assert rule.state() == before


@given(st.lists(FINITE, max_size=200))
def test_whatever_finite_numbers_come_a_rule_answers(values: list[float]) -> None:
    for _, found in found_in(values, Rule(Thresholds(active_after=2, window=8))):
        assert found.score >= found.bar or math.isnan(found.score)
