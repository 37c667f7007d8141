"""A rank that looks into a step asks no other rank: they go on training, and would wait."""

from types import SimpleNamespace
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from sickbay.trainer.blame.batches import Call  # noqa: E402 (after torch is known to be there)
from sickbay.trainer.blame.bench import Bench, Budget, sharded  # noqa: E402 (as above)
from sickbay.trainer.blame.losses import Losses  # noqa: E402 (as above)
from sickbay.trainer.blame.moments import Moment  # noqa: E402 (as above)


def test_synchronised_normalisation_goes_by_this_ranks_batch_as_the_plain_one() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.SyncBatchNorm(3))
    plain = torch.nn.Sequential(model[0], torch.nn.BatchNorm1d(3))
    moment = Moment(Call((torch.randn(8, 4),), {}, (torch.randn(8, 3),)))
    found = [
        Bench(one, Losses(torch.nn.MSELoss()), Budget(60), by_gradient=False).repeat(moment).value
        for one in (model, plain)
    ]
    assert found[0] == pytest.approx(found[1])
    assert "forward" not in vars(model[1])


def test_a_model_in_shards_is_known_by_its_parameters() -> None:
    part = SimpleNamespace(to_local=lambda: None)
    whole: Any = SimpleNamespace(parameters=lambda: [part], modules=list)
    assert sharded(whole)
    assert not sharded(torch.nn.Linear(2, 2))
