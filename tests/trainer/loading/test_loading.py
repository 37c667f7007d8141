"""The loader check, on a real job in its own process."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trainer.loading.a_job import write

from sickbay.contract.errors import BadInput
from sickbay.trainer.loading import Checked, Options, check

pytest.importorskip("torch", reason="needs the extra trainer")

Checks = Callable[..., Checked]


@pytest.fixture
def through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checks:
    """Write texts and go through them with a job's factory."""

    def go(
        factory: str = "dataset",
        workers: int = 0,
        timeout: float = 60.0,
        num_classes: int | None = None,
        **texts: str | bytes,
    ) -> Checked:
        root = write(tmp_path, texts)
        monkeypatch.setenv("JOB_ROOT", str(root))
        options = Options(str(root), timeout, workers, num_classes, str(tmp_path))
        return check(f"a_training_job:{factory}", options)

    return go


def _codes(checked: Checked) -> dict[str, str]:
    return {
        raw.decode(): " ".join(one.code.removeprefix("training.") for one in found)
        for raw, found in checked.findings.items()
    }


def test_every_sample_that_does_not_load_is_named_with_its_reason(through: Checks) -> None:
    checked = through(
        num_classes=2,
        a="sound",
        b=b"caf\xe9",
        c="raise",
        d="nan",
        e="label",
        f="shape",
        g="sound too",
    )
    assert _codes(checked) == {
        "b.txt": "loader-error",
        "c.txt": "loader-error",
        "d.txt": "non-finite-input",
        "e.txt": "label-assert",
        "f.txt": "shape-mismatch",
    }
    assert checked.findings[b"b.txt"][0].message.startswith("UnicodeDecodeError: 'utf-8' codec")
    assert (checked.fetched, checked.stopped) == (5, False)


def test_a_sample_that_kills_the_process_costs_only_itself(through: Checks) -> None:
    checked = through(a="sound", b="kill", c="sound", d="raise")
    assert _codes(checked) == {"b.txt": "worker-killed", "d.txt": "loader-error"}
    assert checked.findings[b"b.txt"][0].message == "The loading process ended with code -9 on it."


def test_a_sample_that_hangs_costs_only_itself(through: Checks) -> None:
    checked = through(timeout=2.0, a="sound", b="hang", c="raise")
    assert _codes(checked) == {"b.txt": "worker-killed", "c.txt": "loader-error"}


def test_the_first_sample_may_be_the_odd_one(through: Checks) -> None:
    assert _codes(through(a="shape", b="sound", c="sound")) == {"a.txt": "shape-mismatch"}


def test_what_the_jobs_own_collate_takes_is_no_mismatch(through: Checks) -> None:
    assert _codes(through("pair", a="shape", b="sound", c="sound")) == {}


@pytest.mark.parametrize(
    ("factory", "codes"),
    [
        ("whole", {"b.txt": "shape-mismatch", "c.txt": "non-finite-input"}),
        ("named", {"c.txt": "non-finite-input"}),  # its collate pads
    ],
)
def test_of_a_whole_job_the_data_and_their_collate_are_taken(
    factory: str, codes: dict[str, str], through: Checks
) -> None:
    assert _codes(through(factory, a="sound", b="shape", c="nan")) == codes


def test_what_fails_only_in_a_worker_is_found_with_workers(through: Checks) -> None:
    checked = through("loader", workers=2, a="sound", b="nan", c="worker", d="sound", e="shape")
    assert _codes(checked) == {
        "b.txt": "non-finite-input",
        "c.txt": "loader-error",
        "e.txt": "shape-mismatch",
    }
    assert "in a worker: PermissionError" in checked.findings[b"c.txt"][0].message
    assert checked.said == []


def test_a_stream_is_followed_up_to_what_breaks_it(through: Checks) -> None:
    checked = through("stream", a="sound", b="nan", c=b"\xff", d="raise")
    assert _codes(checked) == {"b.txt": "non-finite-input", "c.txt": "loader-error"}
    assert "not known what follows" in checked.said[0]


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("nothing", "has no attribute 'nothing'"),
        ("broken", "raised RuntimeError: no such disk"),
        ("math", "which is no data set"),
    ],
)
def test_a_factory_that_is_none_is_refused(through: Checks, factory: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        through(factory, a="sound")
