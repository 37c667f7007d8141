"""The report that the server keeps names the file, whatever the sample did and however it loads."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving import start
from tests.trainer.ward import answered

import sickbay.trainer as sickbay
from sickbay.accounts import tokens
from sickbay.accounts.tables import Scope
from sickbay.database import Database

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from sqlalchemy import select  # noqa: E402 (after what may skip)
from tests.trainer.traced import faults  # noqa: E402 (as above)
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler  # noqa: E402 (as above)

from sickbay.runs.failures.tables import Failure  # noqa: E402 (as above)

WANTED = {
    "raises": ("loader-error", "raises"),
    "decode": ("loader-error", "UnicodeDecodeError"),
    "kill": ("worker-killed", "exited unexpectedly"),
    "hang": ("worker-killed", "timed out"),
    "late shape": ("shape-mismatch", "equal size"),
    "range": ("label-assert", "outside of the classes"),
    "nan": ("non-finite-label", "not finite"),
}
"""What happens at the bad sample: the kind that is stored, and words of the report."""
HOW = {
    "fork": tuple(WANTED),
    "spawn": ("decode", "kill", "late shape"),
    "persistent": ("raises", "kill", "range"),
    "batch sampler": ("decode", "late shape", "nan"),
    "stream": tuple(WANTED),
}
"""How it is loaded, by two workers, and what is tried so."""


@pytest.fixture
def stored(
    kit: Path,  # noqa: ARG001 (its environment)
    state: Path,
    database: Database,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Any]:
    """A run at a real server; called, it is left and its failures are read from the database."""
    token = database.writing(lambda session: tokens.create(session, "gpu", [Scope.EVENTS]))
    server = start(state)
    monkeypatch.setenv("SICKBAY_URL", server.url)
    monkeypatch.setenv("SICKBAY_TOKEN", token)
    run = sickbay.init("stored", root=folder)
    answered(run)

    def left() -> list[dict[str, Any]]:
        run.finish()
        with database.reading() as session:
            return [json.loads(one) for one in session.scalars(select(Failure.event))]

    yield left
    run.finish()
    server.kill()


def _loader(folder: Path, fault: str, how: str) -> Any:
    kind = faults.Stream if how == "stream" else faults.Texts
    data = sickbay.Traced(kind(folder, fault))
    given: dict[str, Any] = {"batch_size": 4}
    if how == "batch sampler":
        given = {"batch_sampler": BatchSampler(SequentialSampler(data), 4, drop_last=False)}
    return DataLoader(
        data,
        collate_fn=data.collate(),
        num_workers=2,
        multiprocessing_context="spawn" if how == "spawn" else "fork",
        persistent_workers=how == "persistent",
        timeout=3 if fault == "hang" else 0,
        **given,
    )


def _train(folder: Path, fault: str, how: str) -> None:
    content = b"caf\xe9" if fault == "decode" else b"mended"
    (folder / "05.txt").write_bytes(content)
    checks = sickbay.BatchChecks(num_classes=2)
    try:
        for _ in sickbay.steps(_loader(folder, fault, how), checks=checks):
            pass
    except (RuntimeError, ValueError):
        pass
    checks.finish()


@pytest.mark.parametrize("how", HOW)
def test_the_stored_reports_name_the_file(stored: Any, folder: Path, how: str) -> None:
    for fault in HOW[how]:
        _train(folder, fault, how)
    events = stored()  # a killed worker is told of once it is known to be gone, which may be last
    found = [(one["what"], [sample["path"] for sample in one.get("samples", ())]) for one in events]
    assert sorted(found) == sorted((WANTED[fault][0], ["05.txt"]) for fault in HOW[how])
    said = [(one["what"], f"{one.get('exception_type')} {one['message']}") for one in events]
    for fault in HOW[how]:
        kind, words = WANTED[fault]
        assert any(what == kind and words in text for what, text in said)
