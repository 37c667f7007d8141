"""The kit's tests have an environment and a server of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy.random  # noqa: F401 (before workers are forked: an import in one may meet the collector of garbage)
import pytest
from tests.trainer.ward import Ward, serving

from sickbay.trainer import complaints


@pytest.fixture
def ward() -> Iterator[Ward]:
    """A server that keeps what it is sent."""
    with serving(Ward()) as kept:
        yield kept


@pytest.fixture
def kit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment of its own for the kit: offline, with its spool in a fresh folder."""
    for name in list(os.environ):
        if name.startswith(("SICKBAY_", "SLURM_", "TORCHELASTIC_")) or name in _RANKS:
            monkeypatch.delenv(name)
    monkeypatch.setattr(complaints, "_said", set())
    spool = tmp_path / "spool"
    monkeypatch.setenv("SICKBAY_SPOOL", str(spool))
    return spool


_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture
def online(ward: Ward, kit: Path, monkeypatch: pytest.MonkeyPatch) -> Ward:  # noqa: ARG001 (its environment)
    """The kit's environment, with the server as its server."""
    monkeypatch.setenv("SICKBAY_URL", ward.url)
    monkeypatch.setenv("SICKBAY_TOKEN", "sickbay_t_secret")
    return ward
