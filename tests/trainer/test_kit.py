"""The kit from the outside: what a script logs is what a server has."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.blame import Sample
from sickbay.contract.event import (
    About,
    Alert,
    Ending,
    Facts,
    Failure,
    FailureKind,
    Finish,
    Level,
    Points,
)
from sickbay.contract.manifest import IN_ID, VERSION
from sickbay.contract.version import COUNTS, FileEntry, Version


def test_what_is_logged_arrives_once_and_in_order(online: Ward, kit: Path) -> None:
    run = sickbay.init("first", dataset="cells", release="ab", config={"lr": 0.1})
    for step in range(1500):
        run.log({"train/loss": 1 / (step + 1), "lr": 0.1}, step=step)
    run.finish()
    assert online.points("train/loss") == [(step, 1 / (step + 1)) for step in range(1500)]
    assert len(online.points("lr")) == 1500
    (opening,) = online.openings
    assert (opening.name, opening.dataset, opening.release) == ("first", "cells", "ab")
    assert opening.config == {"lr": 0.1}
    assert online.of(Finish) == [Finish(Ending.FINISHED, 3000, {})]
    assert not list(kit.iterdir())
    assert not online.rejected


def test_a_root_that_a_release_was_pulled_to_says_which_one_is_trained_on(
    online: Ward, tmp_path: Path
) -> None:
    made = pulled(tmp_path, "cells")
    sickbay.init("silent", root=tmp_path).finish()
    sickbay.init("agrees", dataset="cells", root=tmp_path).finish()
    sickbay.init("another", dataset="moons", root=tmp_path).finish()
    sickbay.init("knows-better", release="ab", root=tmp_path).finish()
    (tmp_path / VERSION).write_bytes(b"{}")
    sickbay.init("none-there", root=tmp_path).finish()
    assert [(opening.dataset, opening.release) for opening in online.openings] == [
        ("cells", made),
        ("cells", made),
        ("moons", None),
        (None, "ab"),
        (None, None),
    ]


def pulled(folder: Path, name: str) -> str:
    """Write what names a release in the folder it was pulled to; return its digest."""
    files = tuple(FileEntry(name, "0" * 64, 0) for name in IN_ID)
    made = Version(name=name, counts=dict.fromkeys(COUNTS, 0), files=files)
    (folder / VERSION).write_bytes(made.to_bytes())
    return made.digest


def test_points_travel_as_columns(online: Ward) -> None:
    with sickbay.init("columns") as run:
        for step in range(100):
            run.log({"loss": 1.0, "lr": 0.1}, step=step)
    assert len(online.of(Points)) <= 10
    assert [len(online.points(series)) for series in ("loss", "lr")] == [100, 100]


def test_numbers_that_json_has_not_arrive_as_what_they_are(online: Ward) -> None:
    with sickbay.init("odd") as run:
        for step, value in enumerate((math.nan, math.inf, -math.inf, 1e308, 5e-324, -0.0)):
            run.log({"loss": value}, step=step)
    assert [repr(value) for _, value in online.points("loss")] == [
        "nan",
        "inf",
        "-inf",
        "1e+308",
        "5e-324",
        "-0.0",
    ]


def test_steps_may_come_in_any_order_and_count_on_where_they_are_not_said(online: Ward) -> None:
    with sickbay.init("steps") as run:
        for step in (5, 3, None, -2, None):
            run.log({"loss": 1.0}, step=step)
    assert [step for step, _ in online.points("loss")] == [5, 3, 4, -2, -1]


class _Odd:
    def __float__(self) -> float:
        return 2.5

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("values", [None, 3, [1], {"a": "text"}, {"a": None}, {"a": [1]}, {"": 1}])
def test_what_is_no_point_is_counted_and_harms_nobody(online: Ward, values: Any) -> None:
    with sickbay.init("refused") as run:
        run.log(values)
        run.log({"loss": 1.0}, step=7)
    assert online.points("loss") == [(7, 1.0)]
    assert online.of(Finish) == [Finish(Ending.FINISHED, 1, {"refused": 1})]


def test_integers_truths_and_whatever_becomes_a_number_are_points(online: Ward) -> None:
    with sickbay.init("kinds") as run:
        run.log({"int": 3, "bool": True, "odd": _Odd(), "huge": 10**400})
    assert [online.points(name) for name in ("int", "bool", "odd")] == [
        [(0, 3.0)],
        [(0, 1.0)],
        [(0, 2.5)],
    ]
    assert online.of(Finish)[0].dropped == {"refused": 1}


def test_one_bad_value_costs_itself_only(online: Ward) -> None:
    with sickbay.init("beside") as run:
        run.log({"before": 1.0, "bad": "text", "after": 2.0}, step=3)
    assert online.points("before") == [(3, 1.0)]
    assert online.points("after") == [(3, 2.0)]
    assert online.of(Finish)[0].dropped == {"refused": 1}


def test_odd_names_of_series_are_made_ones_that_the_server_takes(online: Ward) -> None:
    with sickbay.init("names") as run:
        run.log({"a\nb": 1.0, "x" * 600: 2.0, 3: 3.0, "\ud800": 4.0, "日本": 5.0}, step=0)  # type: ignore[dict-item]  # what scripts do
    assert online.points("a b") == [(0, 1.0)]
    assert online.points("3") == [(0, 3.0)]
    assert online.points("日本") == [(0, 5.0)]
    assert online.of(Finish)[0].points == 5
    assert not online.rejected


def test_a_mapping_may_be_used_again_after_the_call(online: Ward) -> None:
    values = {"loss": 1.0}
    with sickbay.init("again") as run:
        for step in range(3):
            values["loss"] = float(step)
            run.log(values, step=step)
    assert online.points("loss") == [(0, 0.0), (1, 1.0), (2, 2.0)]


def test_the_functions_of_the_module_speak_for_the_current_run(online: Ward) -> None:
    sickbay.init("module")
    sickbay.log({"loss": 1.0}, step=1)
    sickbay.alert("High", "very", "ERROR")
    sickbay.failure("loss_spike", value=3.0, step=1)
    sickbay.finish()
    sickbay.log({"loss": 2.0}, step=2)
    assert online.points("loss") == [(1, 1.0)]
    assert online.of(Alert) == [Alert("High", "very", Level.ERROR, 1)]
    (failure,) = online.of(Failure)
    assert (failure.what, failure.value, failure.step) == (FailureKind.LOSS_SPIKE, 3.0, 1)


def test_an_exception_that_leaves_the_block_is_told_and_goes_on(online: Ward) -> None:
    run = sickbay.init("failing")
    run.log({"loss": 1.0}, step=41)
    with pytest.raises(IndexError, match="out of bounds"), run:
        raise IndexError("Target 10 is out of bounds.")
    (failure,) = online.of(Failure)
    assert failure.what is FailureKind.LABEL_ASSERT
    assert (failure.exception_type, failure.message) == (
        "IndexError",
        "Target 10 is out of bounds.",
    )
    assert "test_kit.py" in failure.traceback
    assert failure.step == 41
    assert failure.host
    assert online.of(Finish)[0].ending is Ending.FAILED


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (KeyboardInterrupt(), Ending.STOPPED),
        (SystemExit(0), Ending.FINISHED),
        (SystemExit(3), Ending.FAILED),
    ],
)
def test_leaving_on_purpose_is_no_failure(
    online: Ward, error: BaseException, ending: Ending
) -> None:
    with pytest.raises(type(error)), sickbay.init("leaving"):
        raise error
    assert online.of(Failure) == []
    assert online.of(Finish)[0].ending is ending


def test_a_failure_names_its_samples_below_the_root(online: Ward, tmp_path: Path) -> None:
    with sickbay.init("samples", root=tmp_path) as run:
        run.failure(
            "non-finite-loss",
            samples=[
                tmp_path / "train" / "a.jpg",
                {"path": "train/b.jpg", "loss": math.nan, "index": 4},
                "../elsewhere/c.jpg",
            ],
            value=math.inf,
            gradient_norm=3.5,
            rule={"name": "finite", "version": 1},
            window=[1.0, math.nan],
            sampler="shuffled",
        )
    (failure,) = online.of(Failure)
    assert [sample.path for sample in failure.samples] == [
        "train/a.jpg",
        "train/b.jpg",
        "elsewhere/c.jpg",
    ]
    assert failure.samples[1].index == 4
    assert math.isnan(failure.samples[1].loss)
    assert failure.value == math.inf
    assert failure.rule == {"name": "finite", "version": 1}
    assert math.isnan(failure.window[1])
    assert failure.detail == {"sampler": "shuffled"}


def test_a_failure_of_a_thousand_long_names_still_fits_into_a_batch(online: Ward) -> None:
    with sickbay.init("long") as run:
        run.failure("other", samples=["d/" * 1500 + f"{n}.jpg" for n in range(1000)])
    (failure,) = online.of(Failure)
    assert len(failure.samples) > 10
    assert not online.rejected


def test_nonsense_in_a_failure_is_left_out(online: Ward) -> None:
    with sickbay.init("nonsense") as run:
        run.failure("no-such-kind", step="soon", value="high", message="x\0y\ud800", window=None)
        run.failure(samples=[Sample("a.jpg")], detail={"deep": object()})
    first, second = online.of(Failure)
    assert [first.what, second.what] == [FailureKind.OTHER] * 2
    assert "left out" in first.detail
    assert second.samples == (Sample("a.jpg"),)


def test_facts_of_the_attempt_follow_the_opening(online: Ward) -> None:
    with sickbay.init("facts") as run:
        run.config({"batch": 4})
    facts = {fact.about: fact.values for fact in online.of(Facts)}
    assert facts[About.CONFIG] == {"batch": 4}
    assert {"python", "host", "packages", "command"} <= set(facts[About.ENVIRONMENT])
    assert "pytest" in facts[About.ENVIRONMENT]["packages"]


def test_a_run_that_is_disabled_takes_nothing(
    online: Ward, kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICKBAY_MODE", "disabled")
    with sickbay.init("disabled") as run:
        run.log({"loss": 1.0})
        run.alert("title")
        assert not run.begun
    assert online.requests == 0
    assert not kit.exists()


def test_the_servers_answer_is_on_the_run(online: Ward) -> None:
    run = sickbay.init("answer")
    run.log({"loss": 1.0})
    while run.url is None:
        pass
    assert run.url == f"{online.url}/runs/answer"
    assert (run.name, run.attempt) == ("answer", 1)
    run.finish()


def test_two_runs_of_one_name_in_one_process_are_two_attempts(online: Ward) -> None:
    for value in (1.0, 2.0):
        with sickbay.init("twice") as run:
            run.log({"loss": value}, step=0)
    assert sorted({attempt for _, attempt, _, _ in online.events}) == [1, 2]
    assert online.points("loss") == [(0, 1.0), (0, 2.0)]


def test_an_alert_of_any_shape_is_taken(online: Ward) -> None:
    with sickbay.init("alerts") as run:
        run.alert("", level="no such level")
        run.alert("x" * 1000, text="y" * 100_000, level="warning")
        run.alert(None, level=None)  # type: ignore[arg-type]  # what scripts do
    alerts = online.of(Alert)
    assert [alert.level for alert in alerts] == [Level.WARN] * 3
    assert all(alert.title for alert in alerts)
    assert not online.rejected


class _Breaking(dict[str, float]):
    """A mapping that another thread changes while it is read."""

    def items(self) -> Any:
        yield ("loss", 1.0)
        raise RuntimeError("dictionary changed size during iteration")


def test_a_mapping_that_breaks_off_costs_what_it_did_not_yield(online: Ward) -> None:
    with sickbay.init("breaking") as run:
        run.log(_Breaking(), step=3)
    assert online.points("loss") == [(3, 1.0)]
    assert online.of(Finish)[-1].dropped == {"refused": 1}


@pytest.mark.parametrize("step", [1 << 70, -(1 << 70), math.inf, math.nan, "three", _Odd()])
def test_a_step_that_is_none_costs_its_own_points_only(online: Ward, step: Any) -> None:
    with sickbay.init("steps") as run:
        run.log({"loss": 1.0}, step=7)
        run.log({"loss": 2.0}, step=step)
        run.log({"loss": 3.0})
    assert online.points("loss") == [(7, 1.0), (8, 3.0)]


class _Untrue(_Odd):
    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")


@pytest.mark.parametrize("argument", ["dataset", "release", "root", "resume", "config"])
def test_an_argument_that_makes_no_sense_does_not_cost_the_run(online: Ward, argument: str) -> None:
    given: dict[str, Any] = {argument: _Untrue()}
    with sickbay.init("\n", **given) as run:
        run.log({"loss": 1.0}, step=0)
    assert online.points("loss") == [(0, 1.0)]
    assert online.openings[0].name == "run"


def test_a_failure_that_is_told_as_an_exception_arrives(online: Ward) -> None:
    with sickbay.init("told") as run:
        run.failure(ValueError("bad"), window=itertools.count(), step=1 << 70)
    (told,) = online.of(Failure)
    assert (told.exception_type, told.message, told.step) == ("ValueError", "bad", None)
    assert not online.rejected


@pytest.mark.parametrize("timeout", [None, "soon", math.nan, -1, math.inf])
def test_a_timeout_that_makes_no_sense_does_not_cost_the_end(online: Ward, timeout: Any) -> None:
    run = sickbay.init("end")
    run.log({"loss": 1.0}, step=0)
    run.finish(timeout=timeout)
    assert online.points("loss") == [(0, 1.0)]
    assert len(online.of(Finish)) == 1


@pytest.mark.parametrize("seed", [1 << 63, (1 << 64) - 1])
def test_a_seed_that_needs_all_64_bits_does_not_cost_the_run(seed: int, online: Ward) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra trainer")
    torch.manual_seed(seed)
    run = sickbay.init("seeded")
    run.log({"loss": 1.0}, step=1)
    run.finish()
    torch.manual_seed(0)
    assert online.points("loss") == [(1, 1.0)]
    assert online.openings[0].seeds["torch"] == str(seed)
