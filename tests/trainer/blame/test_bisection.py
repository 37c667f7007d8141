"""Halving a batch: how often it looks, and whom it names."""

import math
import random
from collections.abc import Sequence

import pytest

from sickbay.trainer.blame.bisection import bisect
from sickbay.trainer.blame.ranking import accountable, ranked, stands_out


def _named(values: list[float]) -> tuple[int, int]:
    looked = 0

    def mean(rows: Sequence[int]) -> float:
        nonlocal looked
        looked += 1
        return math.fsum(values[row] for row in rows) / len(rows)

    row = bisect(mean, range(len(values)), math.fsum(values) / len(values), math.inf)
    return row, looked


@pytest.mark.parametrize("count", [1, 2, 3, 7, 32, 100, 256])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 500.0])
def test_the_one_bad_sample_is_named_in_log2_looks(count: int, bad: float) -> None:
    draw = random.Random(count)  # noqa: S311 (no secret)
    for _ in range(20):
        values = [draw.lognormvariate(-1, 1) for _ in range(count)]
        planted = draw.randrange(count)
        values[planted] = bad
        row, looked = _named(values)
        assert row == planted
        assert looked <= math.ceil(math.log2(count))


def test_samples_account_for_a_batch_where_the_rest_is_sound_without_them() -> None:
    each = [0.1] * 30 + [90.0, math.nan]
    assert ranked(each)[:2] == [31, 30]
    assert accountable(each, 0.5) == [31, 30]
    assert accountable(each, math.inf) == [31]


def test_where_all_of_a_batch_is_bad_no_sample_is_named() -> None:
    assert accountable([5.0] * 32, 1.0) == []
    assert accountable([math.nan] * 32, math.inf) == []


def test_a_sample_stands_out_by_what_the_others_are() -> None:
    others = [1.0 + 0.01 * n for n in range(20)]
    assert stands_out(9.0, others)
    assert stands_out(math.nan, others)
    assert not stands_out(1.3, others)
    assert not stands_out(math.nan, [*others, math.inf])
    assert not stands_out(9.0, [])
