"""Bad samples may be skipped; that is counted, told by class, and never silent."""

import logging
from pathlib import Path
from typing import Any

import pytest
from tests.trainer.ward import Ward

from sickbay.contract.errors import BadInput
from sickbay.contract.event import Alert, Failure
from sickbay.contract.report import Change
from sickbay.trainer.traced import Traced, samples_of, skipping

torch: Any = pytest.importorskip("torch", reason="needs the extra trainer")

from tests.trainer.traced import faults  # noqa: E402 (after torch is known to be there)
from torch.utils.data import DataLoader  # noqa: E402

FORK: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "fork"}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No skips of other tests are counted."""
    monkeypatch.setattr(skipping, "_tally", skipping._Tally())  # noqa: SLF001 (its state)


class Labelled(faults.Texts):
    """Texts with classes; ``bad`` ones cannot be read."""

    classes = ("cat", "dog")

    def __init__(self, folder: Path, bad: tuple[int, ...] = (5,)) -> None:
        super().__init__(folder)
        self.targets = [index % 2 for index in range(len(self.files))]
        self.bad = bad

    def __getitem__(self, index: int) -> Any:
        if index in self.bad:
            raise ValueError("unreadable")
        return torch.zeros(2), self.targets[index]


def _names(loader: Any) -> list[list[str]]:
    return [[Path(path).name[:2] for path in samples_of(batch)] for batch in loader]


@pytest.mark.parametrize("workers", [{}, FORK], ids=["none", "fork"])
def test_a_skipped_sample_is_left_out_counted_and_told_by_class(
    online: Ward, job: Any, folder: Path, caplog: pytest.LogCaptureFixture, workers: dict[str, Any]
) -> None:
    data = Traced(Labelled(folder, (5, 6, 7)), on_bad="skip")
    loader = DataLoader(data, batch_size=4, collate_fn=data.collate(), **workers)
    with caplog.at_level(logging.WARNING, "sickbay"):
        assert _names(loader) == [["00", "01", "02", "03"], ["04"], ["08", "09", "10", "11"]]
        assert len(_names(loader)) == 3
    job.finish()
    told = online.of(Failure)
    assert [one.path for failure in told for one in failure.samples] == [
        "05.txt",
        "06.txt",
        "07.txt",
    ]
    assert {failure.detail["policy"] for failure in told} == {"skip"}
    last = online.of(Change)[-1]
    assert (last.what, last.after) == ("skipped samples", "6")
    assert last.why == "3 different ones, by class: dog 4 (of 6), cat 2 (of 6)"
    assert len(online.of(Alert)) == 1
    assert "1 samples were skipped" in caplog.text


def test_a_batch_of_which_nothing_is_left_gets_another_sample(job: Any, folder: Path) -> None:
    data = Traced(Labelled(folder, (4, 5, 6, 7, 8)), on_bad="skip")
    loader = DataLoader(data, batch_size=4, collate_fn=data.collate())
    assert _names(loader) == [["00", "01", "02", "03"], ["09"], ["09", "10", "11"]]
    assert job.begun


def test_where_nothing_can_be_fetched_it_stops(job: Any, folder: Path) -> None:
    data = Traced(Labelled(folder, tuple(range(12))), on_bad="skip")
    with pytest.raises(ValueError, match="unreadable"):
        list(DataLoader(data, batch_size=4, collate_fn=data.collate()))
    assert job.begun


def test_a_sample_of_another_shape_is_skipped_too(online: Ward, job: Any, folder: Path) -> None:
    data = Traced(faults.Texts(folder, "late shape"), on_bad="skip")
    assert _names(DataLoader(data, batch_size=4, collate_fn=data.collate()))[1] == [
        "04",
        "06",
        "07",
    ]
    job.finish()
    assert [failure.what for failure in online.of(Failure)] == ["shape-mismatch"]


def test_a_stream_that_goes_on_skips_and_one_that_does_not_stops(
    online: Ward, job: Any, folder: Path
) -> None:
    goes_on = Traced(faults.Resumed(folder), on_bad="skip")
    loader = DataLoader(goes_on, batch_size=4, collate_fn=goes_on.collate())
    assert _names(loader)[1] == ["04", "06", "07"]
    broken = Traced(faults.Stream(folder), on_bad="skip")
    with pytest.raises(UnicodeDecodeError):
        list(DataLoader(broken, batch_size=4, collate_fn=broken.collate()))
    job.finish()
    assert {one.path for failure in online.of(Failure) for one in failure.samples} == {"05.txt"}


def test_a_policy_that_there_is_not_is_refused() -> None:
    with pytest.raises(BadInput, match="'raise' and 'skip'"):
        Traced([], on_bad="ignore")
