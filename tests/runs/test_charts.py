import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select
from tests.runs.sending import NOON, Trainer, points

from sickbay.contract.errors import BadInput, NotFound
from sickbay.contract.event import Event
from sickbay.database import Database
from sickbay.runs import series
from sickbay.runs.charts import Chart, chart
from sickbay.runs.curves.fold import fold, fold_all
from sickbay.runs.tables import Attempt, Chunk, Page, Rank, Waiting

Rows = list[tuple[int, float, float]]
names = map("run {}".format, itertools.count())
VALUES = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf, 0.0]))
ROWS = st.lists(
    st.tuples(st.integers(-50, 3000), VALUES, st.integers(0, 9).map(float)),
    min_size=1,
    max_size=80,
)


def _chart(trainer: Trainer, name: str = "loss", **how: Any) -> Chart:
    with trainer.database.reading() as session:
        return chart(session, trainer.run, name, **how)


def _fold(trainer: Trainer) -> None:
    with trainer.database.reading() as session:
        ids = session.scalars(select(Attempt.id)).all()
    for attempt_id in ids:
        fold_all(trainer.database, attempt_id)


def _sent(trainer: Trainer, rows: Rows, size: int) -> list[Event]:
    return [
        trainer.event(points("loss", *zip(*part, strict=True)))
        for at in range(0, len(rows), size)
        if (part := [(step, value, NOON + time) for step, value, time in rows[at : at + size]])
    ]


def _check(found: Chart, rows: Rows, since: int, until: int) -> None:
    """Compare with every point, one by one."""
    inside = [
        row
        for row in rows
        if since <= row[0] // found.width * found.width + found.width - 1
        and row[0] // found.width * found.width <= until
    ]
    if not found.curves:
        assert not [row for row in rows if since <= row[0] <= until]
        return
    columns = found.curves[0].columns
    for at in range(len(columns["n"])):
        start = columns["step"][at] // found.width * found.width
        its = [row for row in inside if start <= row[0] < start + found.width]
        _check_bucket({name: column[at] for name, column in columns.items()}, its)
    assert sum(
        map(sum, zip(*(columns[name] for name in ("n", "nan", "pos_inf", "neg_inf")), strict=True))
    ) == len(inside)


def _check_bucket(bucket: dict[str, Any], rows: Rows) -> None:
    finite = [value for _, value, _ in rows if math.isfinite(value)]
    assert bucket["n"] == len(finite)
    assert bucket["nan"] == sum(math.isnan(value) for _, value, _ in rows)
    assert bucket["pos_inf"] == sum(value == math.inf for _, value, _ in rows)
    assert bucket["neg_inf"] == sum(value == -math.inf for _, value, _ in rows)
    assert bucket["low"] == min(finite, default=None)
    assert bucket["high"] == max(finite, default=None)
    if finite:
        assert bucket["mean"] == pytest.approx(math.fsum(finite) / len(finite), abs=1e-6)
        assert bucket["low"] <= bucket["mean"] <= bucket["high"]


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    rows=ROWS,
    size=st.integers(1, 30),
    batch=st.integers(1, 4),
    chance=st.randoms(use_true_random=False),
    folded=st.booleans(),
)
def test_any_split_order_and_replay_gives_the_same_exact_chart_at_every_zoom(
    database: Database, *, rows: Rows, size: int, batch: int, chance: random.Random, folded: bool
) -> None:
    trainer = Trainer(database, next(names))
    events = _sent(trainer, rows, size)
    late = [*events, *events[::2]]
    chance.shuffle(late)
    accepted = 0
    for at in range(0, len(late), batch):
        accepted += trainer.send(*late[at : at + batch]).accepted
    assert accepted == len(events)
    if folded:
        _fold(trainer)
    for since, until, most in [(-50, 3000, 16), (-50, 3000, 10_000), (0, 100, 16), (700, 900, 50)]:
        _check(_chart(trainer, since=since, until=until, buckets=most), rows, since, until)


def _long(number: int, stride: int = 1) -> Iterator[tuple[int, float]]:
    noise = random.Random(7)  # noqa: S311 (no secret)
    for at in range(number):
        yield at * stride, 1000.0 + at if at % 100 == 37 else noise.gauss(0, 1)


@pytest.mark.parametrize("stride", [1, 10, 1000])
def test_a_long_series_keeps_every_spike_and_non_finite_point_at_every_zoom(
    database: Database, stride: int
) -> None:
    trainer = Trainer(database)
    rows = list(_long(20_000, stride))
    rows[5] = (5 * stride, math.nan)
    rows[12_345] = (12_345 * stride, math.inf)
    for at in range(0, len(rows), 1000):
        trainer.log(points("loss", *zip(*rows[at : at + 1000], strict=True)))
    timed = [(step, value, 0.0) for step, value in rows]
    last = 20_000 * stride
    for since, until, most in [
        (0, last, 1000),
        (0, last, 100),
        (last // 3, last // 2, 1000),
        (last // 3, last // 3 + 50 * stride, 1000),
    ]:
        found = _chart(trainer, since=since, until=until, buckets=most)
        _check(found, timed, since, until)
        assert len(found.curves[0].columns["n"]) <= most


@pytest.mark.parametrize("stride", [1, 100, 1_000_000])
def test_summaries_cost_little_whatever_the_stride(database: Database, stride: int) -> None:
    trainer = Trainer(database)
    for at in range(0, 20_000, 1000):
        steps = [step * stride for step in range(at, at + 1000)]
        trainer.log(points("loss", steps, [1.0] * 1000))
    _fold(trainer)
    with database.reading() as session:
        size = session.scalar(select(func.sum(func.length(Page.data)))) or 0
        chunks = session.scalar(select(func.count()).select_from(Chunk))
    assert 0 < size < 5 * 20_000
    assert chunks == 20


def test_a_series_that_turns_sparse_drops_its_finest_buckets_and_stays_exact(
    database: Database,
) -> None:
    trainer = Trainer(database)
    rows: Rows = [(step, float(step % 7), 0.0) for step in range(2000)]
    rows += [(2000 + at * 5000, float(at), 0.0) for at in range(4000)]
    for event in _sent(trainer, rows, 500):
        trainer.send(event)
    _fold(trainer)
    for since, until in [(0, 20_000_000), (0, 4000), (1_000_000, 2_000_000)]:
        _check(_chart(trainer, since=since, until=until), rows, since, until)


@pytest.mark.parametrize("seed", range(3))
def test_a_long_series_is_the_same_however_it_came(database: Database, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (no secret)
    rows: Rows = [(chance.randrange(20_000), chance.gauss(0, 1), 0.0) for _ in range(6000)]
    tidy, untidy = Trainer(database, "tidy"), Trainer(database, "untidy")
    for event in _sent(tidy, sorted(rows), 1000):
        tidy.send(event)
    events = _sent(untidy, rows, 150)
    chance.shuffle(events)
    for at in range(0, len(events), 7):
        untidy.send(*events[at : at + 7])
        untidy.send(*events[at : at + 2])
    for since, until in [(0, 20_000), (3000, 9000), (100, 200)]:
        one, other = (
            _chart(trainer, since=since, until=until).curves[0].columns
            for trainer in (tidy, untidy)
        )
        assert {**one, "mean": other["mean"]} == other
        assert one["mean"] == pytest.approx(other["mean"])


def test_steps_at_both_ends_of_64_bits_are_charted(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [-(1 << 63), 0, (1 << 63) - 1], [1.0, 2.0, 3.0], [NOON] * 3))
    _fold(trainer)
    found = _chart(trainer)
    assert found.curves[0].columns["high"] == [1.0, 2.0, 3.0]


def test_steps_farther_apart_than_64_bits_are_put_in_order(database: Database) -> None:
    trainer, most = Trainer(database), (1 << 63) - 1
    steps = [most, -most, 0, -most - 1]
    trainer.log(points("loss", steps, [4.0, 2.0, 3.0, 1.0], [NOON] * 4))
    for _ in range(2):
        assert _chart(trainer).curves[0].columns["high"] == [2.0, 3.0, 4.0]
        assert _chart(trainer, buckets=10_000).curves[0].columns["low"] == [1.0, 3.0, 4.0]
        with database.reading() as session:
            lines = b"".join(series.csv_lines(session, trainer.run, "loss")).split()
        assert [int(line.split(b",")[2]) for line in lines[1:]] == sorted(steps)
        _fold(trainer)


def test_a_point_that_is_not_finite_at_the_last_step_has_its_step(database: Database) -> None:
    trainer, most = Trainer(database), (1 << 63) - 1
    trainer.log(points("loss", [0, most], [1.0, math.nan], [NOON] * 2))
    assert _chart(trainer).curves[0].columns["odd_step"] == [None, most]


@pytest.mark.parametrize("far", [1e19, 1e300, 1.7e308])
def test_a_range_of_any_length_is_charted(database: Database, far: float) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [0, 1], [1.0, 2.0], [-1e308, 1e308]))
    for by in ("step", "time"):
        found = _chart(trainer, by=by, since=-far, until=far)
        assert found.curves[0].columns["high"] == [1.0, 2.0]


def test_ranks_are_curves_of_their_own_or_one_with_mean_and_range(database: Database) -> None:
    for rank in range(3):
        Trainer(database, rank=rank).log(points("loss", [0, 1], [float(rank), rank * 10.0]))
    trainer = Trainer(database)
    apart = _chart(trainer)
    assert [curve.rank for curve in apart.curves] == [0, 1, 2]
    (together,) = _chart(trainer, mean=True).curves
    assert together.rank is None
    assert together.columns["low"] == [0.0, 0.0]
    assert together.columns["high"] == [2.0, 20.0]
    assert together.columns["mean"] == [1.0, 10.0]
    assert [curve.rank for curve in _chart(trainer, ranks=[1]).curves] == [1]


def test_attempts_stay_apart_and_the_newest_is_shown_unless_others_are_asked_for(
    database: Database,
) -> None:
    first = Trainer(database, launch="one")
    first.log(points("loss", [0, 1, 2], [1.0, 2.0, 3.0]))
    second = Trainer(database, launch="two")
    second.log(points("loss", [0], [9.0]))
    assert (first.run, first.attempt, second.run, second.attempt) == (first.run, 1, first.run, 2)
    assert [curve.attempt for curve in _chart(first).curves] == [2]
    both = _chart(first, attempts=[1, 2]).curves
    assert [curve.columns["high"] for curve in both] == [[1.0, 2.0, 3.0], [9.0]]


def test_a_range_of_times_shows_what_was_logged_in_it(database: Database) -> None:
    trainer = Trainer(database)
    for at in range(0, 5000, 1000):
        steps = range(at, at + 1000)
        trainer.log(points("loss", steps, [float(step) for step in steps]))
    _fold(trainer)
    found = _chart(trainer, by="time", since=NOON + 1000, until=NOON + 1100)
    columns = found.curves[0].columns
    assert min(columns["low"]) == 1000.0
    assert max(columns["high"]) == 1100.0
    assert _chart(trainer, by="time", since=NOON + 9000).curves == ()


def test_mean_of_huge_values_stays_within_them(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [1] * 3, [1.7e308] * 3))
    assert _chart(trainer).curves[0].columns["mean"] == [1.7e308]


def test_a_chart_of_nothing_is_empty_and_of_no_run_not_found(database: Database) -> None:
    trainer = Trainer(database)
    assert _chart(trainer).curves == ()
    trainer.log(points("loss", [1], [1.0]))
    assert _chart(trainer, "other").curves == ()
    assert _chart(trainer, since=5, until=9).curves == ()
    with pytest.raises(NotFound), database.reading() as session:
        chart(session, "0" * 16, "loss")
    with pytest.raises(BadInput):
        _chart(trainer, buckets=1)


def test_a_fold_that_comes_second_changes_nothing(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [1], [1.0]))
    trainer.log(points("loss", [2], [2.0]))
    with database.reading() as session:
        attempt_id = session.scalars(select(Rank.attempt_id)).one()
        assert session.scalar(select(func.count()).select_from(Waiting))
    assert fold(database, attempt_id, 0)
    assert not fold(database, attempt_id, 0)
    assert not fold(database, attempt_id, 5)
    assert _chart(trainer).curves[0].columns["n"] == [1, 1]


def test_points_come_out_as_csv_in_order_with_words_for_what_is_not_finite(
    database: Database,
) -> None:
    trainer = Trainer(database)
    expected: list[tuple[int, float]] = []
    for at in (3000, 0, 1000):
        steps = list(range(at, at + 1500))
        trainer.log(points("loss", steps, [float(step) for step in steps]))
        _fold(trainer)
        expected += [(step, float(step)) for step in steps]
    trainer.log(points("loss", [2, -1, 9999], [math.nan, -math.inf, 0.1]))
    with database.reading() as session:
        text = b"".join(series.csv_lines(session, trainer.run, "loss")).decode()
    head, *lines = text.splitlines()
    assert head == "attempt,rank,step,time,value"
    assert lines[0] == f"1,0,-1,{NOON - 1:.6f},-inf"
    assert lines[-1] == f"1,0,9999,{NOON + 9999:.6f},0.1"
    assert f"1,0,2,{NOON + 2:.6f},nan" in lines
    steps = [int(line.split(",")[2]) for line in lines]
    assert steps == sorted([*(step for step, _ in expected), -1, 2, 9999])


def test_series_are_listed_with_counts_folded_or_not(database: Database) -> None:
    trainer = Trainer(database)
    trainer.log(points("loss", [1, 5], [1.0, math.nan]), points("lr", [1], [0.1]))
    trainer.log(points("loss", [7], [math.inf]))
    trainer.log(points("loss", [9], [1.0]))
    for _ in range(2):
        with database.reading() as session:
            loss, lr = series.names(session, trainer.run)
        assert (loss.name, loss.points, loss.nan, loss.pos_inf) == ("loss", 4, 1, 1)
        assert (loss.first_step, loss.last_step, loss.ranks) == (1, 9, 1)
        assert (lr.name, lr.points) == ("lr", 1)
        _fold(trainer)
