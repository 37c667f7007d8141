"""Tensors and numpy's numbers, and the errors that torch really raises."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.event import Finish
from sickbay.contract.sign import Category
from sickbay.contract.taxonomy import classify, kind_of
from sickbay.trainer.failing import raised
from sickbay.trainer.readings import OnItsWay, reading

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")
numpy: Any = pytest.importorskip("numpy", reason="needs the extra scan")


def test_tensors_and_numpys_numbers_are_points(online: Ward) -> None:
    with sickbay.init("tensors") as run:
        run.log(
            {
                "leaf": torch.tensor(1.5, requires_grad=True) * 2,
                "one": torch.ones(1, 1),
                "half": torch.tensor(0.5, dtype=torch.bfloat16),
                "numpy": numpy.float32(0.25),
                "array": numpy.array(4),
                "many": torch.ones(2),
            },
            step=torch.tensor(3),
        )
    found = {name: online.points(name) for name in ("leaf", "one", "half", "numpy", "array")}
    assert found == {
        "leaf": [(3, 3.0)],
        "one": [(3, 1.0)],
        "half": [(3, 0.5)],
        "numpy": [(3, 0.25)],
        "array": [(3, 4.0)],
    }
    assert online.points("many") == []


def test_a_tensor_that_is_changed_in_place_keeps_what_was_logged(online: Ward) -> None:
    total = torch.zeros(())
    with sickbay.init("in-place") as run:
        for step in range(3):
            run.log({"total": total}, step)
            total += 1
    assert online.points("total") == [(0, 0.0), (1, 1.0), (2, 2.0)]


def test_a_tensor_on_another_device_is_only_read_later() -> None:
    kept = reading(torch.empty((), device="meta"))
    assert isinstance(kept, OnItsWay)
    assert kept.ready()
    with pytest.raises(ValueError, match="one number"):
        reading(torch.empty(2, device="meta"))


class _OnGpu:
    """Stands in for a tensor on a GPU, which this machine lacks; the event says when it is here."""

    device = SimpleNamespace(type="cuda")

    def __init__(self, value: float) -> None:
        self._value = value

    def detach(self) -> "_OnGpu":
        return self

    def numel(self) -> int:
        return 1

    def to(self, device: str, *, non_blocking: bool) -> "_OnGpu":
        assert (device, non_blocking) == ("cpu", True)
        return self

    def __float__(self) -> float:
        assert _Event.arrived, "read before it was there"
        return self._value


class _Event:
    arrived = False

    def record(self, stream: object) -> None:
        assert stream == "stream"

    def query(self) -> bool:
        return _Event.arrived


def test_a_tensor_on_a_gpu_is_read_once_it_has_arrived(
    online: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "Event", _Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: "stream")
    run = sickbay.init("gpu")
    run.log({"loss": _OnGpu(1.5), "lr": 0.1}, step=1)
    while not online.points("lr"):
        run.flush()
    assert online.points("loss") == []
    monkeypatch.setattr(_Event, "arrived", True)
    run.log({"loss": _OnGpu(2.5)}, step=2)
    run.finish()
    assert online.points("loss") == [(1, 1.5), (2, 2.5)]
    assert online.of(Finish)[0].dropped == {}


def test_a_tensor_that_can_never_be_read_is_counted(online: Ward) -> None:
    with sickbay.init("meta") as run:
        run.log({"loss": torch.empty((), device="meta"), "fine": 1.0})
    assert online.points("fine") == [(0, 1.0)]
    assert online.points("loss") == []


def _twice() -> None:
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    loss.backward()


def _nan() -> None:
    with torch.autograd.detect_anomaly(check_nan=True):
        (torch.zeros(1, requires_grad=True) * 0 / 0).sqrt().sum().backward()


_LINEAR: Any = torch.nn.Linear(4, 2)
REAL: tuple[tuple[Callable[[], object], Category], ...] = (
    (lambda: _LINEAR(torch.ones(2, 3)), Category.SHAPE),
    (
        lambda: torch.nn.functional.cross_entropy(torch.ones(1, 3), torch.tensor([7])),
        Category.SHAPE,
    ),
    (lambda: torch.nn.Embedding(3, 2)(torch.tensor([5])), Category.SHAPE),
    (lambda: torch.ones(3) + torch.ones(4), Category.SHAPE),
    (lambda: torch.ones(4).view(3, 3), Category.SHAPE),
    (lambda: torch.nn.Conv2d(3, 4, 3)(torch.ones(1, 1, 8, 8)), Category.SHAPE),
    (lambda: torch.cat([torch.ones(2, 2), torch.ones(3, 3)]), Category.SHAPE),
    (lambda: torch.nn.BatchNorm1d(4)(torch.ones(1, 4)), Category.SHAPE),
    (lambda: _LINEAR(torch.ones(1, 4, dtype=torch.float64)), Category.SHAPE),
    (lambda: torch.utils.data.default_collate([torch.ones(2), torch.ones(3)]), Category.LOADING),
    (lambda: torch.utils.data.DataLoader([], shuffle=True), Category.LOADING),
    (lambda: _LINEAR.load_state_dict({"bias": torch.ones(3)}), Category.INITIALISATION),
    (lambda: torch.optim.SGD([], lr=0.1), Category.INITIALISATION),
    (lambda: torch.optim.SGD(_LINEAR.parameters(), lr=-1), Category.RATE),
    (lambda: torch.ones(2).sum().backward(), Category.CUT_OFF),
    (lambda: torch.ones(2, requires_grad=True).mul(2).backward(), Category.CUT_OFF),
    (_twice, Category.CUT_OFF),
    (_nan, Category.GRADIENT),
    (lambda: torch.multinomial(torch.tensor([float("nan"), 1.0]), 1), Category.GRADIENT),
    (lambda: torch.empty(1 << 60), Category.MEMORY),
    (lambda: torch.testing.assert_close(torch.ones(2), torch.zeros(2)), Category.PRECISION),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("act", "category"), REAL, ids=map(str, range(len(REAL))))
def test_what_torch_raises_is_placed(act: Callable[[], object], category: Category) -> None:
    with pytest.raises(Exception, match=r"(?s).") as caught:
        act()
    words = raised(caught.value)
    verdict = classify(
        kind_of(words.type, words.message, words.traceback),
        words.type,
        words.message,
        words.traceback,
    )
    assert verdict is not None
    assert verdict.category is category


class _Broken:
    def __len__(self) -> int:
        return 4

    def __getitem__(self, at: int) -> Any:
        raise KeyError(f"label {at}")


@pytest.mark.parametrize("workers", [0, 1])
def test_what_a_loader_raises_is_the_loaders_with_and_without_workers(workers: int) -> None:
    loader = torch.utils.data.DataLoader(_Broken(), num_workers=workers)
    with pytest.raises(KeyError) as caught:
        next(iter(loader))
    words = raised(caught.value)
    assert kind_of(words.type, words.message, words.traceback) == "loader-error"
