"""Triage finds what was planted in a job, and names stage, layer, category and place."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra trainer")

import torch
from tests.trainer.triage.faulty import (
    Cut,
    Does,
    another_class,
    by,
    cancelled,
    copied_pictures,
    cross_entropy_of,
    dead_in_workers,
    fading,
    in_both,
    last_of_one,
    late_in_workers,
    not_made_yet,
    not_scaled,
    one_channel,
    only_in_workers,
    overflowing,
    root_of_zero,
    spoilt,
    started_workers,
    stretched,
    too_large,
    too_many_classes,
    unreadable,
    upside_down,
    vanishing,
    with_bad_weights,
    with_branch,
    with_frozen,
    with_generators,
    with_layer,
    with_new_head,
    with_old_weights,
    with_part_left_out,
)
from tests.trainer.triage.sound import Cells, cells, line
from torch import nn

from sickbay.contract.report import Passed, Report
from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import Layer
from sickbay.trainer import triage


@dataclass(frozen=True)
class Planted:
    """A fault, and what triage has to say of it."""

    job: Callable[[], Any]
    stage: str
    layer: Layer
    category: Category
    words: tuple[str, ...]


LOADING, SHAPE, CUT_OFF = Category.LOADING, Category.SHAPE, Category.CUT_OFF
DATA, MODEL, TRAINING = Layer.DATA, Layer.MODEL, Layer.TRAINING
FAULTS: dict[str, Planted] = {
    "a sample raises": Planted(
        spoilt(unreadable), "one batch", DATA, LOADING, ("cells/5.png", "truncated")
    ),
    "a sample of another size": Planted(
        spoilt(lambda x, label: (x[:, :4], label)), "one batch", DATA, LOADING,
        ("cells/5.png is 0 float32 (3, 4, 8)", "where most are 0 float32 (3, 8, 8)"),
    ),
    "an empty data set": Planted(lambda: cells(data=Cells(0)), "one batch", DATA, LOADING, ()),
    "raises in workers": Planted(
        spoilt(only_in_workers), "workers", DATA, LOADING,
        ("cells/5.png", "RuntimeError: the database is open"),
    ),
    "dies in workers": Planted(
        spoilt(dead_in_workers), "workers", DATA, LOADING,
        ("With 1 worker the loader, at cells/5.png",),
    ),
    "hangs in workers": Planted(
        spoilt(late_in_workers), "workers", DATA, LOADING, ("cells/5.png", "timed out")
    ),
    "what no worker can send": Planted(
        lambda: cells(collate_fn=with_generators), "workers", DATA, LOADING, ("pickl", "cells/")
    ),
    "a data set that cannot be pickled": Planted(
        started_workers, "workers", DATA, LOADING, ("1 worker", "pickle local object")
    ),
    "weights that are not made yet": Planted(
        not_made_yet, "forward", MODEL, Category.INITIALISATION, ("Parameter 1.weight",)
    ),
    "an input that is not finite": Planted(
        spoilt(lambda x, label: (x / 0, label)), "batch contents", DATA, LOADING,
        ("part 0 of the batch is not finite in 1 of 16", "cells/5.png"),
    ),
    "a label out of range": Planted(
        spoilt(too_many_classes, num_classes=4), "batch contents", DATA, SHAPE,
        ("found 7", "cells/5.png", "0 to 3"),
    ),
    "the same samples in both splits": Planted(
        in_both, "train and validation", DATA, Category.LEAKAGE, ("12 samples", "cells/0.png")
    ),
    "copies under other names": Planted(
        copied_pictures, "train and validation", DATA, Category.LEAKAGE, ("96 samples", "val/")
    ),
    "validation that is not scaled": Planted(
        not_scaled, "train and validation", DATA, Category.DRIFT, ("mean", "validation values 1")
    ),
    "a class that training lacks": Planted(
        another_class, "train and validation", DATA, Category.DRIFT, ("Label 4 is in 20%",)
    ),
    "weights that do not fit": Planted(
        lambda: with_old_weights, "the job is made", MODEL, Category.INITIALISATION,
        ("size mismatch for 8.weight",),
    ),
    "weights that are not finite": Planted(
        with_bad_weights, "forward", MODEL, Category.INITIALISATION, ("6.weight",)
    ),
    "another number of channels": Planted(
        lambda: cells(one_channel()), "forward", MODEL,
        SHAPE, ("In 0 (Conv2d), given [16, 3, 8, 8],", "to have 1 channels"),
    ),
    "a layer that is too narrow": Planted(
        lambda: cells(with_layer(6, nn.Linear(7, 7))), "forward", MODEL, SHAPE,
        ("In 6 (Linear), given [16, 128],",),
    ),
    "more memory than there is": Planted(
        too_large, "forward", TRAINING, Category.MEMORY, ("In 6 (Does)",)
    ),
    "an output that is not finite": Planted(
        lambda: cells(with_layer(6, Does(lambda x: x / (x - x)))), "forward", MODEL,
        Category.GRADIENT, ("6 (Does) is the first",),
    ),
    "a last batch of one": Planted(
        last_of_one, "forward", MODEL, SHAPE, ("has 1 sample (33 by 32)", "BatchNorm1d")
    ),
    "a label that the output has no class for": Planted(
        spoilt(too_many_classes), "loss", DATA, SHAPE, ("Labels 7", "cells/5.png")
    ),
    "labels that are stretched": Planted(
        stretched, "loss", MODEL, SHAPE, ("float32 [32, 1]", "float32 [32]")
    ),
    "a loss that is cut off": Planted(
        cross_entropy_of(lambda loss: loss.mean().detach()), "loss", MODEL, CUT_OFF, ()
    ),
    "a loss that is a number": Planted(
        cross_entropy_of(lambda loss: loss.mean().item()), "loss", MODEL, CUT_OFF, ("float",)
    ),
    "a loss a sample": Planted(cross_entropy_of(lambda x: x), "loss", MODEL, CUT_OFF, ("[16]",)),
    "a loss that is not finite": Planted(
        cross_entropy_of(lambda loss: (loss.mean() * 0).log()), "loss", TRAINING,
        Category.GRADIENT, ("-inf",),
    ),
    "a frozen layer": Planted(
        with_frozen(6), "backward", MODEL, CUT_OFF, ("Frozen layer: 6 (Linear)",)
    ),
    "a frozen first layer": Planted(
        with_frozen(0), "backward", MODEL, CUT_OFF, ("Frozen layer: 0 (Conv2d)",)
    ),
    "a layer that is cut off": Planted(
        lambda: cells(with_layer(8, Cut())), "backward", MODEL, CUT_OFF,
        ("8.inner.weight, 8.inner.bias get no gradient",),
    ),
    "a head that is newer than the optimizer": Planted(
        with_new_head, "backward", MODEL, CUT_OFF,
        ("8.weight, 8.bias", "2 parameters that the model has not"),
    ),
    "layers that are not in the optimizer": Planted(
        with_part_left_out, "backward", MODEL, CUT_OFF, ("6.weight, 6.bias, 8.weight",)
    ),
    "gradients that vanish": Planted(
        vanishing, "backward", TRAINING, Category.GRADIENT, ("reaches 0, 1,",)
    ),
    "gradients that fade away": Planted(
        fading, "backward", TRAINING, Category.GRADIENT, ("vanishes before it reaches 1, 3",)
    ),
    "a gradient that is not finite": Planted(
        lambda: cells(with_layer(6, Does(root_of_zero))), "backward", TRAINING,
        Category.GRADIENT, ("0.weight", "not finite"),
    ),
    "a rate of zero": Planted(
        by(torch.optim.SGD, lr=0.0), "a few steps", TRAINING, Category.RATE, ("rate is 0",)
    ),
    "a tiny rate": Planted(
        by(torch.optim.SGD, lr=1e-7), "a few steps", TRAINING, Category.RATE, ("rate of 1e-07",)
    ),
    "a huge rate": Planted(
        by(torch.optim.SGD, lr=1e4), "a few steps", TRAINING, Category.RATE, ("diverges",)
    ),
    "Adam at a huge rate": Planted(
        by(torch.optim.Adam, lr=10.0), "a few steps", TRAINING, Category.RATE, ("diverges",)
    ),
    "a regression at a rate that is too high": Planted(
        lambda: line(rate=5.0), "a few steps", TRAINING, Category.RATE, ("diverges", "it falls")
    ),
    "an optimizer that climbs": Planted(
        by(torch.optim.SGD, lr=0.1, maximize=True), "a few steps", TRAINING, Category.RATE,
        ("maximizes",),
    ),
    "a loss upside down": Planted(
        upside_down, "a few steps", TRAINING, Category.GRADIENT, ("answers get worse",)
    ),
    "what half precision covers": Planted(
        lambda: cells(with_layer(8, Does(cancelled))), "mixed precision", Layer.DEPLOYMENT,
        Category.PRECISION, ("8 (Does) is the first",),
    ),
    "what overflows in float16": Planted(
        lambda: cells(with_layer(8, Does(overflowing)), precision="float16"), "mixed precision",
        Layer.DEPLOYMENT, Category.PRECISION, ("8 (Does) is the first that overflows",),
    ),
    "a branch on the data": Planted(
        lambda: cells(with_layer(8, Does(with_branch))), "export", Layer.DEPLOYMENT,
        Category.CONVERSION, ("x if x.sum() > 0",),
    ),
}  # fmt: skip


def failure(report: Report) -> tuple[str, str]:
    (broken,) = [one for one in report.stages if one.outcome is Passed.FAILED]
    return broken.name, broken.message


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_and_named(fault: str) -> None:
    planted = FAULTS[fault]
    workers = 1 if planted.stage == "workers" else 0
    report = triage(planted.job(), workers=workers, timeout=3.0)
    assert report.outcome is Passed.FAILED
    stage, message = failure(report)
    assert (stage, report.layer, report.category) == (
        planted.stage, planted.layer, planted.category,
    ), message  # fmt: skip
    for words in planted.words:
        assert words in message
    assert report.advice


def test_each_category_of_the_taxonomy_is_found() -> None:
    assert {planted.category for planted in FAULTS.values()} == set(Category)


def test_a_failed_export_says_that_training_is_fine() -> None:
    report = triage(FAULTS["a branch on the data"].job(), workers=0)
    assert report.advice.startswith("Training itself is fine.")
    job = cells(with_layer(8, Does(with_branch)), export=False)
    assert triage(job, workers=0).outcome is Passed.PASSED


def test_copies_on_disk_are_found_by_their_bytes(tmp_path: Path) -> None:
    data, other = Cells(8), Cells(8, seed=1)
    for name, split in (("train", data), ("val", other)):
        (tmp_path / name).mkdir()
        split.samples = [(str(tmp_path / name / f"{n}.bin"), n % 4) for n in range(8)]
        for number, (path, _) in enumerate(split.samples):
            Path(path).write_bytes(f"{name} {number}".encode())
    shutil.copy(tmp_path / "train" / "3.bin", tmp_path / "val" / "6.bin")
    other.samples[6] = (str(tmp_path / "val" / "6.bin"), 2)
    report = triage(cells(data=data, validation=other, batch_size=4), workers=0)
    assert report.category == Category.LEAKAGE
    message = failure(report)[1]
    assert str(tmp_path / "val" / "6.bin") in message
    assert message.startswith("1 sample is in both")
