"""Lightning's and Transformers' callbacks tell which samples each step used.

The frameworks are not installed here; a few lines stand in for their base classes and for the
order in which their trainers call. Data, loaders, models and tensors are real.
"""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.trainer.ward import Ward, answered

import sickbay.trainer as sickbay
from sickbay.contract.blame import Batches
from sickbay.contract.event import Failure
from sickbay.trainer.inputs import BatchChecks

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from torch.utils.data import DataLoader  # noqa: E402 (after torch is known to be there)


@pytest.fixture
def job(online: Ward, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:  # noqa: ARG001 (its server)
    """A run."""
    monkeypatch.setattr(sickbay, "_current", sickbay.Run(None))
    run = sickbay.init("adapted")
    answered(run)
    yield run
    run.finish()


def _adapter(monkeypatch: pytest.MonkeyPatch, name: str, **modules: dict[str, Any]) -> Any:
    for module, classes in modules.items():
        made = ModuleType(module.replace("__", "."))
        made.__dict__.update(classes)
        monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.delitem(sys.modules, f"sickbay.trainer.{name}", raising=False)
    return importlib.import_module(f"sickbay.trainer.{name}").SickbayCallback


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Our callback, on stand-ins for Lightning's base classes."""
    base = type("Base", (), {})
    return _adapter(
        monkeypatch,
        "lightning",
        lightning={},
        lightning__pytorch={},
        lightning__pytorch__callbacks={"Callback": base},
        lightning__pytorch__loggers={"Logger": base},
    )


@pytest.fixture
def huggingface(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Our callback, on a stand-in for Transformers' base class."""
    base = type("TrainerCallback", (), {})
    return _adapter(monkeypatch, "huggingface", transformers={"TrainerCallback": base})


def _used(online: Ward) -> dict[int, list[str]]:
    used: dict[int, list[str]] = {}
    for body in online.of(Batches):
        at = 0
        for step, count in zip(body.steps, body.counts, strict=True):
            places = body.samples[at : at + count]
            used[step] = [body.paths[place].path for place in places]
            at += count
    return used


class Module:
    """Moves a batch as Lightning does: what arrives on the device are new tensors."""

    def transfer_batch_to_device(self, batch: Any, device: str, _: int) -> Any:
        return tuple(part.clone() for part in batch) if device == "cuda" else batch


def _fit(callback: Any, loader: Any, *, accumulate: int = 1, fail_at: int = -1) -> None:
    trainer = SimpleNamespace(
        global_step=0, accumulate_grad_batches=accumulate, train_dataloader=loader, current_epoch=2
    )
    module = Module()
    callback.setup(trainer, module, "fit")
    callback.on_train_epoch_start(trainer, module)
    for place, batch in enumerate(loader):
        moved = module.transfer_batch_to_device(batch, "cuda", 0)
        callback.on_train_batch_start(trainer, module, moved, place)
        if place == fail_at:
            callback.on_exception(trainer, module, RuntimeError("in forward"))
            return
        if place % accumulate == accumulate - 1:
            callback.on_before_optimizer_step(trainer, module, None)
            trainer.global_step += 1
    callback.on_train_epoch_end(trainer, module)


def _traced(count: int = 8, **changes: Any) -> Any:
    items = [(torch.rand(2), torch.tensor(index % 2)) for index in range(count)]
    for place, item in changes.items():
        items[int(place.removeprefix("at_"))] = item
    return sickbay.Traced(items, paths=[f"{index}.png" for index in range(count)])


def _loader(data: Any, size: int = 2) -> Any:
    return DataLoader(data, batch_size=size, collate_fn=data.collate(tuple_of))


def tuple_of(items: list[Any]) -> tuple[Any, ...]:
    """Put a batch into a tuple."""
    return tuple(torch.stack(part) for part in zip(*items, strict=True))


def test_lightning_tells_the_samples_of_batches_that_moved_to_the_device(
    lightning: Any, online: Ward, job: Any
) -> None:
    _fit(lightning(), _loader(_traced(6)))
    job.finish()
    assert _used(online) == {0: ["0.png", "1.png"], 1: ["2.png", "3.png"], 2: ["4.png", "5.png"]}


def test_lightning_tells_all_batches_of_a_step_that_accumulates(
    lightning: Any, online: Ward, job: Any
) -> None:
    _fit(lightning(), _loader(_traced(8)), accumulate=2)
    job.finish()
    assert _used(online) == {
        0: ["0.png", "1.png", "2.png", "3.png"],
        1: ["4.png", "5.png", "6.png", "7.png"],
    }


def test_lightning_tells_what_a_batch_holds_and_an_exception_with_its_samples(
    lightning: Any, online: Ward, job: Any
) -> None:
    data = _traced(8, at_3=(torch.full((2,), float("nan")), torch.tensor(0)))
    _fit(lightning(checks=BatchChecks()), _loader(data), fail_at=2)
    job.finish()
    told = [(one.what.value, one.step, [s.path for s in one.samples]) for one in online.of(Failure)]
    assert told == [
        ("non-finite-input", 1, ["3.png"]),
        ("other", 2, ["4.png", "5.png"]),
    ]


class Model(torch.nn.Module):  # type: ignore[misc]  # torch may be absent
    """A model as Transformers' are called; anything it does not know is refused."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: Any, labels: Any = None) -> Any:
        return torch.nn.functional.cross_entropy(self.linear(x), labels)


def keyed(items: list[Any]) -> dict[str, Any]:
    """Put a batch into a mapping."""
    return dict(zip(("x", "labels"), tuple_of(items), strict=True))


@pytest.mark.parametrize("workers", [0, 2])
def test_transformers_tells_the_samples_of_each_call_of_the_model(
    huggingface: Any, online: Ward, job: Any, workers: int
) -> None:
    data, callback, model = _traced(6), huggingface(checks=BatchChecks(num_classes=2)), Model()
    collate = callback.collate(data, keyed)
    state = SimpleNamespace(is_world_process_zero=True, global_step=0)
    arguments = SimpleNamespace(gradient_accumulation_steps=1)
    callback.on_train_begin(arguments, state, None, model=model)
    callback.on_train_begin(arguments, state, None, model=model)
    for batch in DataLoader(data, batch_size=2, collate_fn=collate, num_workers=workers):
        callback.on_step_begin(arguments, state, None)
        elsewhere = {
            key: getattr(part, "clone", lambda part=part: part)() for key, part in batch.items()
        }
        model(**elsewhere).backward()
        callback.on_pre_optimizer_step(arguments, state, None)
        state.global_step += 1
    model.eval()
    model(**next(iter(DataLoader(data, batch_size=6, collate_fn=collate))))
    job.finish()
    assert _used(online) == {1: ["0.png", "1.png"], 2: ["2.png", "3.png"], 3: ["4.png", "5.png"]}
    assert online.of(Failure) == []


def test_transformers_batches_are_left_alone_where_no_training_has_begun(
    huggingface: Any, job: Any
) -> None:
    data, callback = _traced(2), huggingface()
    (batch,) = DataLoader(data, batch_size=2, collate_fn=callback.collate(data, keyed))
    assert job.begun
    assert list(batch) == ["x", "labels"]
