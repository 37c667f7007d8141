"""Which samples a step used, as a script tells and as the server gets it."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.blame import MAX_STEPS, MAX_USED, Batches, Outcome, Verdict
from sickbay.contract.event import MAX_BYTES, Event, Failure
from sickbay.contract.event_batch import from_json
from sickbay.contract.paths import SamplePath
from sickbay.contract.report import Change, Passed, Report, Stage
from sickbay.trainer.used import MOST_WAITING, Waiting

STEPS = st.lists(
    st.tuples(
        st.integers(-9, 99),
        st.lists(st.sampled_from(["a.jpg", "b/c.jpg", b"\xff.jpg", "猫.png"]), max_size=5),
        st.booleans(),
    ),
    max_size=9,
    unique_by=lambda told: told[0],
)


def steps_of(bodies: Iterator[Batches]) -> list[tuple[int, list[str], list[float]]]:
    found = []
    for body in bodies:
        at = 0
        for step, count in zip(body.steps, body.counts, strict=True):
            places = body.samples[at : at + count]
            losses = list(body.losses[at : at + count]) or [math.nan] * count
            found.append((step, [body.paths[place].path for place in places], losses))
            at += count
    return found


@given(STEPS)
def test_steps_come_back_as_they_were_told(told: list[tuple[int, list[str | bytes], bool]]) -> None:
    waiting = Waiting()
    for step, samples, with_losses in told:
        losses = [float(at) for at in range(len(samples))] if with_losses else None
        assert waiting.put(step, samples, losses)
    found = steps_of(waiting.take())
    assert [(step, len(paths)) for step, paths, _ in found] == [
        (step, len(samples)) for step, samples, _ in told
    ]
    for (_, samples, with_losses), (_, paths, losses) in zip(told, found, strict=True):
        assert paths == [SamplePath(os.fsencode(one)).text for one in samples]
        for at, loss in enumerate(losses):
            assert loss == at if with_losses else math.isnan(loss)


def test_many_steps_of_long_paths_stay_within_what_an_event_may_hold() -> None:
    waiting = Waiting()
    for step in range(MAX_STEPS + 10):
        paths = [f"{step:05}/{number:03}/{'x' * 100}.jpg" for number in range(64)]
        assert waiting.put(step, paths, [0.123456789] * 64)
    events = [Event(1, 0, 1.0, body) for body in waiting.take()]
    assert max(len(event.to_line()) for event in events) < MAX_BYTES
    assert all(from_json(event.to_json()).body for event in events)


def test_what_waits_is_bounded_and_a_step_too_large_is_refused() -> None:
    waiting = Waiting()
    assert not waiting.put(0, ["a"] * (MAX_USED + 1), None)
    step = ["a"] * MAX_USED
    most = MOST_WAITING // MAX_USED
    assert all(waiting.put(number, step, None) for number in range(most))
    assert not waiting.put(most, step, None)
    assert len(list(waiting.take())) == most
    assert waiting.put(most, step, None)


def test_a_step_that_is_told_twice_is_sent_once_with_its_losses() -> None:
    waiting = Waiting()
    for losses in (None, [1.0, 2.0], None):
        assert waiting.put(7, ["a", "b"], losses)
    assert steps_of(waiting.take()) == [(7, ["a", "b"], [1.0, 2.0])]
    assert waiting.put(7, ["a", "b"], None)
    assert list(waiting.take()) == []
    assert waiting.put(7, ["a", "b"], [1.0, 3.0])
    assert waiting.put(7, ["c"], None)
    assert steps_of(waiting.take())[0] == (7, ["a", "b"], [1.0, 3.0])


def test_samples_verdicts_changes_and_reports_arrive(online: Ward, tmp_path: Path) -> None:
    ref = "0123456789abcdef"
    with sickbay.init("blame", root=tmp_path) as run:
        run.seen(3, [tmp_path / "a.jpg", tmp_path / "b" / "c.jpg"], [0.5, math.inf])
        run.failure("loss-spike", step=3, ref=ref)
        run.verdict(ref, "reproduced-alone", [{"path": tmp_path / "a.jpg", "loss": 9}], forwards=4)
        run.change("learning-rate", 0.1, 0.05, "the loss went up", step=4)
        run.report(Report("Triage", Passed.FAILED, (Stage("one batch", Passed.FAILED),)))
    (used,), (failed,), (found,) = online.of(Batches), online.of(Failure), online.of(Verdict)
    assert [sample.path for sample in used.paths] == ["a.jpg", "b/c.jpg"]
    assert list(used.losses) == [0.5, math.inf]
    assert (failed.ref, found.failure, found.outcome) == (ref, ref, Outcome.REPRODUCED_ALONE)
    assert (found.samples[0].path, found.forwards) == ("a.jpg", 4)
    (change,), (report,) = online.of(Change), online.of(Report)
    assert (change.before, change.after, change.step) == ("0.1", "0.05", 4)
    assert report.stages[0].name == "one batch"


def test_what_makes_no_sense_costs_nothing_else(online: Ward) -> None:
    with sickbay.init("odd") as run:
        run.seen("soon", ["a.jpg"])  # type: ignore[arg-type]
        run.seen(1, 5)  # type: ignore[arg-type]
        run.seen(2, ["a.jpg"], object())
        run.verdict("0" * 16, "guilty")
        run.change(object())  # type: ignore[arg-type]
        run.log({"loss": 1.0}, step=0)
    assert online.points("loss") == [(0, 1.0)]
    assert online.of(Verdict) == []
    assert not online.rejected
