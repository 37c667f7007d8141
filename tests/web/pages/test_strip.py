"""From a point of a curve to the samples of its step, and from a sample back to the curve."""

import math
import re
from array import array
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from tests import scanned
from tests.runs.sending import Trainer, failure, points
from tests.web.pages.desk import PAGE, Desk, text_of

from sickbay.accounts.tables import Role
from sickbay.contract.blame import Batches, Outcome, Sample, Verdict
from sickbay.contract.event import FailureKind
from sickbay.contract.report import Change, Passed, Report, Stage

REF = "0123456789abcdef"
BAD, COMPANY = scanned.SOUND[0], scanned.SOUND[1]


@pytest.fixture
def trainer(desk: Desk) -> Trainer:
    """A run with a spike at step 7, whose verdict blames one sample."""
    made = Trainer(desk.database, dataset=scanned.NAME)
    used = Batches(
        array("q", [7]),
        array("q", [2]),
        array("q", [0, 1]),
        (Sample(COMPANY), Sample(BAD)),
        array("d", [0.25, 88.5]),
    )
    fault = failure(
        "",
        what=FailureKind.LOSS_SPIKE,
        exception_type="",
        ref=REF,
        step=7,
        samples=(Sample(BAD, loss=88.5), Sample(COMPANY, loss=0.25)),
    )
    made.log(points("train/loss", range(20), [1.0] * 20), used, fault)
    made.log(Verdict(REF, Outcome.REPRODUCED_ALONE, (Sample(BAD, loss=88.5),), 4))
    return made


def strip(desk: Desk, trainer: Trainer, **query: str | int) -> str:
    asked = {"attempt": 1, "step": 7, **query}
    return desk.client.get(f"/runs/{trainer.run}/samples", params=asked, headers=PAGE).text


def test_the_strip_names_the_samples_with_loss_verdict_and_decision(
    desk: Desk, trainer: Trainer
) -> None:
    page = strip(desk, trainer)
    assert page.index(BAD) < page.index(COMPANY)
    for said in ("Samples of step 7", "88.5", "it is the data", "blamed", "Leave out"):
        assert said in page


def test_a_click_on_the_strip_leaves_the_sample_out(desk: Desk, trainer: Trainer) -> None:
    assert desk.sample(BAD).status == "held"
    desk.decide(BAD, "exclude")
    page = strip(desk, trainer)
    assert desk.sample(BAD).status == "excluded"
    assert "Excluded" in page


def test_who_may_only_look_sees_the_samples_and_no_way_to_decide(
    desk: Desk, trainer: Trainer, visitor: Callable[[Role], TestClient]
) -> None:
    looker = visitor(Role.VIEWER)
    page = looker.get(f"/runs/{trainer.run}?step=7&attempt=1", headers=PAGE).text
    assert BAD in page
    assert "it is the data" in page
    assert 'name="action"' not in page
    assert 'id="undo"' not in page
    assert 'id="undo"' in desk.client.get(f"/runs/{trainer.run}", headers=PAGE).text


def test_a_step_nobody_recorded_says_how_to_record_it(desk: Desk, trainer: Trainer) -> None:
    other = Trainer(desk.database, name="bare")
    other.log(points("loss", [1], [1.0]))
    assert "run.seen(step, paths)" in strip(desk, other)
    assert "step 12 was not recorded, this is the nearest that was" in strip(desk, trainer, step=12)


def test_the_runs_page_shows_the_strip_without_scripts_too(desk: Desk, trainer: Trainer) -> None:
    page = desk.client.get(f"/runs/{trainer.run}?step=7&attempt=1", headers=PAGE)
    assert "Samples of step 7" in text_of(page)
    assert "Samples of step" not in text_of(desk.client.get(f"/runs/{trainer.run}", headers=PAGE))


def test_a_samples_page_leads_back_to_the_curve(desk: Desk, trainer: Trainer) -> None:
    sample = desk.sample(BAD)
    page = desk.get(f"/samples/{sample.id}")
    assert f'href="/runs/{trainer.run}?step=7&amp;attempt=1&amp;rank=0#samples"' in page.text
    said = text_of(page)
    assert "Seen in training" in said
    assert "it is the data" in said
    assert "and does it again by itself" in said


@pytest.mark.parametrize("odd", [50.0, math.nan])
def test_what_stands_out_of_a_curve_leads_to_the_rank_it_comes_from(desk: Desk, odd: float) -> None:
    made = Trainer(desk.database, name="two ranks", dataset=scanned.NAME)
    other = Trainer(desk.database, name="two ranks", dataset=scanned.NAME, rank=1)
    made.log(points("loss", range(60), [1.0] * 60))
    other.log(points("loss", range(60), [*[1.0] * 40, odd, *[1.0] * 19]))
    page = desk.client.get(f"/runs/{made.run}", headers=PAGE).text
    assert 'href="?step=40&amp;attempt=1&amp;rank=1#samples"' in page


def test_the_queue_says_of_its_first_samples_how_often_training_failed_on_them(
    desk: Desk, trainer: Trainer
) -> None:
    for step in (8, 9):
        trainer.log(failure("cut", step=step, samples=(Sample(scanned.CUT[9]),)))
    tiles = re.findall(r'data-path="(.*?)".*?</li>', desk.get("/review").text, re.DOTALL)
    assert tiles[:2] == [scanned.CUT[9], BAD]
    said = text_of(desk.get("/review"))
    assert said.index("failed 2 times in training") < said.index("failed once in training")
    assert said.count(" in training block") == 2


def test_hostile_paths_of_a_trainer_are_text(desk: Desk) -> None:
    made = Trainer(desk.database, name="<b>run</b>", dataset=scanned.NAME)
    path = '"><img src=x onerror=alert(1)>.jpg'
    used = Batches(array("q", [1]), array("q", [1]), array("q", [0]), (Sample(path),))
    made.log(points("loss", [1], [1.0]), used)
    page = strip(desk, made, step=1)
    assert "<img src=x" not in page
    assert "It is no sample of the data set." in page


def test_changes_and_reports_of_a_run_are_told_on_its_page(desk: Desk, trainer: Trainer) -> None:
    stages = (
        Stage("one batch, no workers", Passed.PASSED),
        Stage("one forward", Passed.FAILED, "Sizes 3 and 4 do not fit."),
    )
    trainer.log(
        Change("learning-rate", "0.1", "0.05", "the loss went up", 9),
        Report("Triage", Passed.FAILED, stages, "model", "shape mismatch", "Look at the head."),
    )
    said = text_of(desk.client.get(f"/runs/{trainer.run}", headers=PAGE))
    assert "Learning rate" in said
    assert "0.1 → 0.05. the loss went up" in said
    assert "Model, shape mismatch" in said
    assert "What to do. Look at the head." in said
    assert "passed one batch, no workers failed one forward Sizes 3 and 4 do not fit." in said
