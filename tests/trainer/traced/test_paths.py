"""Batches keep their type and lead to their samples' paths, however they come."""

import copy
import pickle
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from tests.trainer.traced import faults  # noqa: E402 (after torch is known to be there)
from torch.utils.data import ConcatDataset, DataLoader, Subset  # noqa: E402

from sickbay.trainer.traced import Traced, moved, samples_of  # noqa: E402
from sickbay.trainer.traced.arrivals import Carried, Facts  # noqa: E402
from sickbay.trainer.traced.names import Names  # noqa: E402

WORKERS = [
    {},
    {"num_workers": 2, "multiprocessing_context": "fork"},
    {"num_workers": 2, "multiprocessing_context": "spawn", "prefetch_factor": 3},
]


@pytest.fixture
def sound(folder: Path) -> Path:
    """The texts without the broken one."""
    (folder / "05.txt").write_text("mended")
    return folder


def _names(paths: list[str]) -> list[str]:
    return [Path(path).name for path in paths]


KINDS = [
    (None, list),
    (faults.pair, tuple),
    (faults.keyed, dict),
    (faults.named, faults.Pair),
    (faults.one_tensor, torch.Tensor),
    (faults.words, list),
]


@pytest.mark.parametrize(
    ("workers", "collate", "kind"),
    [
        *((workers, *kind) for workers in WORKERS[:2] for kind in KINDS),
        (WORKERS[2], faults.named, faults.Pair),
    ],
)
def test_a_batch_keeps_its_type_and_knows_its_samples(
    sound: Path, workers: dict[str, Any], collate: Any, kind: type[Any]
) -> None:
    data = Traced(faults.Texts(sound))
    loader = DataLoader(data, batch_size=5, collate_fn=data.collate(collate), **workers)
    found = []
    for batch in loader:
        assert type(batch) is kind
        found.append(_names(samples_of(batch)))
    assert [len(names) for names in found] == [5, 5, 2]
    assert list(chain(*found)) == [f"{index:02}.txt" for index in range(12)]


def test_shuffled_samples_are_named_in_the_order_of_the_batch(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    sizes = {str(path): float(len(path.read_text())) for path in sound.iterdir()}
    (sound / "03.txt").write_text("of another length")
    sizes[str(sound / "03.txt")] = 17.0
    loader = DataLoader(data, batch_size=4, shuffle=True, num_workers=2, collate_fn=data.collate())
    for inputs, _ in loader:
        assert [sizes[path] for path in samples_of(inputs)] == inputs[:, 0].tolist()


def test_persistent_workers_know_their_samples_in_the_second_epoch(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    loader = DataLoader(
        data, batch_size=6, num_workers=2, persistent_workers=True, collate_fn=data.collate()
    )
    for _ in range(2):
        assert list(chain(*(_names(samples_of(batch)) for batch in loader)))[5] == "05.txt"


def test_a_tensor_that_is_pinned_on_its_way_still_knows_its_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No accelerator here: a copy stands for the pinned tensor, which is a new one as well."""
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor, *_: tensor.clone())
    carried = Carried((torch.zeros(2), [torch.ones(2)]), Facts(("a", "b")))

    def _pin_memory_loop() -> Any:
        arrived = pickle.loads(pickle.dumps(carried))  # noqa: S301 (our own)
        return torch.utils.data._utils.pin_memory.pin_memory(arrived)  # noqa: SLF001 (torch's own)

    batch = _pin_memory_loop()
    assert type(batch) is tuple
    assert samples_of(batch) == samples_of(batch[1][0]) == ["a", "b"]


def test_a_batch_on_another_device_is_known_where_the_script_says_so(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    (batch,) = DataLoader(data, batch_size=12, collate_fn=data.collate(faults.pair))
    there = tuple(part.clone() for part in batch)
    assert samples_of(there) == []
    assert moved(batch, there) is there
    assert len(samples_of(there)) == 12


def test_wrappers_around_the_data_set_are_no_obstacle(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    both: Any = ConcatDataset([Subset(data, [7, 2]), Subset(data, [9])])
    batches = DataLoader(both, batch_size=2, collate_fn=data.collate())
    assert [_names(samples_of(batch)) for batch in batches] == [["07.txt", "02.txt"], ["09.txt"]]


def test_a_loader_without_batches_and_a_batch_fetched_at_once_are_known(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    alone = DataLoader(data, batch_size=None, collate_fn=data.collate())
    assert [_names(samples_of(item)) for item in alone][7] == ["07.txt"]
    many = Traced(faults.Many(sound))
    batches = DataLoader(many, batch_size=6, collate_fn=many.collate())
    assert _names(samples_of(next(iter(batches)))) == [f"{index:02}.txt" for index in range(6)]


@pytest.mark.parametrize("workers", WORKERS[:2], ids=["none", "fork"])
def test_a_stream_knows_its_samples(sound: Path, workers: dict[str, Any]) -> None:
    data = Traced(faults.Stream(sound))
    loader = DataLoader(data, batch_size=2, collate_fn=data.collate(), **workers)
    found = sorted(chain(*(_names(samples_of(batch)) for batch in loader)))
    assert found == [f"{index:02}.txt" for index in range(12)]


def test_looking_at_a_sample_does_not_disturb_the_next_batch(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    for index in (3, 1, 3):
        data[index]
    assert sum(1 for _ in data) == len(data) == 12
    batch = next(iter(DataLoader(data, batch_size=2, collate_fn=data.collate())))
    assert _names(samples_of(batch)) == ["00.txt", "01.txt"]


def test_it_looks_like_the_data_set_and_can_be_copied(sound: Path) -> None:
    data = Traced(faults.Texts(sound))
    assert data.fault == "decode"
    assert not hasattr(data, "classes")
    copied = copy.deepcopy(data)
    assert torch.equal(pickle.loads(pickle.dumps(copied))[3][0], data[3][0])  # noqa: S301 (our own)


@pytest.mark.parametrize(
    ("dataset", "paths", "path"),
    [
        (SimpleNamespace(samples=[("a/1.png", 0), ("a/2.png", 1)]), None, "a/2.png"),
        (SimpleNamespace(imgs=[Path("1.png"), Path("2.png")]), None, "2.png"),
        (SimpleNamespace(paths=lambda: 1, files=["1", "2"]), None, "2"),
        (SimpleNamespace(mine=["1", "2"]), "mine", "2"),
        (SimpleNamespace(), ["1", "2"], "2"),
        (SimpleNamespace(), lambda index: f"{index}.png", "1.png"),
        (SimpleNamespace(samples=[torch.zeros(2)] * 2), None, "index:1"),
        (SimpleNamespace(), lambda _: 1 / 0, "index:1"),
    ],
)
def test_paths_come_from_where_they_are(dataset: Any, paths: Any, path: str) -> None:
    assert Names(dataset, paths).of(1) == path


def test_items_that_say_their_path_are_asked() -> None:
    items = [{"path": f"{index}.png", "x": torch.zeros(2)} for index in range(2)]
    data = Traced(items)
    (batch,) = DataLoader(data, batch_size=2, collate_fn=data.collate())
    assert samples_of(batch) == ["0.png", "1.png"]
