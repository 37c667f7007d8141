"""The writers, loggers and callbacks that people have already.

Lightning and Transformers are not installed here; a few lines stand in for the base classes that
theirs are derived from, which is all of them that the drop-ins touch.
"""

import importlib
import logging
import math
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.event import About, Ending, Facts, Failure, Finish
from sickbay.trainer.tensorboard import SummaryWriter


@pytest.fixture(autouse=True)
def alone(online: Ward, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ward]:
    """No run from another test is the current one."""
    monkeypatch.setattr(sickbay, "_current", sickbay.Run(None))
    yield online
    sickbay.finish()


def test_a_summary_writer_writes_curves(online: Ward) -> None:
    with SummaryWriter("runs/resnet") as writer:
        writer.add_scalar("train/loss", 0.5, global_step=3)
        writer.add_scalar("train/loss", math.nan, 4, walltime=1234.5)
        writer.add_scalars("acc", {"train": 0.5, "val": 0.25}, 3)
        writer.add_hparams({"lr": 0.1}, {"hparam/acc": 0.75})
        writer.flush()
    assert online.openings[0].name == "resnet"
    assert online.points("train/loss")[0] == (3, 0.5)
    assert [online.points(f"acc/{name}") for name in ("train", "val")] == [[(3, 0.5)], [(3, 0.25)]]
    config = [facts.values for facts in online.of(Facts) if facts.about is About.CONFIG]
    assert config == [{"lr": 0.1}]
    assert online.of(Finish)[0].ending is Ending.FINISHED


def test_what_a_summary_writer_adds_besides_is_left_out_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "sickbay"):
        writer = SummaryWriter()
        for _ in range(3):
            writer.add_histogram("weights", [1, 2, 3], 1)
        writer.close()
    assert caplog.text.count("add_histogram is left out") == 1
    with pytest.raises(AttributeError):
        writer.nothing()


def test_a_summary_writer_writes_into_the_run_that_there_is(online: Ward) -> None:
    run = sickbay.init("mine")
    with SummaryWriter("runs/other") as writer:
        writer.add_scalar("loss", 1.0, 0)
    run.log({"loss": 2.0}, 1)
    run.finish()
    assert [opening.name for opening in online.openings] == ["mine"]
    assert online.points("loss") == [(0, 1.0), (1, 2.0)]


def test_a_summary_writer_that_is_left_by_an_exception_tells_it(online: Ward) -> None:
    writer = SummaryWriter("runs/failing")
    with pytest.raises(KeyError), writer:
        raise KeyError("label")
    assert online.of(Failure)[0].exception_type == "KeyError"


def _stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **classes: type[Any]) -> None:
    parts = name.split(".")
    for at in range(1, len(parts) + 1):
        module = ModuleType(".".join(parts[:at]))
        module.__dict__.update(classes)
        monkeypatch.setitem(sys.modules, module.__name__, module)


def _dropin(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    monkeypatch.delitem(sys.modules, f"sickbay.trainer.{name}", raising=False)
    return importlib.import_module(f"sickbay.trainer.{name}")


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Our logger, on a stand-in for Lightning's base class."""
    _stand_in(monkeypatch, "lightning.pytorch.callbacks", Callback=type("Callback", (), {}))
    _stand_in(monkeypatch, "lightning.pytorch.loggers", Logger=type("Logger", (), {}))
    return _dropin(monkeypatch, "lightning").SickbayLogger


def test_lightning_logs_metrics_and_hyperparameters(lightning: Any, online: Ward) -> None:
    logger = lightning("resnet", dataset="cells")
    logger.log_hyperparams({"lr": 0.1, "layers": 3})
    logger.log_metrics({"train_loss": 0.5, "epoch": 0}, step=10)
    logger.save()
    logger.finalize("success")
    logger.log_metrics({"test_loss": 0.25}, step=11)
    assert logger.name == "resnet"
    assert logger.experiment.begun
    logger.experiment.finish()
    assert online.openings[0].dataset == "cells"
    assert online.points("train_loss") == [(10, 0.5)]
    assert online.points("test_loss") == [(11, 0.25)]
    assert logger.version is None


@pytest.mark.parametrize(
    ("status", "error", "ending"),
    [
        ("failed", ValueError("bad"), Ending.FAILED),
        ("interrupted", KeyboardInterrupt(), Ending.STOPPED),
    ],
)
def test_lightning_tells_how_it_ended(
    lightning: Any, online: Ward, status: str, error: BaseException, ending: Ending
) -> None:
    logger = lightning("ends")
    try:
        raise error
    except type(error):
        logger.finalize(status)
    assert online.of(Finish)[0].ending is ending
    assert len(online.of(Failure)) == (status == "failed")


@pytest.fixture
def callback(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Our callback, on a stand-in for Transformers' base class."""
    _stand_in(monkeypatch, "transformers", TrainerCallback=type("TrainerCallback", (), {}))
    return _dropin(monkeypatch, "huggingface").SickbayCallback


def _arguments(*, filtering: bool) -> Any:
    return SimpleNamespace(
        logging_nan_inf_filter=filtering,
        run_name="bert",
        to_dict=lambda: {"lr": 0.1, "hub_token": "sesame"},
    )


def test_transformers_logs_numbers_at_the_global_step(callback: Any, online: Ward) -> None:
    state = SimpleNamespace(is_world_process_zero=True, global_step=7)
    told = callback(dataset="reviews")
    told.on_train_begin(_arguments(filtering=False), state, None, model=object())
    told.on_log(None, state, None, logs={"loss": 0.5, "note": "text", "epoch": 1})
    told.on_train_end(None, state, None)
    sickbay.finish()
    (opening,) = online.openings
    assert (opening.name, opening.dataset) == ("bert", "reviews")
    assert opening.config == {"lr": 0.1, "hub_token": "(hidden)"}
    assert online.points("loss") == [(7, 0.5)]
    assert online.of(Finish)[0].dropped == {}


@pytest.mark.parametrize("filtering", [True, False])
def test_transformers_filter_of_bad_losses_is_warned_of(
    callback: Any, caplog: pytest.LogCaptureFixture, *, filtering: bool
) -> None:
    state = SimpleNamespace(is_world_process_zero=True, global_step=0)
    with caplog.at_level(logging.WARNING, "sickbay"):
        callback("bert").on_train_begin(_arguments(filtering=filtering), state, None)
    assert ("logging_nan_inf_filter=False" in caplog.text) is filtering


def test_other_processes_of_transformers_say_nothing(callback: Any, online: Ward) -> None:
    state = SimpleNamespace(is_world_process_zero=False, global_step=0)
    told = callback("bert")
    told.on_train_begin(_arguments(filtering=False), state, None)
    told.on_log(None, state, None, logs={"loss": 1.0})
    assert online.requests == 0


def test_scalars_that_are_none_harm_nobody(online: Ward) -> None:
    with SummaryWriter("runs/odd") as writer:
        writer.add_scalars("loss", None)  # type: ignore[arg-type]  # what scripts do
        writer.add_scalar("loss", 1.0, 0)
    assert online.points("loss") == [(0, 1.0)]
