"""One seed for everything that draws."""

import os
import random

import pytest

from sickbay.contract.errors import BadInput
from sickbay.trainer.seeds import known_seeds, seed_everything


def test_the_same_seed_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert seed_everything(7) == 7
    first = random.random()  # noqa: S311 (what is tested)
    seed_everything(7)
    assert random.random() == first  # noqa: S311 (what is tested)
    assert os.environ["PYTHONHASHSEED"] == "7"
    assert known_seeds()["everything"] == 7


def test_a_seed_is_drawn_where_none_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    seed = seed_everything()
    assert 0 <= seed < 1 << 32
    assert known_seeds()["everything"] == seed


def test_torch_and_numpy_are_seeded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra trainer")
    numpy = pytest.importorskip("numpy", reason="needs the extra scan")
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    seed_everything(11)
    first = torch.rand(3).tolist(), numpy.random.rand(3).tolist()
    seed_everything(11)
    assert (torch.rand(3).tolist(), numpy.random.rand(3).tolist()) == first
    assert known_seeds()["torch"] == 11


@pytest.mark.parametrize("seed", [-1, 1 << 32, 1.5, "7", True])
def test_what_is_no_seed_stops_before_the_training(seed: object) -> None:
    with pytest.raises(BadInput):
        seed_everything(seed)  # type: ignore[arg-type]  # what is tested
