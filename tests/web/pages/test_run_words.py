"""Curves as paths, spikes told from them, numbers as people read them."""

import math
import random
from typing import Any

import pytest

from sickbay.web.pages.runs.drawing import draw, number
from sickbay.web.pages.runs.spikes import spikes


def _columns(values: list[float]) -> dict[str, Any]:
    """Buckets of one step each."""
    finite = [value if math.isfinite(value) else None for value in values]
    steps = list(range(len(values)))
    own = [step if value is not None else None for step, value in zip(steps, finite, strict=True)]
    made: dict[str, Any] = {"step": steps, "began": [float(step) for step in steps]}
    for name in ("low", "high"):
        made |= {name: finite, f"{name}_step": own}
    made["last_step"] = own
    made["nan"] = [int(math.isnan(value)) for value in values]
    made["pos_inf"] = [int(value == math.inf) for value in values]
    made["neg_inf"] = [int(value == -math.inf) for value in values]
    made["odd_step"] = [
        None if math.isfinite(value) else step for step, value in zip(steps, values, strict=True)
    ]
    return made


def _noisy(length: int) -> list[float]:
    rng = random.Random(7)  # noqa: S311 (a curve, no secret)
    return [2.6 * math.exp(-step / 300) + 0.4 + rng.gauss(0, 0.03) for step in range(length)]


def test_spikes_in_a_row_are_all_found_and_a_quiet_curve_has_none() -> None:
    curve = _noisy(1000)
    assert spikes(_columns(curve)) == []
    for step in (300, 301, 302, 800):
        curve[step] = 3.2
    assert [spike.step for spike in spikes(_columns(curve))] == [300, 301, 302, 800]


def test_a_new_level_is_no_row_of_spikes() -> None:
    assert spikes(_columns([1.0] * 100 + [5.0] * 100)) == []


def test_points_that_are_not_finite_do_not_hide_a_spike() -> None:
    curve = [1.0 + 0.01 * (step % 5) for step in range(100)]
    curve[60:70] = [math.nan] * 10
    curve[71] = 9.0
    assert [spike.step for spike in spikes(_columns(curve))] == [71]


def test_a_drawing_goes_through_every_extreme_and_breaks_where_nothing_is_finite() -> None:
    drawn = draw(_columns([1.0, math.nan, 2.0, math.inf, 3.0]))
    assert drawn is not None
    assert drawn.path.count("M") == 3
    assert [(spot.icon, spot.left) for spot in drawn.spots] == [("nan", 25.0), ("pinf", 75.0)]
    assert (drawn.low, drawn.high) == (1.0, 3.0)


def test_a_curve_without_a_finite_point_still_shows_its_marks() -> None:
    drawn = draw(_columns([math.nan, -math.inf]))
    assert drawn is not None
    assert drawn.path == ""
    assert [spot.icon for spot in drawn.spots] == ["nan", "ninf"]


def test_no_points_are_no_drawing() -> None:
    assert draw(_columns([])) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "\u2013"),
        (0.41234, "0.4123"),
        (-3e-5, "\u22123e\u221205"),
        (51879.2, "51,879"),
        ("nan", "NaN"),
        ("inf", "+Inf"),
        ("-inf", "\u2212Inf"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: float | str | None, words: str) -> None:
    assert number(value) == words
