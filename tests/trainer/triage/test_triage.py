"""What triage is given, what it leaves as it was, and where its report goes."""

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra trainer")

import torch
from tests.trainer.triage.sound import Cells, cells, classifier, line
from tests.trainer.ward import Ward
from torch import nn
from torch.utils.data import DataLoader

import sickbay.trainer as sickbay
from sickbay.contract.errors import BadInput
from sickbay.contract.report import Passed, Report
from sickbay.trainer import TriageJob, triage


class Kept(Cells):
    """A data set that hands out what it keeps, and a model that works in place on it."""

    def __init__(self) -> None:
        super().__init__(32)
        self.held = [super(Kept, self).__getitem__(index) for index in range(32)]

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.held[index]


def in_place() -> nn.Sequential:
    return nn.Sequential(nn.LeakyReLU(0.5, inplace=True), *classifier())


def states(job: TriageJob) -> list[Any]:
    return copy.deepcopy([
        job.model.state_dict(),
        [one.grad for one in job.model.parameters()],
        [one.training for one in job.model.modules()],
        [one.requires_grad for one in job.model.parameters()],
        job.optimizer.state_dict(),
        job.scheduler.state_dict(),
        torch.get_rng_state(),
        random.getstate(),
    ])  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("training", [True, False])
def test_nothing_of_the_job_is_changed(*, training: bool) -> None:
    data, model = Kept(), in_place()
    held = copy.deepcopy(data.held)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    job = cells(
        model,
        DataLoader(data, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(3)),
        optimizer=optimizer,
        scheduler=torch.optim.lr_scheduler.StepLR(optimizer, 5),
        batch_size=None,
    )
    model(torch.randn(4, 3, 8, 8)).sum().backward()
    optimizer.step()
    model.train(training)
    before, drawn = states(job), job.data.generator.get_state()
    report = triage(job, workers=1)
    assert report.outcome is Passed.PASSED, report
    assert same(before, states(job))
    assert same(held, data.held)
    assert torch.equal(drawn, job.data.generator.get_state())


def test_a_failed_stage_leaves_it_unchanged_too() -> None:
    model = classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    job = cells(model, optimizer=optimizer, scheduler=scheduler)
    before = states(job)
    assert triage(job, workers=0).outcome is Passed.FAILED
    assert same(before, states(job))


def test_the_stages_behind_the_one_that_fails_are_not_reached() -> None:
    report = triage(cells(nn.Linear(1, 1)), workers=0)
    outcomes = {one.name: one.outcome for one in report.stages}
    assert outcomes["batch contents"] is Passed.PASSED
    assert outcomes["forward"] is Passed.FAILED
    behind = list(outcomes)[list(outcomes).index("forward") + 1 :]
    assert behind == ["loss", "backward", "a few steps", "mixed precision", "export"]
    assert {outcomes[name] for name in behind} == {Passed.SKIPPED}


@dataclass
class Theirs:
    """A job as somebody else writes it down."""

    data: Any
    model: Any
    criterion: Any
    optimizer: Any


def test_a_job_may_be_another_dataclass() -> None:
    job = line()
    made = Theirs(job.data, job.model, job.criterion, job.optimizer)
    assert triage(made, workers=0).outcome is Passed.PASSED


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a number": (lambda: 7, "not a int."),
    "too many": (lambda: (1, 2, 3, 4, 5), "not a tuple of 5."),
    "no model": (lambda: {"data": [1]}, "there is no model."),
    "an unknown part": (lambda: {**vars(Theirs([1], 1, 1, 1)), "lr": 1}, "it has no part lr."),
    "no data set": (lambda: (7, nn.Linear(1, 1)), "its data are a int, which is no data set."),
    "no module": (lambda: ([1], len), "its model is a builtin_function_or_method"),
    "no criterion": (lambda: ([1], nn.Linear(1, 1), 3), "a int, which cannot be called."),
    "no optimizer": (lambda: ([1], nn.Linear(1, 1), None, 3), "which has no param_groups."),
    "a loss that is not known": (lambda: cells(known_good="best"), "squared-error, not best."),
    "a precision": (lambda: cells(precision="int8"), "precision is bfloat16 or float16, not int8."),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_job_is_refused_in_one_sentence(wrong: str) -> None:
    made, words = WRONG[wrong]
    with pytest.raises(BadInput) as refused:
        triage(made(), workers=0)
    assert refused.value.sentence.endswith(words) or words in refused.value.sentence
    assert "\n" not in refused.value.sentence


def test_a_model_that_cannot_be_copied_is_refused_and_made_by_a_function_taken() -> None:
    class Uncopied(nn.Linear):
        def __deepcopy__(self, _: Any) -> Any:
            raise TypeError("there is one of me")

    def job() -> TriageJob:
        model = Uncopied(4, 1)
        made = line()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        return TriageJob(made.data, model, made.criterion, optimizer)

    with pytest.raises(BadInput, match="give it a function that makes the job"):
        triage(job(), workers=0)
    assert triage(job, workers=0).outcome is Passed.PASSED


def test_a_device_that_there_is_not_is_refused() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(BadInput, match="There is no CUDA device here"):
        triage(cells(), workers=0, device="cuda")


def test_the_report_goes_to_the_run_that_is_there(online: Ward) -> None:
    with sickbay.init("cells"):
        report = triage(cells(nn.Linear(1, 1)), workers=0)
    (told,) = online.of(Report)
    assert [one.name for one in told.stages] == [one.name for one in report.stages]
    assert (told.layer, told.category) == ("model", "shape mismatch")
    assert told.advice == report.advice
