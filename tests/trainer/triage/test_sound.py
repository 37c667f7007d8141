"""Triage accuses no job that nothing is wrong with."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra trainer")

import torch
from tests.trainer.triage.sound import Cells, cells, classifier, line
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from sickbay.contract.report import Passed, Report
from sickbay.trainer import TriageJob, triage

Job = TriageJob | tuple[Any, ...] | dict[str, Any]


def passes(job: Job, **options: Any) -> Report:
    report = triage(job, workers=0, **options)
    broken = [(one.name, one.message) for one in report.stages if one.outcome is Passed.FAILED]
    assert not broken, (broken, report.advice)
    assert report.outcome is Passed.PASSED
    assert report.layer == report.category == ""
    return report


def said(report: Report, stage: str) -> str:
    return next(one.message for one in report.stages if one.name == stage)


class Words(Dataset[dict[str, Any]]):
    """Texts as numbers, as tokenizers give them."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> dict[str, Any]:
        drawn = torch.Generator().manual_seed(index)
        words = torch.randint(0, 50, (12,), generator=drawn)
        return {
            "input_ids": words,
            "attention_mask": torch.ones(12, dtype=torch.long),
            "labels": int(words[0] % 3),
        }


class Output(dict[str, Any]):
    """An output with attributes, as Transformers' models return it."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Reader(nn.Module):
    """A model that takes a mapping and returns its own loss."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.pooler = nn.Linear(16, 16)
        self.head = nn.Linear(16, 3)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        labels: torch.Tensor | None = None,
    ) -> Output:
        hidden = self.layer(self.words(input_ids)) * attention_mask.unsqueeze(-1)
        found = Output(logits=self.head(hidden.mean(1)), pooled=self.pooler(hidden[:, 0]))
        if labels is not None:
            found["loss"] = nn.functional.cross_entropy(found.logits, labels)
        return found


class Stream(IterableDataset[tuple[torch.Tensor, torch.Tensor]]):
    """Samples that come one after the other."""

    def __iter__(self) -> Any:
        for index in range(64):
            x = torch.randn(4, generator=torch.Generator().manual_seed(index))
            yield x, x.sum().unsqueeze(0)


def fine_tuned(*, left_out: bool) -> TriageJob:
    model = nn.Sequential(classifier(classes=12), nn.ReLU(), nn.Linear(12, 4))
    model[0].requires_grad_(requires_grad=False)
    trained = model[2].parameters() if left_out else model.parameters()
    return cells(model, optimizer=torch.optim.AdamW(trained, lr=1e-3))


def warming_up() -> TriageJob:
    job = cells()
    schedule = torch.optim.lr_scheduler.LambdaLR(job.optimizer, lambda step: step / 1000)
    assert job.optimizer.param_groups[0]["lr"] == 0
    return cells(job.model, optimizer=job.optimizer, scheduler=schedule)


def segments() -> TriageJob:
    x = torch.randn(24, 3, 8, 8)
    y = (x.sum(1) > 0).long()
    y[:, 0] = 255
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss(ignore_index=255)
    return TriageJob(
        TensorDataset(x, y), model, criterion, optimizer, batch_size=8, num_classes=2,
        ignore_label=255,
    )  # fmt: skip


def several_labels() -> TriageJob:
    x = torch.randn(64, 6)
    model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return TriageJob(
        TensorDataset(x, (x[:, :3] > 0).float()), model, nn.BCEWithLogitsLoss(), optimizer
    )


def an_autoencoder() -> TriageJob:
    samples: Any = torch.randn(64, 10)
    data: Any = DataLoader(samples, batch_size=16)
    model = nn.Sequential(nn.Linear(10, 4), nn.ReLU(), nn.Linear(4, 10))
    return TriageJob(data, model, nn.MSELoss(), torch.optim.RMSprop(model.parameters(), lr=1e-3))


def its_own_step() -> TriageJob:
    def step(model: nn.Module, batch: Any) -> torch.Tensor:
        x, y = batch
        far: torch.Tensor = (model(x).squeeze(1) - y.squeeze(1)).abs().mean()
        rest: torch.Tensor = model(x * 0).pow(2).mean()
        return far + rest / 100

    job = line()
    return TriageJob(job.data, job.model, None, job.optimizer, step=step)


def with_paths() -> TriageJob:
    class Named(Cells):
        def __getitem__(self, index: int) -> Any:
            return *super().__getitem__(index), self.samples[index][0]

    return cells(data=Named(), num_classes=4)


def of_reader() -> TriageJob:
    model = Reader()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    return TriageJob(Words(), model, None, optimizer, batch_size=8)


def of_stream() -> TriageJob:
    model = nn.Linear(4, 1)
    return TriageJob(
        Stream(), model, nn.L1Loss(), torch.optim.SGD(model.parameters(), lr=1e-3), batch_size=8
    )


def by_lbfgs() -> TriageJob:
    job = line()
    return TriageJob(job.data, job.model, job.criterion, torch.optim.LBFGS(job.model.parameters()))


def with_low_rank_parts() -> TriageJob:
    class Adapted(nn.Module):
        def __init__(self, inner: nn.Linear) -> None:
            super().__init__()
            self.inner = inner.requires_grad_(requires_grad=False)
            self.down = nn.Linear(inner.in_features, 2, bias=False)
            self.up = nn.Linear(2, inner.out_features, bias=False)
            nn.init.zeros_(self.up.weight)

        def forward(self, x: torch.Tensor) -> Any:
            return self.inner(x) + self.up(self.down(x))

    model = nn.Sequential(
        nn.Flatten(), Adapted(nn.Linear(192, 32)), nn.ReLU(), Adapted(nn.Linear(32, 4))
    )
    return cells(model)


def with_rare_words() -> TriageJob:
    class Bag(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 8, sparse=True)
            self.scale = nn.Parameter(torch.tensor(1.0))
            self.head = nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> Any:
            return self.head(self.words(x).mean(1)) * self.scale

    x, model = torch.randint(0, 50, (64, 6)), Bag()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return TriageJob(TensorDataset(x, x[:, 0] % 3), model, nn.CrossEntropyLoss(), optimizer)


def a_detector() -> TriageJob:
    class Boxes(Dataset[Any]):
        def __len__(self) -> int:
            return 24

        def __getitem__(self, index: int) -> Any:
            return torch.full((4,), index / 24), {"boxes": torch.ones(index % 3 + 1, 4)}

    class Detector(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, images: Any, targets: Any = None) -> Any:
            found = [self.layer(image) for image in images]
            if not self.training:
                return [{"boxes": one} for one in found]
            pairs = zip(found, targets, strict=True)
            far = [(one - target["boxes"]).abs().mean() for one, target in pairs]
            return {"boxes": sum(far) / len(far), "size": self.layer.weight.pow(2).mean()}

    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return TriageJob(Boxes(), model, None, optimizer, lambda items: tuple(zip(*items, strict=True)))


KINDS: dict[str, Callable[[], TriageJob]] = {
    "classifier": cells,
    "regression": line,
    "fine-tuned, all in the optimizer": lambda: fine_tuned(left_out=False),
    "fine-tuned, head in the optimizer": lambda: fine_tuned(left_out=True),
    "warm-up": warming_up,
    "segmentation": segments,
    "several labels": several_labels,
    "autoencoder": an_autoencoder,
    "own step": its_own_step,
    "paths in the batch": with_paths,
    "mapping with its own loss": of_reader,
    "stream": of_stream,
    "LBFGS": by_lbfgs,
    "low-rank": with_low_rank_parts,
    "sparse gradients": with_rare_words,
    "detector with a loss for each part": a_detector,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_job_passes_all_stages(kind: str) -> None:
    passes(KINDS[kind]())


@pytest.mark.parametrize("seed", range(20))
def test_sound_jobs_of_any_seed_size_and_optimizer_are_not_accused(seed: int) -> None:
    torch.manual_seed(seed)
    side, classes, width = 6 + 2 * (seed % 4), 2 + seed % 7, 4 + seed % 5
    model = classifier(side, classes, width)
    optimizers: list[Any] = [
        torch.optim.AdamW(model.parameters(), lr=10 ** -(2 + seed % 4)),
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4),
        torch.optim.SGD(model.parameters(), lr=1e-3),
        torch.optim.Adam(model.parameters(), lr=3e-4),
    ]
    data = Cells(64 + seed, classes, side, seed)
    passes(
        cells(model, data, optimizer=optimizers[seed % 4], batch_size=(8, 16, 33)[seed % 3]),
        steps=10 + seed,
    )
    passes(line(rate=10 ** -(1 + seed % 3), seed=seed, width=2 + seed))


def test_what_is_frozen_on_purpose_is_a_note() -> None:
    note = said(passes(fine_tuned(left_out=False)), "backward")
    assert "frozen, it seems on purpose (a part as a whole): 0.0, 0.1, 0.6, 0.8" in note
    assert "not in the optimizer" in said(passes(fine_tuned(left_out=True)), "backward")
    model = classifier()
    model[6].requires_grad_(requires_grad=False)
    passes(cells(model, frozen=("6",)))


def test_what_is_unusual_is_a_note() -> None:
    assert "0.1 of" not in said(passes(warming_up()), "a few steps")
    assert "The rate warms up; 0.0001 was used." in said(passes(warming_up()), "a few steps")
    assert "this batch does not use pooler.weight" in said(passes(of_reader()), "backward")
    probabilities = nn.Sequential(classifier(), nn.Softmax(1))
    stream = triage(of_stream(), workers=2)
    assert "two workers gave the same samples" in said(stream, "workers")
    assert "wants raw scores" in said(passes(cells(probabilities)), "loss")


def test_a_job_may_be_a_tuple_a_mapping_or_what_a_function_returns() -> None:
    job = line()
    passes((job.data, job.model, job.criterion, job.optimizer))
    passes({"loader": job.data, "model": job.model, "loss": job.criterion})
    report = triage(line, workers=2)
    assert report.outcome is Passed.PASSED
    assert said(report, "workers") == "2 batches from 2 workers."
