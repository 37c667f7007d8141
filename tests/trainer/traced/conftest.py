"""Texts of which one is broken, and a run that nobody else has begun."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward, answered

import sickbay.trainer as sickbay

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

# A loader that an exception has left behind is collected on whichever thread, the kit's too, and
# waits 5 s for each of its workers: by then its queues are closed, and no worker is told to end.
torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL = 0.2  # noqa: SLF001 (it has no public name)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Collect loaders that an exception left behind before the next test's run hears of them."""
    yield
    gc.collect()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve texts, the sixth of which is no UTF-8."""
    from tests.trainer.traced.faults import write_texts  # noqa: PLC0415 (torch is there now)

    texts = tmp_path / "texts"
    texts.mkdir()
    write_texts(texts)
    return texts


@pytest.fixture
def job(online: Ward, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:  # noqa: ARG001 (its server)
    """A run with the texts as its data set."""
    monkeypatch.setattr(sickbay, "_current", sickbay.Run(None))
    run = sickbay.init("texts", dataset="texts", root=folder)
    answered(run)
    yield run
    run.finish()
