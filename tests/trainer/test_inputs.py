"""The tensors that a batch really holds."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from tests.trainer.ward import Ward, answered

import sickbay.trainer as sickbay
from sickbay.contract.blame import Batches
from sickbay.contract.event import Failure
from sickbay.trainer.inputs import BatchChecks

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

PATHS = ["a.png", "b.png", "c.png"]


@pytest.fixture
def job(online: Ward, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:  # noqa: ARG001 (its server)
    """A run."""
    monkeypatch.setattr(sickbay, "_current", sickbay.Run(None))
    run = sickbay.init("checked")
    answered(run)
    yield run
    run.finish()


def _batch(**changes: Any) -> dict[str, Any]:
    return {"x": torch.rand(3, 3, 8, 8), "label": torch.tensor([0, 1, 2]), **changes}


def _told(online: Ward, job: Any) -> list[tuple[str, list[str], int | None]]:
    job.finish()
    return [
        (told.what.value, [one.path for one in told.samples], told.step)
        for told in online.of(Failure)
    ]


def test_a_sound_batch_is_not_mentioned(online: Ward, job: Any) -> None:
    checks = BatchChecks(num_classes=3)
    for step in range(3):
        assert checks.look(_batch(label=torch.tensor([0, -100, 2])), step, PATHS) == ()
    assert _told(online, job) == []


def test_a_value_that_is_not_finite_names_its_sample(online: Ward, job: Any) -> None:
    pictures = torch.rand(3, 3, 8, 8)
    pictures[1, 2, 3, 4] = math.inf
    BatchChecks().look(_batch(x=pictures), 4, PATHS)
    assert _told(online, job) == [("non-finite-input", ["b.png"], 4)]


def test_a_label_that_is_nan_names_its_sample(online: Ward, job: Any) -> None:
    labels = torch.tensor([0.5, 1.5, math.nan])
    BatchChecks().look((torch.rand(3, 2), labels), 4, PATHS)
    assert _told(online, job) == [("non-finite-label", ["c.png"], 4)]


def test_a_label_out_of_range_names_its_sample_and_the_classes(online: Ward, job: Any) -> None:
    (found,) = BatchChecks(num_classes=3).look(_batch(label=torch.tensor([3, 1, -1])), 4, PATHS)
    assert found.message == "label is outside of the classes in 2 of 3 samples (classes are 0 to 2)"
    assert found.detail["labels"] == [-1, 3]
    assert _told(online, job) == [("label-assert", ["a.png", "c.png"], 4)]


@pytest.mark.parametrize(
    "labels",
    [
        torch.tensor([0, 7, 1], dtype=torch.uint8),
        torch.tensor([0, -1, 1], dtype=torch.int8),
        torch.tensor([0.0, 7.0, 1.0]),
        torch.tensor([[0.0], [3.0], [1.0]]),
        torch.tensor([[0, 1], [9, 1], [1, -100]]),
    ],
    ids=["bytes", "signed bytes", "floats", "a column", "tokens"],
)
def test_labels_of_every_type_have_a_range(labels: Any) -> None:
    (found,) = BatchChecks(num_classes=3).look(_batch(label=labels), 0, PATHS)
    assert (found.kind, found.samples) == ("label-assert", ("b.png",))


@pytest.mark.parametrize(
    "labels",
    [
        torch.tensor([True, False, True]),
        torch.nn.functional.one_hot(torch.tensor([0, 1, 2])),
        torch.tensor([[0.2, 0.7, 5.1]] * 3),
        torch.full((3, 2, 2), 255, dtype=torch.uint8),
        torch.full((3, 4), -100),
    ],
    ids=["bools", "one-hot", "many fractions", "void pixels", "ignored"],
)
def test_labels_that_are_no_numbers_of_classes_pass(labels: Any) -> None:
    assert BatchChecks(num_classes=3).look(_batch(label=labels), 0, PATHS) == ()


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (torch.rand(2, 1, 8, 8), "x is float32 [2, 1, 8, 8], the first was float32 [3, 3, 8, 8]"),
        (torch.zeros(3, 3, 8, 8, dtype=torch.uint8), "x is uint8"),
        (torch.rand(3, 192), "x is float32 [3, 192]"),
    ],
)
def test_a_batch_unlike_the_first_is_told(job: Any, second: Any, words: str) -> None:
    checks = BatchChecks()
    checks.look(_batch(), 0, PATHS)
    (found,) = checks.look(_batch(x=second), 1, PATHS)
    assert job.begun
    assert found.kind == "shape-mismatch"
    assert found.message.startswith(words)


def test_padded_texts_and_a_short_last_batch_are_no_mismatch() -> None:
    checks = BatchChecks()
    for length, width in ((3, 7), (3, 9), (1, 2)):
        assert checks.look({"ids": torch.ones(length, width, dtype=torch.int64)}) == ()
        assert checks.look({"x": torch.rand(length, 3)}) == ()


def test_a_large_sum_is_no_infinity() -> None:
    assert BatchChecks().look((torch.full((4, 4), 3e38), torch.zeros(4)), 0) == ()


def test_a_sample_is_told_once_for_each_kind(online: Ward, job: Any) -> None:
    checks = BatchChecks()
    for step in range(5):
        checks.look((torch.full((1, 2), math.nan), torch.zeros(1)), step, ["a.png"])
    assert _told(online, job) == [("non-finite-input", ["a.png"], 0)]


def test_on_a_device_nothing_is_waited_for_until_the_interval_is_over(
    online: Ward, job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No device here: the CPU is taken for one, and reading from it is counted."""
    waited: list[int] = []
    cpu = torch.Tensor.cpu

    def counted(tensor: Any) -> Any:
        waited.append(1)
        return cpu(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    monkeypatch.setattr("sickbay.trainer.inputs._on_cpu", lambda _: False)
    checks = BatchChecks(check_interval=4)
    for step in range(3):
        pictures = torch.rand(3, 4)
        pictures[step, 0] = math.nan
        assert checks.look((pictures, torch.tensor([0, 1, 2])), step, PATHS) == ()
    assert waited == []
    found = checks.look((torch.rand(3, 4), torch.tensor([0, 1, 2])), 3, PATHS)
    assert [(one.step, one.samples) for one in found] == [
        (0, ("a.png",)),
        (1, ("b.png",)),
        (2, ("c.png",)),
    ]
    assert len(_told(online, job)) == 3


def test_what_is_no_batch_harms_nobody() -> None:
    for odd in (None, 3, "text", [], {"x": []}, [[["deep"]]], torch.zeros(()), object()):
        assert BatchChecks(num_classes=2).look(odd, 0) == ()


@pytest.mark.parametrize("first", ["checks", "watch", "device"])
def test_what_a_watch_sees_as_well_is_one_failure_the_watch_s(
    online: Ward, job: Any, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if first == "device":
        monkeypatch.setattr("sickbay.trainer.inputs._on_cpu", lambda _: False)
    checks, watch = BatchChecks(check_interval=2), sickbay.Watch(job, check_interval=5)
    for step in range(7):
        x, y = torch.rand(3, 2), torch.zeros(3)
        if step == 3:
            x[1, 0] = math.nan
        with watch.step(step, samples=PATHS):
            if first == "watch":
                watch.inputs(x, y)
            checks.look((x, y), step, PATHS)
            if first != "watch":
                watch.inputs(x, y)
            watch.observe(1.0)
    assert _told(online, job) == [("non-finite-input", ["b.png"], 3)]


def test_a_loss_follows_from_the_input_that_the_checks_saw(online: Ward, job: Any) -> None:
    checks = BatchChecks()
    found: list[Any] = []
    watch = sickbay.Watch(job, check_interval=1, on_anomaly=found.append)
    for step in range(4):
        x, y = torch.rand(3, 2), torch.zeros(3)
        if step == 2:
            x[1, 0] = math.nan
        checks.look((x, y), step, PATHS)
        with watch.step(step, samples=PATHS):
            watch.observe(x.sum())
    checks.finish()
    assert [(one.kind.value, one.samples) for one in found] == [("non-finite-input", ("b.png",))]
    assert _told(online, job) == [("non-finite-input", ["b.png"], 2)]


def test_a_sample_that_a_watch_finds_again_in_another_step_is_told_again(
    online: Ward, job: Any
) -> None:
    checks, watch = BatchChecks(), sickbay.Watch(job, check_interval=1)
    bad = torch.full((1, 2), math.nan)
    for step in range(2):
        checks.look((bad, torch.zeros(1)), step, ["a.png"])
        with watch.step(step, samples=["a.png"]):
            watch.inputs(bad)
            watch.observe(1.0)
    assert [step for _, _, step in _told(online, job)] == [0, 1]


def test_a_plain_loop_tells_which_samples_each_step_used(online: Ward, job: Any) -> None:
    from torch.utils.data import DataLoader  # noqa: PLC0415 (torch may be absent)

    data = sickbay.Traced([(torch.rand(2), index % 2) for index in range(6)], paths=list("abcdef"))
    checks = BatchChecks(num_classes=1)
    loader = DataLoader(data, batch_size=4, collate_fn=data.collate())
    assert [step for step, _ in sickbay.steps(loader, 10, checks=checks)] == [10, 11]
    assert _told(online, job) == [
        ("label-assert", ["b", "d"], 10),
        ("label-assert", ["f"], 11),
    ]
    used = online.of(Batches)
    assert [step for body in used for step in body.steps] == [10, 11]
    assert [one.path for body in used for one in body.paths] == list("abcdef")
