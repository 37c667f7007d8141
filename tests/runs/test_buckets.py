import math
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sickbay.runs.curves import buckets as b
from sickbay.runs.curves import points as p
from sickbay.runs.curves.points import Points, joined

VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, 1.0, math.nan, math.inf])
)
POINTS = st.lists(
    st.tuples(st.integers(-300, 300), VALUES, st.integers(0, 50)), min_size=1, max_size=60
)
FAR_POINTS = st.lists(
    st.tuples(st.integers(b.LEAST, b.MOST), VALUES, st.integers(-(1 << 62), 1 << 62)),
    min_size=1,
    max_size=20,
)
Rows = Sequence[tuple[int, float, int]]


def _columns(rows: Rows) -> Points:
    steps, values, times = zip(*rows, strict=True)
    return Points(
        np.array(steps, np.int64), np.array(values, np.float64), np.array(times, np.int64)
    ).ordered()


def _expected(rows: Rows, width: int) -> dict[int, dict[str, float]]:
    """What a bucket must say, worked out the slow way."""
    found: dict[int, list[tuple[int, float, int]]] = {}
    for row in rows:
        found.setdefault(row[0] // width, []).append(row)
    return {bucket: _bucket(its) for bucket, its in found.items()}


def _bucket(rows: Rows) -> dict[str, float]:
    finite = [row for row in rows if math.isfinite(row[1])]
    made: dict[str, float] = {
        "n": len(finite),
        "nan": sum(math.isnan(row[1]) for row in rows),
        "pos_inf": sum(row[1] == math.inf for row in rows),
        "neg_inf": sum(row[1] == -math.inf for row in rows),
        "began": min(row[2] for row in rows),
        "ended": max(row[2] for row in rows),
        "odd_step": min((row[0] for row in rows if not math.isfinite(row[1])), default=b.MOST),
    }
    if finite:
        low, high = min(row[1] for row in finite), max(row[1] for row in finite)
        first = min((step, time, value) for step, value, time in finite)
        last = max((step, time, value) for step, value, time in finite)
        made |= {
            "low": low,
            "low_step": min(row[0] for row in finite if row[1] == low),
            "high": high,
            "high_step": min(row[0] for row in finite if row[1] == high),
            "first": first[2],
            "first_step": first[0],
            "last": last[2],
            "last_step": last[0],
        }
    return made


def _check(found: b.Buckets, rows: Rows, width: int) -> None:
    expected = _expected(rows, width)
    assert found["bucket"].tolist() == sorted(expected)
    for row in found:
        for name, value in expected[int(row["bucket"])].items():
            assert row[name] == value, name


@given(POINTS, st.sampled_from([1, 2, 4, 64, 1 << 40]))
def test_a_bucket_holds_the_exact_extremes_ends_and_counts(rows: Rows, width: int) -> None:
    _check(b.summarised(_columns(rows), width), rows, width)


@given(POINTS, st.integers(0, 60), st.sampled_from([1, 4]), st.sampled_from([1, 2, 16]))
def test_buckets_of_parts_combine_and_widen_to_those_of_the_whole(
    rows: Rows, cut: int, width: int, factor: int
) -> None:
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    found = b.combined([b.summarised(_columns(part), width) for part in parts])
    _check(b.widened(found, factor), rows, width * factor)


@given(POINTS)
def test_packed_buckets_come_back_as_they_were(rows: Rows) -> None:
    made = b.summarised(_columns(rows), 4)
    assert b.unpack(b.pack(made)).tobytes() == made.tobytes()


@given(FAR_POINTS)
def test_packed_points_come_back_to_the_last_bit_wherever_they_lie(rows: Rows) -> None:
    made = _columns(rows)
    back = p.unpack(p.pack(made))
    for name in ("steps", "values", "times"):
        assert getattr(back, name).tobytes() == getattr(made, name).tobytes()


@given(POINTS, st.randoms(use_true_random=False))
def test_the_order_of_points_follows_from_the_points_alone(rows: Rows, chance: object) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    one, other = _columns(rows), joined([_columns([row]) for row in shuffled])
    assert one.steps.tobytes() == other.steps.tobytes()
    assert one.times.tobytes() == other.times.tobytes()
    assert one.values.tobytes() == other.values.tobytes()


def test_no_points_make_no_buckets() -> None:
    assert len(b.summarised(joined([]), 4)) == 0
    assert len(b.combined([])) == 0
