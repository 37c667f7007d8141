"""Drift between splits: chance alone does not raise it, a planted difference does."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.scanner.noted import Noted

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole.drift import (
    Numbers,
    kolmogorov_smirnov,
    label_drift,
    number_drift,
    total_variation,
)

THRESHOLD = Policy().drift_threshold
ROUNDS = 1000


def drifts_of_labels(rest: np.random.Generator, classes: int, sizes: list[int]) -> int:
    """Draw two splits from the same uneven shares of labels, and count the findings."""
    shares = 1 / np.arange(1, classes + 1)
    drawn = (rest.multinomial(size, shares / shares.sum()) for size in sizes)
    table = {
        split: {str(label): int(count) for label, count in enumerate(counts) if count}
        for split, counts in zip(("train", "val"), drawn, strict=True)
    }
    return len(list(label_drift(table, THRESHOLD)))


def drifts_of_numbers(rest: np.random.Generator, sizes: list[int], shift: float = 0.0) -> int:
    """Draw two splits' brightness, the second one's shifted, and count the findings."""
    values = np.concatenate(
        [rest.normal(120 + shift * place, 40, size) for place, size in enumerate(sizes)]
    ).round()
    numbers = Numbers("brightness", "brightness", values.astype(np.float32), str)
    splits = np.repeat(np.arange(2, dtype=np.uint16), sizes)
    return len(list(number_drift(numbers, splits, ["train", "val"], THRESHOLD)))


def test_random_splits_of_one_set_do_not_differ_in_labels() -> None:
    rest = np.random.default_rng(20261130)
    shapes = [(2, [100, 30]), (10, [800, 200]), (100, [5000, 500]), (1000, [2000, 2000])]
    alarms = [
        sum(drifts_of_labels(rest, *shape) for _ in range(ROUNDS // len(shapes)))
        for shape in shapes
    ]
    assert alarms == [0, 0, 0, 0]  # of 1,000 sets


def test_random_splits_of_one_set_do_not_differ_in_brightness() -> None:
    rest = np.random.default_rng(20261130)
    shapes = [[30, 30], [100, 40], [800, 200], [5000, 500]]
    alarms = [
        sum(drifts_of_numbers(rest, sizes) for _ in range(ROUNDS // len(shapes)))
        for sizes in shapes
    ]
    assert alarms == [0, 0, 0, 0]  # of 1,000 sets


def test_a_third_of_a_deviation_is_seen_in_splits_of_thousands() -> None:
    rest = np.random.default_rng(7)
    found = [drifts_of_numbers(rest, [8000, 2000], shift=-40 / 3) for _ in range(100)]
    assert sum(found) >= 95


def test_a_difference_below_the_threshold_is_not_told_however_sure_it_is() -> None:
    rest = np.random.default_rng(7)
    assert drifts_of_numbers(rest, [200_000, 200_000], shift=4) == 0


def findings(noted: Noted, code: str) -> list[Finding]:
    """Return the set's findings of one code."""
    return [finding for finding in noted.of_the_set() if finding.code == code]


def planted(train: int, val: int) -> Noted:
    """Return a set whose validation split has darker, smaller pictures and other label shares."""
    noted = Noted()
    for number in range(train):
        label = "cat" if number % 2 else "dog"
        noted.add(f"train/{number}", label=label, brightness=100 + number % 50)
    for number in range(val):
        label = "cat" if number % 10 else "dog"
        noted.add(f"val/{number}", label=label, brightness=60 + number % 50, size=(320, 240))
    return noted


def test_a_planted_drift_is_found_in_labels_sizes_and_brightness() -> None:
    drifts = findings(planted(400, 200), "set.drift")
    assert [drift.detail["of"] for drift in drifts] == ["labels", "sizes", "brightness"]
    assert {tuple(drift.detail["splits"]) for drift in drifts} == {("train", "val")}
    assert drifts[0].message == (
        "The label shares of train and val differ: total variation is 0.40, above 0.10; "
        "'cat' is 50.0% and 90.0%."
    )
    assert drifts[1].message.endswith(
        "is 1.00, above 0.10; the median is 554 pixels a side and 277 pixels a side."
    )
    assert drifts[2].detail["value"] == 0.8
    assert drifts[2].detail["chance"] == 0.1957  # one comparison of 10,000 gives more by chance
    assert all(drift.severity == "note" and drift.file == "" for drift in drifts)


def test_splits_of_a_handful_are_not_compared() -> None:
    assert findings(planted(400, 20), "set.drift") == []


def test_a_set_without_splits_has_no_drift() -> None:
    noted = Noted()
    for number in range(100):
        noted.add(f"{number}.jpg", label="cat", brightness=float(number))
    assert findings(noted, "set.drift") == []


def test_pictures_that_nobody_decoded_take_no_part() -> None:
    noted = planted(400, 10)
    for number in range(100):
        noted.add(f"val/t{number}", kind="text", label="cat" if number % 2 else "dog")
    assert findings(noted, "set.drift") == []


counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1)


@given(counts, counts)
def test_total_variation_is_a_distance(one: dict[str, int], other: dict[str, int]) -> None:
    forth, back = total_variation(one, other)[0], total_variation(other, one)[0]
    assert abs(forth - back) < 1e-12
    assert -1e-12 <= forth <= 1 + 1e-12
    assert total_variation(one, one)[0] == 0
    if not one.keys() & other.keys():
        assert abs(forth - 1) < 1e-12


numbers = st.lists(st.integers(0, 20), min_size=1, max_size=40).map(sorted)


@given(numbers, numbers)
def test_kolmogorov_smirnov_is_the_largest_gap_of_the_shares_below(
    one: list[int], other: list[int]
) -> None:
    gaps = (
        abs(sum(n <= end for n in one) / len(one) - sum(n <= end for n in other) / len(other))
        for end in range(21)
    )
    distance, _ = kolmogorov_smirnov(np.array(one), np.array(other))
    assert abs(distance - max(gaps)) < 1e-12
